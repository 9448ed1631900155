"""From a TOML value to the value that is meant. A reader refuses with InvalidInput what it cannot read.

A value from the environment is text whatever is meant; where text is not wanted, a reader takes it apart.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final, NamedTuple

from foliot.config.expansion import Variable
from foliot.domain.input.timing import LARGEST_NUMBER, span_in_words
from foliot.domain.run.payload import encode_payload
from foliot.domain.workflow.conditions import TRIGGER_RULES, Condition
from foliot.errors import InvalidInput, shown, suggest

_LONGEST_SPAN: Final = timedelta(seconds=1e10)
_SIZE: Final = re.compile(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT]?)(?:i?B)?\s*", re.ASCII | re.IGNORECASE)
_SIZES: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_FLAGS: Final = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}
_TYPES: Final[Mapping[type, str]] = {
    bool: "a truth value",
    int: "a whole number",
    float: "a number",
    str: "text",
    Variable: "text",
    list: "a list",
    dict: "a table",
    datetime: "a date with a time",
    date: "a date",
    time: "a time of day",
    type(None): "null",
}
_FOREVER: Final = "never"
_SPANS: Final = 'Write seconds as a number, or "90s", "15m", "2h", "1d", "1h30m".'
_CONDITIONS: Final = (*Condition, *TRIGGER_RULES)
_COUNTING_RULES: Final = (
    "one_success",
    "one_failed",
    "one_done",
    "none_failed_min_one_success",
    "all_done_min_one_success",
    "all_done_setup_success",
)
"""Trigger rules of Airflow that no set of conditions can say."""


class Reader(NamedTuple):
    """How a value is read. `words` say what may be written."""

    words: str
    read: Callable[[Any], Any]

    def __call__(self, value: Any) -> Any:
        return self.read(value)


def _wrong(value: Any, wanted: str, hint: str) -> InvalidInput:
    if isinstance(value, str):
        return InvalidInput(f"{value[:40]!a} is not {wanted}", hint=hint)
    return InvalidInput(f"must be {wanted}, not {_TYPES.get(type(value), 'that')}", hint=hint)


# -- plain values


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"must be text, not {_TYPES.get(type(value), 'that')}", hint='Put it in quotes: "...".')
    if "\0" in value:
        raise InvalidInput("text cannot hold the character NUL", hint="Leave it out.")
    return str(value)


def _flag(value: Any) -> bool:
    if isinstance(value, Variable) and value.strip().lower() in _FLAGS:
        return _FLAGS[value.strip().lower()]
    if not isinstance(value, bool):
        raise _wrong(value, "true or false", "Write true or false, without quotes.")
    return value


def _whole(value: Any) -> int:
    if isinstance(value, Variable) and re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(value, "a whole number", "Write digits, without quotes.")
    return value


def _number(value: Any) -> float:
    if isinstance(value, Variable):
        try:
            value = float(value)
        except ValueError:
            raise _wrong(value, "a number", "Write digits: 90 or 1.5.") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(value, "a number", "Write digits, without quotes.")
    if not -LARGEST_NUMBER < value < LARGEST_NUMBER:
        raise InvalidInput(f"must be a finite number of usable size, not {shown(value)}", hint="Write 90 or 1.5.")
    return value


TEXT: Final = Reader("text", _text)
FLAG: Final = Reader("true or false", _flag)
WHOLE: Final = Reader("whole number", _whole)
NUMBER: Final = Reader("number", _number)


def whole(least: int, most: int) -> Reader:
    """A whole number within bounds."""
    return Reader("whole number", lambda value: _bounded(value, least, most))


def _bounded(value: Any, least: int, most: int) -> int:
    number = _whole(value)
    if not least <= number <= most:
        raise InvalidInput(
            f"must be {least} to {most}, not {shown(number)}", hint="Write a number within these bounds."
        )
    return number


def one_of(choices: Sequence[str]) -> Reader:
    """One of some words."""

    def read(value: Any) -> str:
        word = _text(value)
        if word not in choices:
            hint = suggest(word, choices, otherwise=f"Use one of: {', '.join(choices)}.")
            raise InvalidInput(f"{word[:40]!a} does not exist", hint=hint)
        return word

    return Reader(" or ".join(choices), read)


def _condition(value: Any) -> str:
    word = _text(value)
    if word in _COUNTING_RULES:
        hint = "Every parent is waited for, and each has a condition of its own: give it with when."
        raise InvalidInput(f"{word} counts parents, which is not possible here", hint=hint)
    if word not in _CONDITIONS:
        hint = suggest(word, _CONDITIONS, otherwise=f"Use one of: {', '.join(Condition)}.")
        raise InvalidInput(f"condition {word[:40]!a} does not exist", hint=hint)
    return word


CONDITION: Final = Reader("condition", _condition)


# -- lists and tables


def list_of(item: Reader) -> Reader:
    """A list; one item alone may stand without brackets, and text from the environment is split at commas."""

    def read(value: Any) -> list[Any]:
        if isinstance(value, Variable):
            return [item(Variable(part.strip())) for part in value.split(",") if part.strip()]
        return [item(part) for part in (value if isinstance(value, list) else [value])]

    return Reader(f"list of {item.words}", read)


def _pairs(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise _no_table()
    read = {}
    for name, text in value.items():
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            hint = 'Put it in quotes: "...".'
            raise InvalidInput(f"{name[:40]!a} must be text, not {_TYPES.get(type(text), 'that')}", hint=hint)
        read[_text(name)] = _text(text if isinstance(text, str) else _digits(text))
    return read


def _digits(number: float) -> str:
    try:
        return str(number)
    except ValueError:  # Python writes down no number that is too long
        raise InvalidInput("a number has too many digits", hint='Put it in quotes: "...".') from None


def _no_table() -> InvalidInput:
    # What stands there instead is not shown: such tables hold secrets.
    return InvalidInput("must be a table", hint='Write { NAME = "text" }.')


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _no_table()
    plain: dict[str, Any] = _plain(value)
    return plain


def _document(value: Any) -> Any:
    plain = _plain(value)
    encode_payload(plain)
    return plain


def _plain(value: Any) -> Any:
    """A value as JSON has it: moments as text, no text of a kind of its own."""
    match value:
        case str():
            return _text(value)
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {_text(name): _plain(item) for name, item in value.items()}
        case date() | time():
            return value.isoformat()
        case _:
            return value


def _module(value: Any) -> str:
    name = _text(value)
    if not all(part.isidentifier() for part in name.split(".")):
        raise _wrong(
            name, "the name of a module", 'Write it as in an import: "shop.tasks". It stands for all inside it.'
        )
    return name


TEXTS: Final = list_of(TEXT)
MODULE: Final = Reader("module", _module)
PAIRS: Final = Reader("table of text", _pairs)
TABLE: Final = Reader("table", _table)
TABLES: Final = Reader("tables", lambda value: value)
"""Read by whoever knows their keys."""
DOCUMENT: Final = Reader("any value", _document)
VALUES: Final = Reader("table of any value", lambda value: _document(_table(value)))


# -- quantities


def _span(value: Any) -> timedelta:
    if isinstance(value, str) and not (isinstance(value, Variable) and _is_number(value)):
        return _span_in_words(value)
    seconds = _number(value)
    if not 0 <= seconds <= 1e10:
        raise InvalidInput(f"must be 0 to 10000000000 seconds, not {shown(value)}", hint=_SPANS)
    return timedelta(milliseconds=round(seconds * 1_000))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*\d+(\.\d+)?\s*", text, re.ASCII) is not None


def _span_in_words(text: str) -> timedelta:
    length = span_in_words(text)
    if length is None or length > _LONGEST_SPAN:
        raise _wrong(text, "a span of time", _SPANS)
    return length


def _age(value: Any) -> timedelta | None:
    """A span after which something is forgotten; None is never."""
    if isinstance(value, str) and value.strip() == _FOREVER:
        return None
    return _span(value) or None


def _count(value: Any) -> int | None:
    if isinstance(value, str) and value.strip() == _FOREVER:
        return None
    return _bounded(value, 0, 1_000_000_000) or None


def _size(value: Any) -> int:
    if isinstance(value, str):
        found = _SIZE.fullmatch(value)
        if found is None:
            raise _wrong(value, "a size", 'Write bytes as a number, or "64KB", "512MB", "2GB".')
        return int(float(found[1]) * _SIZES[found[2].upper()])
    return _bounded(value, 0, 1 << 60)


def _mask(value: Any) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"(0o)?[0-7]{1,4}", value):
        # A number does not tell whether its digits were octal: 22 would be 0o26, which nobody means.
        raise _wrong(value, "a mask of permissions", 'Write it as text, in octal digits: "022".')
    return int(value, 8)


def _moment(value: Any) -> datetime | str:
    if isinstance(value, datetime | str):
        return value if isinstance(value, datetime) else str(value)
    raise _wrong(value, "a moment", "Write 2026-01-31T08:00:00Z, with a time and an offset.")


SPAN: Final = Reader("span", _span)
SECONDS: Final = Reader("span", lambda value: _span(value).total_seconds())
AGE: Final = Reader('span or "never"', _age)
COUNT: Final = Reader('whole number or "never"', _count)
SIZE: Final = Reader("size", _size)
MASK: Final = Reader("octal digits", _mask)
MOMENT: Final = Reader("moment", _moment)


def span(least: float, most: float) -> Reader:
    """A span of time within bounds, which are given in seconds."""

    def read(value: Any) -> timedelta:
        found = _span(value)
        if not least <= found.total_seconds() <= most:
            raise InvalidInput(f"must be {least:g} to {most:g} seconds, not {found.total_seconds():g}", hint=_SPANS)
        return found

    return Reader("span", read)
