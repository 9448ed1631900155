"""A line about what takes longer than a second, where somebody watches; nothing anywhere else."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

import click


@contextmanager
def patiently(what: str, *, is_watched: bool | None = None, patience: float = 1.0) -> Iterator[Timer]:
    """Say what is being done, if it is not done soon; the line goes when it is."""
    line = f"{what} ..."
    timer = Timer(patience, click.echo, [f"\r{line}"], {"err": True, "nl": False})
    timer.daemon = True
    if sys.stderr.isatty() if is_watched is None else is_watched:
        timer.start()
    try:
        yield timer
    finally:
        timer.cancel()
        # One that was never started has nothing to take back.
        if timer.ident is not None:
            timer.join()
            click.echo(f"\r{' ' * len(line)}\r", err=True, nl=False)


class Line:
    """The same for what can tell how far it is: the line changes while it goes on."""

    def __init__(self, *, is_watched: bool, patience: float = 1.0) -> None:
        self._is_watched = is_watched
        self._next = time.monotonic() + patience
        self._width = 0

    def show(self, text: str) -> None:
        """Say it, unless that was done a moment ago."""
        if self._is_watched and time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.2
            self._width = max(self._width, len(text))
            click.echo(f"\r{text}", err=True, nl=False)

    def clear(self) -> None:
        if self._width:
            click.echo(f"\r{' ' * self._width}\r", err=True, nl=False)
