"""What a crontab contains."""

from collections.abc import Mapping
from typing import NamedTuple

from foliot.errors import Place, Problem


class Entry(NamedTuple):
    """A line that starts a command."""

    place: Place
    expression: str
    """Five fields or a word such as @daily, in the syntax of `domain.cron`."""
    command: str
    user: str
    """The account that it runs as: named in the line, or the owner of the crontab."""
    variables: Mapping[str, str]
    """The assignments before it, without those that only cron itself reads."""
    stdin: str | None = None
    timezone: str | None = None
    description: str = ""
    script: str | None = None
    """The program of a directory that `run-parts` runs. It is started without a shell."""
    directory: str | None = None
    """Where it runs, if not in the home directory."""
    group: str | None = None
    """Entries of one group run one after another."""


class Rejected(NamedTuple):
    """A line that cannot be carried over."""

    place: Place
    text: str
    message: str
    hint: str


class Crontab(NamedTuple):
    file: str
    items: tuple[Entry | Rejected, ...]
    """In the order of the lines."""
    warnings: tuple[Problem, ...]
