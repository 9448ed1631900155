"""The answer on standard output; errors, warnings and remarks on standard error."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import click

from foliot.interfaces.cli.text import shown


def tell(text: str = "") -> None:
    """A line of the answer."""
    # To the stream itself: left alone, click writes UTF-8 also where the locale has only ASCII.
    click.echo(text, file=sys.stdout)


def tell_json(value: Any) -> None:
    """The answer, or one of many, as a line for programs."""
    tell(_line(value))


def tell_objects(values: Iterable[Any]) -> None:
    """Many of them at once, so that a reader who takes only the first is no trouble."""
    lines = [_line(value) for value in values]
    if lines:
        tell("\n".join(lines))


@contextmanager
def surely(text: str) -> Iterator[None]:
    """What has been done must reach somebody: it is said aside where the answer cannot be written."""
    try:
        yield
    except OSError:
        say(text)
        raise


def tell_done(text: str, facts: Any, *, as_json: bool) -> None:
    """What has been done: as text for people, or as facts for programs."""
    with surely(text):
        if as_json:
            tell_json(facts)
        else:
            tell(text)


def _line(value: Any) -> str:
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> str:
    """What JSON has no form for. A moment is ISO 8601 with its offset, Z in UTC, in every answer."""
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else str(value)


def say(text: str) -> None:
    """A line for people, beside the answer."""
    click.echo(text, file=sys.stderr, color=False if os.environ.get("NO_COLOR") else None)


def complain(message: str, hint: str = "") -> None:
    """An error and, below it, what to do about it."""
    remark("error", message, hint)


def warn(message: str, hint: str = "") -> None:
    remark("warning", message, hint)


def remark(severity: str, message: str, hint: str = "", *, place: str = "") -> None:
    """One thing to look at, with the place where it stands if there is one."""
    colour = "red" if severity == "error" else "yellow"
    label = click.style(f"{severity}:", fg=colour, bold=True)
    where = f"{shown(place)}: " if place else ""
    say(f"{where}{label} {shown(message)}")
    if hint:
        say(f"  {shown(hint)}")
