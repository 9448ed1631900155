"""Printing: the answer on standard output; notes, warnings and errors on standard error."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Final

import click

from foliot.errors import ChainRefused, FoliotError
from foliot.interfaces.cli.render.text import escaped

_PROBLEMS_AS_JSON: Final = ContextVar("problems_as_json", default=False)


def print_line(text: str = "") -> None:
    """Print a line of the answer."""
    # The file is given explicitly: by default click writes UTF-8 even where the locale is ASCII.
    click.echo(text, file=sys.stdout)


def print_json(value: Any) -> None:
    """Print the answer, or one of several, as a line of JSON."""
    print_line(_json(value))


def print_json_lines(values: Iterable[Any]) -> None:
    """Print several values with one write, so that `| head -1` does not break the pipe between two of them."""
    lines = [_json(value) for value in values]
    if lines:
        print_line("\n".join(lines))


@contextmanager
def or_as_note(text: str) -> Iterator[None]:
    """Print `text` on standard error if standard output cannot be written: a result must not be lost."""
    try:
        yield
    except OSError:
        print_note(text)
        raise


def print_result(text: str, facts: Any, *, as_json: bool) -> None:
    """Print what a command has done: `text` for people, `facts` for programs."""
    with or_as_note(text):
        if as_json:
            print_json(facts)
        else:
            print_line(text)


def _json(value: Any) -> str:
    return json.dumps(value, default=_json_default)


def _json_default(value: Any) -> str:
    """Encode what JSON has no type for. Moments are ISO 8601 with their offset, Z in UTC."""
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else str(value)


def print_note(text: str) -> None:
    """Print a line for people on standard error."""
    click.echo(text, file=sys.stderr, color=False if os.environ.get("NO_COLOR") else None)


@contextmanager
def problems_as_json(is_json: bool) -> Iterator[None]:
    """Print errors and warnings inside this block as JSON, one object per line, if `is_json` is set."""
    before = _PROBLEMS_AS_JSON.set(is_json)
    try:
        yield
    finally:
        _PROBLEMS_AS_JSON.reset(before)


def print_failure(error: FoliotError) -> None:
    refusal = error.refusal if isinstance(error, ChainRefused) else ""
    print_problem("error", error.message, error.hint, code=error.code, refusal=refusal)


def print_error(message: str, hint: str = "", *, code: str = "error") -> None:
    """Print an error and, below it, what to do."""
    print_problem("error", message, hint, code=code)


def print_warning(message: str, hint: str = "", *, code: str = "warning") -> None:
    print_problem("warning", message, hint, code=code)


def print_problem(
    severity: str,
    message: str,
    hint: str = "",
    *,
    code: str = "",
    place: str = "",
    refusal: str = "",
) -> None:
    """Print an error or a warning, with file and line if it has a place. Programs compare the code.

    `refusal`: why a chain refused a request, as a word.
    """
    if _PROBLEMS_AS_JSON.get():
        more = {"refusal": refusal, "place": place}
        facts = {"severity": severity, "code": code or severity, "message": message, "hint": hint}
        print_note(_json({**facts, **{name: text for name, text in more.items() if text}}))
        return
    colour = "red" if severity == "error" else "yellow"
    label = click.style(f"{severity}:", fg=colour, bold=True)
    where = f"{escaped(place)}: " if place else ""
    print_note(f"{where}{label} {escaped(message)}")
    if hint:
        print_note(f"  {escaped(hint)}")
