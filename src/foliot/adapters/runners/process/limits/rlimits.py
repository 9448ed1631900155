"""Limits on each process (rlimits), set before the program starts.

    sh --> waits for its control group, if it has one --> limits itself by ulimit --> becomes the program by exec

They cannot be set between fork and exec, because no Python may run there in a process with threads. Set on this
process, limits would affect its own threads; set on the child after the start, they would be too late. So a shell sets
them on itself and then executes the program. This needs no privileges: every process may lower its own limits.
"""

import resource
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from foliot.domain.job.kinds.process import LARGEST, ProcessLimits
from foliot.domain.job.kinds.shell import SHELL

GO: Final = b"\n"
"""The line that lets a waiting shell continue. The shell reads byte by byte and leaves the rest of stdin unread."""

REFUSED: Final = 125
"""The exit code of a shell that could not set a limit."""

_SHELLS_OWN: Final = ("PWD", "OLDPWD", "SHLVL")
"""Variables that shells add to the environment of their children."""

_KIB: Final = 1024
_BLOCK: Final = 512
"""The unit of `ulimit -f` and `ulimit -c` in POSIX."""


class Rlimit(NamedTuple):
    """One limit on one process."""

    kind: int
    option: str
    unit: int
    soft: int
    hard: int

    @classmethod
    def of(cls, kind: int, option: str, unit: int, soft: int, hard: int | None = None) -> "Rlimit":
        """Return a limit that is no higher than the worker's own hard limit."""
        highest = resource.getrlimit(kind)[1]
        most = LARGEST if highest == resource.RLIM_INFINITY else highest
        return cls(kind, option, unit, min(soft, most), min(soft if hard is None else hard, most))

    def command(self) -> str:
        """Return the shell command that sets it, rounded up to the unit of ulimit."""
        soft, hard = -(-self.soft // self.unit), -(-self.hard // self.unit)
        if self.option == "u":  # some shells have -p instead; in others -p is read-only
            return f"{{ ulimit -u {soft} 2>/dev/null || ulimit -p {soft}; }}"
        return f"ulimit -S -{self.option} {soft} && ulimit -H -{self.option} {hard}"


def limited_command(
    words: tuple[str, ...], environment: Mapping[str, str], limits: ProcessLimits, *, but: Collection[str], waits: bool
) -> tuple[str, ...]:
    """Return a shell command that sets the limits on itself and then executes this command.

    With `waits` the shell first reads a line from stdin. Raises ValueError for a variable that a shell would drop.
    """
    for name in environment:
        if not (name.isascii() and name.isidentifier()):
            raise ValueError(f"the variable {name!a} cannot be passed to a job with limits: the shell drops such names")
    steps = ["read -r FOLIOT_GO && unset FOLIOT_GO"] if waits else []
    steps += [rlimit.command() for rlimit in rlimits_of(limits, but)]
    steps += [f"unset {name}" for name in _SHELLS_OWN if name not in environment]
    script = "".join(f"{step} || exit {REFUSED}; " for step in steps)
    return (SHELL, "-c", f'{script}exec "$@"', SHELL, *words)


def set_limits(pid: int, limits: ProcessLimits, *, but: Collection[str] = ()) -> None:
    """Set limits on a process that has started no others yet. Raises OSError."""
    for rlimit in rlimits_of(limits, but):
        resource.prlimit(pid, rlimit.kind, (rlimit.soft, rlimit.hard))


def rlimits_of(limits: ProcessLimits, but: Collection[str]) -> Iterator[Rlimit]:
    """Return the limits on each process, except those that a control group with these controllers enforces."""
    if limits.memory is not None and "memory" not in but:
        yield Rlimit.of(resource.RLIMIT_AS, "v", _KIB, limits.memory)
    if limits.cpu_sec is not None:
        # The soft limit sends XCPU, which identifies the reason; the hard limit kills a second later.
        yield Rlimit.of(resource.RLIMIT_CPU, "t", 1, limits.cpu_sec, limits.cpu_sec + 1)
    if limits.files is not None:
        yield Rlimit.of(resource.RLIMIT_NOFILE, "n", 1, limits.files)
    if limits.processes is not None and "pids" not in but:
        yield Rlimit.of(resource.RLIMIT_NPROC, "u", 1, limits.processes)
    if limits.file_size is not None:
        yield Rlimit.of(resource.RLIMIT_FSIZE, "f", _BLOCK, limits.file_size)
    if limits.core:
        yield Rlimit.of(resource.RLIMIT_CORE, "c", _BLOCK, limits.core)


@contextmanager
def without_core_dumps() -> Iterator[None]:
    """Disable core dumps of processes that start inside the block. Not for two threads at once.

    It is safe to set this limit on ourselves for a moment: it only matters if a process crashes.
    """
    before = resource.getrlimit(resource.RLIMIT_CORE)
    if before[0] == 0:
        yield
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
