"""What is wrong, or doubtful, in a configuration: where it stands, and what to do about it."""

import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

KeyPath = tuple[str | int, ...]
"""Where a value stands in a document: names of keys and numbers of list items, from 0."""

_SHOWN: Final = 200
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


class Place(NamedTuple):
    """Where a value was written. Line 0: in no line, such as a variable of the environment or a missing file."""

    file: str
    line: int = 0
    key: str = ""
    """The path of the key in words: jobs[2].schedule."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file or self.key


class Problem(NamedTuple):
    """One thing to look at. An error keeps the whole configuration from being used, a warning does not."""

    severity: Severity
    place: Place
    message: str
    hint: str = ""

    @property
    def file(self) -> str:
        return self.place.file

    @property
    def line(self) -> int:
        return self.place.line

    @property
    def key(self) -> str:
        return self.place.key

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        first = f"{self.place}: {self.severity}: {key}{self.message}"
        return f"{first}\n  {self.hint}" if self.hint else first


class Problems:
    """Collects what is found, so that all of it can be shown at once. The same thing is said once."""

    def __init__(self) -> None:
        self._found: dict[Problem, None] = {}
        self.errors = 0
        """How often something was found to be wrong."""

    def error(self, place: Place, message: str, hint: str = "") -> None:
        self.errors += 1
        self._found[Problem(Severity.ERROR, place, message[:_SHOWN], hint)] = None

    def warning(self, place: Place, message: str, hint: str = "") -> None:
        self._found[Problem(Severity.WARNING, place, message[:_SHOWN], hint)] = None

    def __len__(self) -> int:
        return len(self._found)

    @property
    def has_errors(self) -> bool:
        return self.errors > 0

    def sorted(self, files: Iterable[Path] = ()) -> tuple[Problem, ...]:
        """Errors and warnings together, file by file in the order in which they were read, line by line."""
        order = {str(file): number for number, file in enumerate(files)}
        return tuple(sorted(self._found, key=lambda found: (order.get(found.file, len(order)), found.line)))


def words(path: KeyPath) -> str:
    """A key path as people read it. Items of a list are counted from 1."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            text += f"{'.' * bool(text)}{part if _PLAIN.fullmatch(part) else ascii(part[:64])}"
    return text
