"""A line about what takes longer than a second, where somebody watches; nothing anywhere else."""

import sys
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
