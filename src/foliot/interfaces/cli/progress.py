"""A progress line on standard error for what takes longer than a second; only on a terminal."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Self

import click


@contextmanager
def progress_note(what: str, *, is_watched: bool | None = None, delay: float = 1.0) -> Iterator[Timer]:
    """Print `what` if the block takes longer than `delay` seconds, and erase it when the block ends."""
    line = f"{what} ..."
    timer = Timer(delay, _write, [line])
    timer.daemon = True
    if _is_terminal() if is_watched is None else is_watched:
        timer.start()
    try:
        yield timer
    finally:
        timer.cancel()
        # A timer that was never started cannot be joined, and has printed nothing.
        if timer.ident is not None:
            timer.join()
            _erase(len(line))


class ProgressLine:
    """A line that is updated during the work."""

    def __init__(self, *, is_watched: bool | None = None, delay: float = 1.0) -> None:
        self._is_watched = _is_terminal() if is_watched is None else is_watched
        self._next = time.monotonic() + delay
        self._width = 0

    def show(self, text: str) -> None:
        """Update the line, at most five times a second."""
        if self._is_watched and time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.2
            self._width = max(self._width, len(text))
            _write(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._width:
            _erase(self._width)


def _is_terminal() -> bool:
    return sys.stderr.isatty()


def _write(text: str) -> None:
    click.echo(f"\r{text}", err=True, nl=False)


def _erase(width: int) -> None:
    click.echo(f"\r{' ' * width}\r", err=True, nl=False)
