"""The host port: what `foliot doctor` examines on the machine itself."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class HostFacts(NamedTuple):
    """Limits of a process, and what its machine supports."""

    is_server: bool
    """Whether these are the facts of a running worker. Otherwise they are the facts of this process; a
    server that is started in another way may have other limits."""
    open_files: int
    """How many files it may open."""
    runs_for_files: int
    """How many concurrent runs that is enough for."""
    controllers: frozenset[str]
    """What control groups can limit for the whole process tree of a job: `memory`, `pids`."""


class Host(Protocol):
    def facts(self, processes: Sequence[str]) -> HostFacts:
        """Examine the first of these processes (`ports.processes`) that runs on this machine, else this process."""
        ...

    def has_program(self, name: str) -> bool:
        """Return whether a program is in the PATH of this process."""
        ...

    def is_readable_by_all(self, path: str) -> bool:
        """Return whether every user of the machine may read a file. False if it does not exist."""
        ...
