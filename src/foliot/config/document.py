"""A document being read: a tree of values, each of which knows where it was written."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from foliot.config.positions import locate
from foliot.config.problems import KeyPath, words
from foliot.errors import Place


class Origin(Protocol):
    """Where values come from."""

    @property
    def directory(self) -> Path:
        """What relative paths in it are relative to."""
        ...

    def place(self, path: KeyPath) -> Place: ...


class Document:
    """One file. In which lines its keys stand is looked up only where something is to be said about one of them."""

    def __init__(self, name: str, directory: Path, tree: Mapping[str, Any], text: str) -> None:
        self.name = name
        self.directory = directory
        self.tree = tree
        self._text = text

    @cached_property
    def lines(self) -> Mapping[KeyPath, int]:
        return locate(self._text)

    def place(self, path: KeyPath) -> Place:
        """Where a key stands; one that is not written stands where the table around it begins."""
        near = path
        while near and near not in self.lines:
            near = near[:-1]
        return Place(self.name, self.lines.get(near, 1), words(path))


class Node(NamedTuple):
    """A value, or a table of values, at its place."""

    value: Any
    origin: Origin
    path: KeyPath = ()

    @property
    def place(self) -> Place:
        return self.origin.place(self.path)

    def child(self, part: str | int) -> "Node":
        return Node(self.value[part], self.origin, (*self.path, part))

    def children(self) -> Iterator["Node"]:
        """What is in a table or a list, in the order in which it was written."""
        parts: Any = self.value if isinstance(self.value, Mapping) else range(len(self.value))
        return (self.child(part) for part in parts)
