"""Actors: who made a change. Stored with the change as text: `cli:anna`, `token:deploy`, `app`, `schedule`."""

from enum import StrEnum
from typing import Final, NamedTuple

MAX_ACTOR_NAME: Final = 128


class ActorKind(StrEnum):
    CLI = "cli"
    """A person at the command line, with the name of the account of the operating system."""
    APP = "app"
    """A program that uses Foliot as a library."""
    TOKEN = "token"  # noqa: S105 - not a password
    USER = "user"
    JWT = "jwt"
    CERTIFICATE = "certificate"
    DEVELOPMENT = "development"
    """A request without credentials in development mode."""
    WORKER = "worker"
    """An enrolled worker that connects over HTTP."""
    RUN = "run"
    """A running job, with the id of its run."""
    SCHEDULE = "schedule"
    """A tick of a schedule."""
    SYSTEM = "system"
    """Foliot itself, for example a schedule that is paused after failures."""


class Actor(NamedTuple):
    """Who made a change."""

    kind: ActorKind
    name: str = ""
    """Empty for the kinds that need none."""
    detail: str = ""
    """How the change was made, for example the file that was deployed. It is not part of the text."""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else str(self.kind)


APP: Final = Actor(ActorKind.APP)
SCHEDULE: Final = Actor(ActorKind.SCHEDULE)
SYSTEM: Final = Actor(ActorKind.SYSTEM)


def cli_actor(login: str) -> Actor:
    """Return the actor for an account of the operating system. Its name may contain anything."""
    return Actor(ActorKind.CLI, one_line(login) or "unknown")


def one_line(name: str) -> str:
    """Return a name from outside as one short line of printable text."""
    return "".join(char if char.isprintable() else "?" for char in name[:MAX_ACTOR_NAME])
