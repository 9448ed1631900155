"""One problem in a file, a document or a definition, with its place. Many problems are reported together."""

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How severe a problem is: an error or a warning."""

    ERROR = "error"
    WARNING = "warning"


class Place(NamedTuple):
    """Where a value was written: file, line, key and column.

    Line 0: it has no line, like an environment variable or a missing file.
    """

    file: str = ""
    line: int = 0
    key: str = ""
    """The path of the key: jobs[2].schedule, or $.steps[0].after in a document."""
    column: int = 0
    """Of the key in the line, from 1. 0: not known."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file or self.key


class Problem(NamedTuple):
    """One problem in an input. An error makes the whole input unusable, a warning does not."""

    severity: Severity
    place: Place
    message: str
    hint: str

    @classmethod
    def error(cls, message: str, hint: str) -> "Problem":
        """Return an error without a place."""
        return cls(Severity.ERROR, Place(), message, hint)

    @classmethod
    def warning(cls, message: str, hint: str) -> "Problem":
        """Return a warning without a place."""
        return cls(Severity.WARNING, Place(), message, hint)

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

    @property
    def in_one_line(self) -> str:
        """The problem without file and severity: `$.steps[0].after: must be text. Put it in quotes.`"""
        fact = f"{self.key}: {self.message}" if self.key else self.message
        return f"{fact}. {self.hint}" if self.hint else fact
