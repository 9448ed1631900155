"""A document being read: a tree of values that know where they were written, and the problems found in it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from foliot.config.positions import KeyPath, Position, locate
from foliot.errors import Place, Problem, Severity

_SHOWN: Final = 200
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Origin(Protocol):
    """Where values come from."""

    @property
    def directory(self) -> Path:
        """The directory that relative paths are relative to."""
        ...

    def place(self, path: KeyPath) -> Place: ...


class Document:
    """One file. The positions of its keys are looked up only for a problem."""

    def __init__(self, name: str, directory: Path, tree: Mapping[str, Any], text: str) -> None:
        self.name = name
        self.directory = directory
        self.tree = tree
        self._text = text

    @cached_property
    def positions(self) -> Mapping[KeyPath, Position]:
        return locate(self._text)

    def with_tree(self, tree: Mapping[str, Any]) -> "Document":
        """Return the same document with other values in the same places."""
        return Document(self.name, self.directory, tree, self._text)

    def place(self, path: KeyPath) -> Place:
        """Return where a key is written; for a key that is not written, where the table around it begins."""
        near = path
        while near and near not in self.positions:
            near = near[:-1]
        line, column = self.positions.get(near, Position(1, 1))
        return Place(self.name, line, key_text(path), column)


class Node(NamedTuple):
    """A value, or a table of values, and where it was written."""

    value: Any
    origin: Origin
    path: KeyPath = ()

    @property
    def place(self) -> Place:
        return self.origin.place(self.path)

    def child(self, part: str | int) -> "Node":
        return Node(self.value[part], self.origin, (*self.path, part))

    def children(self) -> Iterator["Node"]:
        """Return the items of a table or a list, in the order in which they were written."""
        parts: Any = self.value if isinstance(self.value, Mapping) else range(len(self.value))
        return (self.child(part) for part in parts)


class Problems:
    """Collects problems, so that all of them can be shown at once. Equal ones are kept once."""

    def __init__(self) -> None:
        self._found: dict[Problem, None] = {}
        self.errors = 0
        """The number of errors found, equal ones included."""

    def error(self, place: Place, message: str, hint: str) -> None:
        self.errors += 1
        self._found[Problem(Severity.ERROR, place, message[:_SHOWN], hint)] = None

    def warning(self, place: Place, message: str, hint: str) -> None:
        self._found[Problem(Severity.WARNING, place, message[:_SHOWN], hint)] = None

    def __len__(self) -> int:
        return len(self._found)

    @property
    def has_errors(self) -> bool:
        return self.errors > 0

    def sorted(self, files: Iterable[Path] = ()) -> tuple[Problem, ...]:
        """Return errors and warnings, by file in the order of reading, then by line."""
        order = {str(file): number for number, file in enumerate(files)}
        return tuple(sorted(self._found, key=lambda found: (order.get(found.file, len(order)), found.line)))


def key_text(path: KeyPath) -> str:
    """Return a key path as text. Items of a list are counted from 1."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            text += f"{'.' * bool(text)}{part if _PLAIN.fullmatch(part) else ascii(part[:64])}"
    return text
