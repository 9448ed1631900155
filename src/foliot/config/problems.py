"""Collects what is wrong, or doubtful, in a configuration."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from foliot.errors import Place, Problem, Severity

KeyPath = tuple[str | int, ...]
"""Where a value stands in a document: names of keys and numbers of list items, from 0."""

_SHOWN: Final = 200
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Problems:
    """Collects what is found, so that all of it can be shown at once. The same thing is said once."""

    def __init__(self) -> None:
        self._found: dict[Problem, None] = {}
        self.errors = 0
        """How often something was found to be wrong."""

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
