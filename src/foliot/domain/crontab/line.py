"""The parts of one line of a crontab.

NAME = "value"                          assignment
*/5 8-18 * * MON-FRI  command%stdin     entry of a user's crontab
@daily  root  command                   entry of a system crontab, which names the user
"""

import re
from typing import Final, NamedTuple

from foliot.domain import cron
from foliot.errors import InvalidCron, InvalidInput

WORDS: Final = ("reboot", "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly", "every_minute")
"""The words that may follow @ in place of five fields."""
_ASSIGNMENT: Final = re.compile(
    r"""(?:"(?P<double>[^"=]+)"|'(?P<single>[^'=]+)'|(?P<bare>[^\s='"]+))\s*=\s*(?P<value>.*)""", re.DOTALL
)
_QUOTED: Final = re.compile(r"""(?P<quote>["'])(?P<inside>.*)(?P=quote)\s*""", re.DOTALL)
_FIVE_FIELDS: Final = re.compile(r"-?(?P<expression>(?:\S+[ \t]+){5})(?P<rest>.*)", re.DOTALL)
"""cronie reads a minus sign before the first field as: do not log this command."""
_WORD: Final = re.compile(r"@(?P<word>\S+)(?:[ \t]+(?P<rest>.*))?", re.DOTALL)
_USER: Final = re.compile(r"(?P<user>\S+)(?:[ \t]+(?P<rest>.*))?", re.DOTALL)
_STEP: Final = re.compile(r"(?P<range>[^/]+)/(?P<step>\d+)")
_RANDOM: Final = re.compile(r"(?P<first>\d*)~(?P<last>\d*)")
_FIELDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


class Assignment(NamedTuple):
    name: str
    value: str


class Timed(NamedTuple):
    """An entry before its command is read."""

    expression: str
    rest: str
    is_random: bool = False


def read_assignment(line: str) -> Assignment | None:
    """Return the variable that a line assigns, or None if it is no assignment.

    Quotes keep blanks at the ends of a value. Variables and escapes in it are plain text to cron.
    """
    found = _ASSIGNMENT.fullmatch(line)
    if found is None:
        return None
    value = found["value"]
    if value[:1] in ('"', "'"):
        quoted = _QUOTED.fullmatch(value)
        if quoted is None or quoted["quote"] in quoted["inside"]:
            return None
        value = quoted["inside"]
    else:
        value = value.rstrip()
    return Assignment(found["double"] or found["single"] or found["bare"], value)


def read_timing(line: str, timezone: str | None) -> Timed:
    """Split a line into its expression and what follows. Raises InvalidInput if it has no valid expression."""
    timed = _read_word(line) if line.startswith("@") else _read_fields(line)
    _check(timed.expression, timezone)
    if not timed.rest.strip():
        raise InvalidInput("the line has no command", hint="Write the command behind the fields.")
    return timed


def _read_word(line: str) -> Timed:
    found = _WORD.fullmatch(line)
    word = found["word"].lower() if found else ""
    if found is None or word not in WORDS:
        raise InvalidInput(f"'@{word[:32]}' is not a word of cron", hint=f"Use one of: @{', @'.join(WORDS)}.")
    return Timed(f"@{word}", found["rest"] or "")


def _read_fields(line: str) -> Timed:
    found = _FIVE_FIELDS.fullmatch(f"{line} ")
    if found is None:
        raise InvalidInput(
            "the line is neither an assignment nor five fields with a command",
            hint="A line is NAME=value, or minute, hour, day-of-month, month, day-of-week and a command.",
        )
    fields = found["expression"].split()
    translated = [_translate_field(field, *bounds) for field, bounds in zip(fields, _FIELDS, strict=True)]
    return Timed(" ".join(translated), found["rest"][:-1], any("~" in field for field in fields))


def _translate_field(field: str, least: int, most: int) -> str:
    return ",".join(_translate_item(item, least, most) for item in field.split(","))


def _translate_item(item: str, least: int, most: int) -> str:
    """Return an item of a field in our syntax: random values are hashed, and a step is at most the field's size."""
    if random := _RANDOM.fullmatch(item):
        return f"H({random['first'] or least}-{random['last'] or most})"
    if step := _STEP.fullmatch(item):
        # cron accepts any step. One that leaves the field selects the first value only, and so does the field's size.
        size = most - least + 1
        return f"{step['range']}/{min(int(step['step'][:9]), size)}"
    return item


def _check(expression: str, timezone: str | None) -> None:
    try:
        cron.compile(expression, timezone, key="crontab")
    except InvalidCron as error:
        raise InvalidInput(error.message, hint=error.hint) from None


def split_user(rest: str) -> tuple[str, str]:
    """Split what follows the expression in a system crontab. Raises InvalidInput if it is not a user and a command."""
    found = _USER.fullmatch(rest.lstrip(" \t"))
    if found is None or not (found["rest"] or "").strip():
        hint = "A line of a system crontab names the user before the command. Leave out --system for a user's crontab."
        raise InvalidInput("the line has no command after the user", hint=hint)
    return found["user"], found["rest"]


def split_command(text: str) -> tuple[str, str | None]:
    r"""Split a command at its first percent sign: what follows is its input.

    `\%` is a percent sign. Further percent signs of the input are line feeds, and it ends with one.
    """
    command = ""
    rest = iter(text)
    for char in rest:
        if char == "%":
            return command, _read_input("".join(rest))
        if char == "\\":
            escaped = next(rest, "")
            command += escaped if escaped == "%" else char + escaped
        else:
            command += char
    return command, None


def _read_input(text: str) -> str | None:
    lines = re.sub(r"\\?%", lambda found: "%" if len(found[0]) > 1 else "\n", text)
    return lines if not lines or lines.endswith("\n") else f"{lines}\n"
