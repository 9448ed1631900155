"""Checks of the SQL query that reads the items of a fanout.

Only what can be recognized without a database is refused here: another statement than a query, and several statements.
The database is the real guard: the query runs as a single statement in a read-only transaction.
"""

import re
from typing import Final

from foliot.errors import InvalidInput

# Strings, quoted names, dollar-quoted strings and comments, which may contain semicolons; an unclosed one takes the
# rest.
_PART: Final = re.compile(
    r"""
    (?<![A-Za-z0-9_$])[eE]'(?:[^'\\]|\\.)*+(?:'|\Z) | '[^']*(?:'|\Z)
    | "[^"]*(?:"|\Z) | `[^`]*(?:`|\Z) | \[[^\]]*(?:\]|\Z)
    | (?<![A-Za-z0-9_$])(?P<tag>\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$).*?(?:(?P=tag)|\Z)
    | (?P<comment> --[^\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL,
)
_WORD: Final = re.compile(r"[A-Za-z]+")
_QUERIES: Final = ("SELECT", "WITH", "VALUES", "TABLE")
_EXAMPLE: Final = "Write one query: SELECT url FROM targets."


def check_query(text: str) -> str:
    """Return the query without a semicolon at its end. Raise InvalidInput if it is not a single query."""
    bare = _PART.sub(_blank, text)
    first, _, further = bare.partition(";")
    word = _WORD.match(first.lstrip(" \t\r\n("))
    if word is None:
        raise InvalidInput("the query is empty, or does not begin with a word", hint=_EXAMPLE)
    if word[0].upper() not in _QUERIES:
        raise InvalidInput(f"{word[0][:32].upper()} is not a query", hint=f"Items can only be read. {_EXAMPLE}")
    if further.replace(";", "").strip():
        raise InvalidInput("there is more than one statement", hint=_EXAMPLE)
    return text[: len(first)].strip()


def _blank(part: re.Match[str]) -> str:
    """Return a part with the same length and without semicolons."""
    if part["end"]:
        return ";"
    return (" " if part["comment"] else "x") * len(part[0])
