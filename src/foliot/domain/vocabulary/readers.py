"""How the value of an option is read, the same for TOML, JSON and keyword arguments.

A reader returns the value that is used inside, or raises InvalidInput. Its message begins with a verb or with the
value, so that the name of the option can be put before it. A value from the environment is text, whatever type is
wanted.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeVar

from foliot.domain.run.payload import encode_payload
from foliot.errors import InvalidInput, shown, suggest

Word = TypeVar("Word", bound=StrEnum)

LARGEST_NUMBER: Final = 1e300
"""Larger whole numbers may not be convertible to a float."""
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
NUMBER_TEXT: Final = re.compile(r"\s*[+-]?\d{1,18}(\.\d{1,18})?\s*", re.ASCII)
NEVER: Final = "never"
_IN_QUOTES: Final = 'Put it in quotes: "...".'


class Variable(str):
    """Text from the environment. It has no type of its own: "8" may be meant as a number."""

    __slots__ = ()


_TYPES: Final[Mapping[type, str]] = {
    bool: "a boolean",
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


class Reader(NamedTuple):
    """Reads one value. `words` say in the documentation what may be written."""

    words: str
    read: Callable[[Any], Any]
    write: Callable[[Any], Any] = lambda value: value
    """Turn the value that is used inside into one that can be read again."""
    is_json: bool = False
    """Whether the value is any JSON value, which is passed on as it is."""

    def __call__(self, value: Any) -> Any:
        return self.read(value)


def read_named(reader: Reader, value: Any, name: str, refusal: type[InvalidInput] = InvalidInput) -> Any:
    """Read a value; an error names the option or argument. An error of a more special class keeps its class."""
    try:
        return reader.read(value)
    except InvalidInput as error:
        if type(error) is not InvalidInput:
            raise
        raise refusal(f"{name} {error.message}", hint=error.hint, field=name) from None


def type_name(value: Any) -> str:
    """Return the type of a value in words."""
    return _TYPES.get(type(value)) or type(value).__name__


def wrong(value: Any, wanted: str, hint: str) -> InvalidInput:
    """Return the error for a value that is not what is wanted."""
    if isinstance(value, str):
        return InvalidInput(f"{value[:40]!a} is not {wanted}", hint=hint)
    return InvalidInput(f"must be {wanted}, not {type_name(value)}", hint=hint)


# -- plain values


def _raw_text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"must be text, not {type_name(value)}", hint=_IN_QUOTES)
    return str(value)


def _text(value: Any) -> str:
    text = _raw_text(value)
    if "\0" in text:
        raise InvalidInput("must not contain the character NUL", hint="Leave it out.")
    return text


def _flag(value: Any) -> bool:
    if isinstance(value, Variable) and value.strip().lower() in _FLAGS:
        return _FLAGS[value.strip().lower()]
    if not isinstance(value, bool):
        raise wrong(value, "true or false", "Use true or false, without quotes.")
    return value


def read_number(value: Any) -> float:
    if isinstance(value, Variable) and NUMBER_TEXT.fullmatch(value):
        value = float(value) if "." in value else int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(value, "a number", "Write digits, without quotes.")
    if not -LARGEST_NUMBER < value < LARGEST_NUMBER:
        hint = "Leave it out for no limit."
        raise InvalidInput(f"must be a finite number of usable size, not {shown(value)}", hint=hint)
    return value


def _whole(value: Any) -> int:
    is_text = isinstance(value, Variable) and NUMBER_TEXT.fullmatch(value)
    if isinstance(value, bool) or not (is_text or isinstance(value, int | float)):
        raise wrong(value, "a whole number", "Write digits, without quotes.")
    number = read_number(value)
    if int(number) != number:
        raise InvalidInput(f"must be a whole number, not {shown(value)}", hint="Leave out the fraction.")
    return int(number)


RAW_TEXT: Final = Reader("text", _raw_text)
TEXT: Final = Reader("text", _text)
FLAG: Final = Reader("true or false", _flag)
NEGATED_FLAG: Final = Reader("true or false", lambda value: not _flag(value), lambda value: not value)
"""For an alias that means the opposite."""
WHOLE: Final = Reader("whole number", _whole)
NUMBER: Final = Reader("number", read_number)


def whole(least: int, most: int) -> Reader:
    """Return a reader of whole numbers within bounds."""
    return Reader("whole number", lambda value: read_bounded(value, least, most))


def read_bounded(value: Any, least: int, most: int) -> int:
    number = _whole(value)
    if not least <= number <= most:
        hint = "Use a number within these bounds."
        raise InvalidInput(f"must be {least} to {most}, not {shown(number)}", hint=hint)
    return number


def or_none(reader: Reader) -> Reader:
    """Return the same reader with None for 0: no limit."""
    return reader._replace(read=lambda value: reader.read(value) or None)


def one_of(choices: Sequence[str]) -> Reader:
    """Return a reader of one of some words."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise _no_such_word(value, choices)
        return str(value)

    return Reader(" or ".join(choices), read)


def word_of(words: type[Word], also: Mapping[str, Word] | None = None) -> Reader:
    """Return a reader of the words of an enumeration; `also` are further spellings of them."""
    known: dict[str, Word] = {**{word.value: word for word in words}, **(also or {})}

    def read(value: Any) -> Word:
        if not isinstance(value, str) or value not in known:
            raise _no_such_word(value, [word.value for word in words])
        return known[value]

    return Reader(" or ".join(word.value for word in words), read)


def _no_such_word(value: Any, choices: Sequence[str]) -> InvalidInput:
    if not isinstance(value, str):
        return InvalidInput(f"must be text, not {type_name(value)}", hint=f"Use one of: {', '.join(choices)}.")
    hint = suggest(value, choices, otherwise=f"Use one of: {', '.join(choices)}.")
    return InvalidInput(f"{value[:40]!a} is not an allowed value", hint=hint)


# -- lists and tables


def list_of(item: Reader) -> Reader:
    """Return a reader of lists. A single item needs no brackets; text from the environment is split at commas."""

    def read(value: Any) -> list[Any]:
        if isinstance(value, Variable):
            return [item(Variable(part.strip())) for part in value.split(",") if part.strip()]
        return [item(part) for part in (value if isinstance(value, list | tuple) else [value])]

    return Reader(f"list of {item.words}", read, lambda values: [item.write(value) for value in values])


def _pairs(value: Any) -> dict[str, str]:
    read = {}
    for name, text in _mapping(value).items():
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            raise InvalidInput(f"{str(name)[:40]!a} must be text, not {type_name(text)}", hint=_IN_QUOTES)
        read[_text(name)] = _text(text if isinstance(text, str) else _digits(text))
    return read


def _digits(number: float) -> str:
    try:
        return str(number)
    except ValueError:  # Python does not print a number that is too long
        raise InvalidInput("a number has too many digits", hint=_IN_QUOTES) from None


def _mapping(value: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        # The value is not shown: such tables hold secrets.
        raise InvalidInput("must be a table", hint='Write { NAME = "text" }, in Python {"NAME": "text"}.')
    return value


def _document(value: Any) -> Any:
    encode_payload(value)
    return value


def _documents(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InvalidInput("must be a list", hint='Write ["first", "second"].')
    for item in value:
        encode_payload(item)
    return list(value)


def _values(value: Any) -> dict[str, Any]:
    given = dict(_mapping(value))
    encode_payload(given)
    return given


def _module(value: Any) -> str:
    name = _text(value)
    if not all(part.isidentifier() for part in name.split(".")):
        hint = 'Write it as in an import: "shop.tasks". It includes all modules inside it.'
        raise wrong(name, "the name of a module", hint)
    return name


TEXTS: Final = list_of(TEXT)
MODULE: Final = Reader("module", _module)
PAIRS: Final = Reader("table of text", _pairs)
TABLES: Final = Reader("tables", lambda value: value)
"""Tables that are read by their own fields."""
DOCUMENT: Final = Reader("any value", _document, is_json=True)
DOCUMENTS: Final = Reader("list of any value", _documents, is_json=True)
VALUES: Final = Reader("table of any value", _values, is_json=True)


# -- sizes and masks


def _size(value: Any) -> int:
    if isinstance(value, str):
        found = _SIZE.fullmatch(value)
        if found is None:
            raise wrong(value, "a size", 'Write bytes as a number, or "64KB", "512MB", "2GB".')
        return int(float(found[1]) * _SIZES[found[2].upper()])
    return read_bounded(value, 0, 1 << 60)


def _mask(value: Any) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"(0o)?[0-7]{1,4}", value):
        # A number in a file does not show whether its digits are octal: 22 would be 0o26.
        raise wrong(value, "a umask", 'Write it as text, in octal digits: "022".')
    return int(value, 8)


def _count(value: Any) -> int | None:
    if isinstance(value, str) and value.strip() == NEVER:
        return None
    return read_bounded(value, 0, 1_000_000_000) or None


COUNT: Final = Reader('whole number or "never"', _count)
SIZE: Final = Reader("size", _size)
MASK: Final = Reader("octal digits", _mask, lambda mask: f"{mask:03o}")
PYTHON_MASK: Final = Reader("octal digits", lambda value: value if type(value) is int else _mask(value))
"""In Python 0o022 is a number whose digits are octal."""
