"""Writes tables as TOML, with few escapes: commands often have backslashes and quotes.

Nested tables are written in one line, `{ A = "x" }`. Text with several lines is written as such.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_LITERAL: Final = re.compile(r"[^'\x00-\x1f\x7f]*")
_LONG_LITERAL: Final = re.compile(r"(?:(?!''')[^\x00-\x08\x0b-\x1f\x7f])*(?<!')")
_TO_ESCAPE: Final = re.compile(r'[\x00-\x08\x0b-\x1f\x7f]|\\|"""|"\Z')


def write_table(header: str, pairs: Mapping[str, Any]) -> str:
    """Return a table with its header, such as `[[jobs]]`."""
    return "\n".join([header, *(f"{_key(name)} = {_long(value)}" for name, value in pairs.items())])


def write_key(names: tuple[str, ...]) -> str:
    """Return a dotted key."""
    return ".".join(map(_key, names))


def _long(value: Any) -> str:
    """Return the value of a pair: text with several lines as such."""
    return _lines(value) if isinstance(value, str) and "\n" in value else _value(value)


def _value(value: Any) -> str:
    match value:
        case str():
            return _string(value)
        case bool():
            return str(value).lower()
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case dict() if value:
            return f"{{ {', '.join(f'{_key(name)} = {_value(item)}' for name, item in value.items())} }}"
        case dict():
            return "{}"
        case _:
            return str(value)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _basic(name)


def _string(text: str) -> str:
    """Return text as TOML: without escapes where it has backslashes or quotes."""
    is_plain = not any(char in text for char in '\\"')
    return _basic(text) if is_plain or not _LITERAL.fullmatch(text) else f"'{text}'"


def _basic(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _lines(text: str) -> str:
    if _LONG_LITERAL.fullmatch(text):
        return f"'''\n{text}'''"
    escaped = _TO_ESCAPE.sub(lambda found: _basic(found[0])[1:-1], text)
    return f'"""\n{escaped}"""'
