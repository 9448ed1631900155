"""The commands in examples and documentation: what an operator or another program supplies never becomes code."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from foliot import Foliot
from tests.architecture.examples import FENCE
from tests.cases import for_each

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
COMMAND_KEYS: Final = ("command", "cli")
SHELL_OF_PYTHON: Final = re.compile(r"""\bshell\s*[=(][^\n]*?(?P<quote>["'])(?P<command>[^\n]*)(?P=quote)""")
WORD: Final = re.compile(r"\$(?:\{(?P<braced>\w+)[^}]*\}|(?P<name>[A-Za-z_]\w*))")
OWN: Final = frozenset({"FOLIOT_ATTEMPT", "FOLIOT_JOB_ID"})
"""Variables that contain no spaces and no text of an operator."""


def shipped() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each command."""
    for path in [*ROOT.glob("examples/**/*.toml"), *ROOT.glob("src/foliot/**/*.toml")]:
        yield from ((path.name, command) for command in commands_in(tomllib.loads(path.read_text())))
    for path in ROOT.glob("examples/**/*.py"):
        yield from ((path.name, found["command"]) for found in SHELL_OF_PYTHON.finditer(path.read_text()))
    for path in PAGES:
        for found in FENCE.finditer(path.read_text()):
            language, body = found["info"].split()[:1], found["body"]
            if language == ["python"]:
                yield from ((path.name, one["command"]) for one in SHELL_OF_PYTHON.finditer(body))
            elif language == ["toml"]:
                yield from ((path.name, command) for command in commands_in(tomllib.loads(body)))


def commands_in(value: Any) -> Iterator[str]:
    """Yield the command lines in a document, at any depth."""
    if isinstance(value, dict):
        yield from (value[key] for key in COMMAND_KEYS if isinstance(value.get(key), str))
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from commands_in(one)


def unquoted(command: str) -> list[str]:
    """Return the variables that a shell would split into words, and templates or text that it would execute."""
    found: list[str] = re.findall(r"\{\{.*?\}\}|\beval\b", command)
    levels, position = [False], 0  # whether each `$(` that is open is now inside of double quotes
    while position < len(command):
        rest = command[position:]
        word = WORD.match(rest)
        if word is not None and not levels[-1] and (word["braced"] or word["name"]) not in OWN:
            found.append(word[0])
        if rest[0] == '"':
            levels[-1] = not levels[-1]
        elif rest.startswith("$("):
            levels.append(False)
        elif rest[0] == ")" and len(levels) > 1:
            levels.pop()
        step = 1
        if rest[0] == "'" and not levels[-1]:
            step = rest.index("'", 1) + 1
        elif rest[0] == "\\" or rest.startswith("$("):
            step = 2
        position += step
    return found


@pytest.mark.proves("Z52")
def test_shipped_commands_quote_what_they_are_given() -> None:
    found = [*shipped()]

    assert len(found) > 100
    assert [(place, command, faults) for place, command in found if (faults := unquoted(command))] == []


@pytest.mark.proves("Z52")
async def test_no_example_is_in_a_new_database(tmp_path: Path) -> None:
    async with Foliot(f"sqlite:///{tmp_path}/foliot.db") as app:
        assert [job.kind for job in await app.jobs.page()] == ["launch"]


@for_each(
    ("command", "faults"),
    [
        ("echo $A ${B:-x} '$C' \\$D", ["$A", "${B:-x}"]),
        ('echo "$A $(ls "$B" $C) $D" $E', ["$C", "$E"]),
        ("sh -c '{{ payload.x }}'; eval \"$A\"", ["{{ payload.x }}", "eval"]),
        ('test "$FOLIOT_ATTEMPT" -gt 1 && echo $? $FOLIOT_ATTEMPT', []),
    ],
)
def test_unquoted_variables_are_found(command: str, faults: list[str]) -> None:
    assert unquoted(command) == faults
