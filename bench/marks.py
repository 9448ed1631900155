"""Moments that only the worker's process can measure: its first and its last job.

The monotonic clock is the same for all processes of a machine, so the harness may compare.
"""

import itertools
import time
from pathlib import Path


class Marks:
    """Called by every job: records the time of the first call and of call number `count`."""

    def __init__(self, directory: str, count: int) -> None:
        self._directory = Path(directory)
        self._count = count
        self._numbers = itertools.count(1)

    def hit(self) -> None:
        number = next(self._numbers)
        if number == 1:
            self._note("first")
        if number == self._count:
            self._note("last")

    def _note(self, name: str) -> None:
        part = self._directory / f"{name}.part"
        part.write_text(repr(time.monotonic()))
        part.rename(self._directory / name)


def read_mark(directory: str, name: str) -> float | None:
    """Return when the mark was made, on the monotonic clock, or None."""
    path = Path(directory) / name
    return float(path.read_text()) if path.exists() else None


def forget_marks(directory: str) -> None:
    for name in ("first", "last"):
        (Path(directory) / name).unlink(missing_ok=True)
