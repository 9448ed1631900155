"""Finds the line and the column of each key of a TOML document. The parser of the standard library keeps no positions.

That parser has accepted the text, so this one can rely on it being well formed.
"""

import re
import tomllib
from bisect import bisect_left
from typing import Final, NamedTuple

KeyPath = tuple[str | int, ...]
"""The path to a value in a document: names of keys and numbers of list items, from 0."""

_SKIP: Final = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_STRING: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})' r"|'''.*?'''(?:'{0,2})" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'", re.DOTALL
)
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE: Final = re.compile(r"[^,\]}#\n]*")


class Position(NamedTuple):
    """Line and column, both from 1."""

    line: int
    column: int


def locate(text: str) -> dict[KeyPath, Position]:
    """Return key path -> where the key or the list item is first written."""
    return _Walk(text).document()


class _Walk:
    """One pass over a text. `tables` counts the tables of each [[array]] seen so far."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._breaks = [place for place, char in enumerate(text) if char == "\n"]
        self._tables: dict[KeyPath, int] = {}
        self._found: dict[KeyPath, Position] = {}

    def document(self) -> dict[KeyPath, Position]:
        table: KeyPath = ()
        self._skip()
        while self._at < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)
            self._skip()
        return self._found

    def _header(self) -> KeyPath:
        here = self._position()
        width = 2 if self._text.startswith("[[", self._at) else 1
        self._at += width
        names = self._key()
        self._at += width
        path = self._resolve(names[:-1], here)
        path = (*path, names[-1])
        self._note(path, here)
        if width == 1:
            return self._newest(path)
        self._tables[path] = self._tables.get(path, 0) + 1
        path = self._newest(path)
        self._note(path, here)
        return path

    def _resolve(self, names: list[str], here: Position) -> KeyPath:
        """Return the path of the table with these names. The name of an array means its newest table."""
        path: KeyPath = ()
        for name in names:
            path = (*path, name)
            self._note(path, here)
            path = self._newest(path)
        return path

    def _newest(self, path: KeyPath) -> KeyPath:
        return (*path, self._tables[path] - 1) if path in self._tables else path

    def _pair(self, table: KeyPath) -> None:
        here = self._position()
        path = table
        for name in self._key():
            path = (*path, name)
            self._note(path, here)
        self._at += 1  # the equals sign
        self._value(path)

    def _key(self) -> list[str]:
        """Read a dotted key, with the blanks around its parts and after it."""
        names = [self._name()]
        while self._text.startswith(".", self._at):
            self._at += 1
            names.append(self._name())
        return names

    def _name(self) -> str:
        self._skip()
        quoted = _STRING.match(self._text, self._at)
        found = quoted or _BARE_KEY.match(self._text, self._at)
        assert found is not None, "the text is not TOML"
        self._at = found.end()
        self._skip()
        return tomllib.loads(f"key = {found[0]}")["key"] if quoted else found[0]

    def _value(self, path: KeyPath) -> None:
        self._skip()
        string = _STRING.match(self._text, self._at)
        if string:
            self._at = string.end()
        elif self._text.startswith("[", self._at):
            self._list(path)
        elif self._text.startswith("{", self._at):
            self._inline_table(path)
        else:
            self._at = self._find(_BARE_VALUE)

    def _list(self, path: KeyPath) -> None:
        self._at += 1
        number = 0
        while not self._closes("]"):
            self._note((*path, number), self._position())
            self._value((*path, number))
            number += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while not self._closes("}"):
            self._pair(path)

    def _closes(self, bracket: str) -> bool:
        """Skip blanks and commas, and the bracket if it follows; return whether it does."""
        self._skip()
        if self._text.startswith(",", self._at):
            self._at += 1
            self._skip()
        if self._text.startswith(bracket, self._at):
            self._at += 1
            return True
        return False

    def _skip(self) -> None:
        self._at = self._find(_SKIP)

    def _find(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        return self._at if found is None else found.end()

    def _position(self) -> Position:
        before = bisect_left(self._breaks, self._at)
        begin = self._breaks[before - 1] + 1 if before else 0
        return Position(before + 1, self._at - begin + 1)

    def _note(self, path: KeyPath, here: Position) -> None:
        self._found.setdefault(path, here)
