"""A line about what takes longer than a second, where somebody watches; nothing anywhere else."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Self

import click


@contextmanager
def patiently(what: str, *, is_watched: bool | None = None, patience: float = 1.0) -> Iterator[Timer]:
    """Say what is being done, if it is not done soon; the line goes when it is."""
    line = f"{what} ..."
    timer = Timer(patience, _write, [line])
    timer.daemon = True
    if _is_terminal() if is_watched is None else is_watched:
        timer.start()
    try:
        yield timer
    finally:
        timer.cancel()
        # One that was never started has nothing to take back.
        if timer.ident is not None:
            timer.join()
            _erase(len(line))


class ProgressLine:
    """The same for what can tell how far it is: the line changes while it goes on."""

    def __init__(self, *, is_watched: bool | None = None, patience: float = 1.0) -> None:
        self._is_watched = _is_terminal() if is_watched is None else is_watched
        self._next = time.monotonic() + patience
        self._width = 0

    def show(self, text: str) -> None:
        """Say it, unless that was done a moment ago."""
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
