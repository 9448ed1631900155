"""Parses TOML, and reports text that is none with its line and column."""

import re
import sys
import tomllib
from typing import Any, Final

from foliot.config.document import Problems
from foliot.domain.run.payload import MAX_LEVELS, check_depth
from foliot.errors import Place

_IN_LINE: Final = re.compile(r" \(at line (?P<line>\d+), column (?P<column>\d+)\)$")
_AT_END: Final = " (at end of document)"
_LONG_NUMBER: Final = re.compile(r"(?<=[=\[,\s+-])[0-9][0-9_]{500,}")
_NAME: Final = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY: Final = re.compile(rf"(?:^|[\[{{,])[ \t]*+(?:{_NAME}\.[ \t]*+){{{MAX_LEVELS}}}", re.MULTILINE)
"""A dotted key with too many names. Reading it would take a time that grows with the square of their number."""


def parse_toml(text: str, name: str, problems: Problems) -> dict[str, Any] | None:
    """Return the tree of a text; None if it is not TOML, which is reported. `name`: of the file, for the problem."""
    try:
        if found := _LONG_KEY.search(text):
            problems.error(_place(name, text, found.start()), *_TOO_DEEP)
            return None
        tree = tomllib.loads(text)
        check_depth(tree)
    except RecursionError:
        problems.error(Place(name, 1), *_TOO_DEEP)
    except tomllib.TOMLDecodeError as error:
        problems.error(*_syntax(name, text, str(error)))
    except ValueError:
        problems.error(*_long_number(name, text))
    else:
        return tree
    return None


_TOO_DEEP: Final = ("lists or tables are nested too deeply", f"Use at most {MAX_LEVELS} levels.")


def _syntax(name: str, text: str, message: str) -> tuple[Place, str, str]:
    """Return the place, message and hint for an error of the parser."""
    place = Place(name, 1)
    if found := _IN_LINE.search(message):
        place = Place(name, int(found["line"]), column=int(found["column"]))
    elif message.endswith(_AT_END):
        place = _place(name, text, len(text))
    fact = _IN_LINE.sub("", message).removesuffix(_AT_END)
    return place, fact[:1].lower() + fact[1:], "The file is not valid TOML: see https://toml.io."


def _long_number(name: str, text: str) -> tuple[Place, str, str]:
    """Return the place, message and hint for a number that is TOML but too long for Python."""
    found = _LONG_NUMBER.search(text)
    place = _place(name, text, found.start()) if found else Place(name, 1)
    most = sys.get_int_max_str_digits()
    return place, f"a number has more than {most} digits", "Write it shorter, or in quotes if it is text."


def _place(name: str, text: str, at: int) -> Place:
    return Place(name, text.count("\n", 0, at) + 1, column=at - text.rfind("\n", 0, at))
