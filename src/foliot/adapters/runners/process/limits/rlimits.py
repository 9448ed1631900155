"""Limits on processes, set before the program begins.

    sh --> waits for its control group, if it has one --> bounds itself by ulimit --> becomes the program by exec

Between fork and exec there is no place for it: Python must not run there in a process with threads. Set on ourselves,
limits would hit our own threads; set on a child, they would come too late. So a shell stands at the door. It needs no
rights, as everybody may bound himself.
"""

import resource
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from foliot.domain.job.kinds.process import LARGEST, ProcessLimits
from foliot.domain.job.kinds.shell import SHELL

GO: Final = b"\n"
"""What a program that waits reads first. The shell reads byte by byte: what follows is left for the program."""

REFUSED: Final = 125
"""The exit code of a shell that could not do what it was there for."""

_SHELLS_OWN: Final = ("PWD", "OLDPWD", "SHLVL")
"""Variables that shells add for those they start."""

_KIB: Final = 1024
_BLOCK: Final = 512
"""The unit of files in POSIX."""


class Rlimit(NamedTuple):
    """One limit of one process."""

    kind: int
    option: str
    unit: int
    soft: int
    hard: int

    @classmethod
    def of(cls, kind: int, option: str, unit: int, soft: int, hard: int | None = None) -> "Rlimit":
        """What the worker has itself is the most that it gives."""
        highest = resource.getrlimit(kind)[1]
        most = LARGEST if highest == resource.RLIM_INFINITY else highest
        return cls(kind, option, unit, min(soft, most), min(soft if hard is None else hard, most))

    def command(self) -> str:
        """How a shell sets it, rounded up to what shells can say."""
        soft, hard = -(-self.soft // self.unit), -(-self.hard // self.unit)
        if self.option == "u":  # -p in some shells, where others have no -p that could be set
            return f"{{ ulimit -u {soft} 2>/dev/null || ulimit -p {soft}; }}"
        return f"ulimit -S -{self.option} {soft} && ulimit -H -{self.option} {hard}"


def limited_command(
    words: tuple[str, ...], environment: Mapping[str, str], limits: ProcessLimits, *, but: Collection[str], waits: bool
) -> tuple[str, ...]:
    """The words that bound themselves and then become these, with the same environment.

    With `waits` they first read a line from stdin. ValueError names a variable that would be lost on the way.
    """
    for name in environment:
        if not (name.isascii() and name.isidentifier()):
            raise ValueError(f"the variable {name!a} cannot be passed to a job with limits: the shell drops such names")
    steps = ["read -r FOLIOT_GO && unset FOLIOT_GO"] if waits else []
    steps += [bound.command() for bound in rlimits_of(limits, but)]
    steps += [f"unset {name}" for name in _SHELLS_OWN if name not in environment]
    script = "".join(f"{step} || exit {REFUSED}; " for step in steps)
    return (SHELL, "-c", f'{script}exec "$@"', SHELL, *words)


def set_limits(pid: int, limits: ProcessLimits, *, but: Collection[str] = ()) -> None:
    """Rlimit a process that waits, and all that it will start. OSError says why it could not be done."""
    for bound in rlimits_of(limits, but):
        resource.prlimit(pid, bound.kind, (bound.soft, bound.hard))


def rlimits_of(limits: ProcessLimits, but: Collection[str]) -> Iterator[Rlimit]:
    """The limits of each process, without those that a control group with these controllers sets for all."""
    if limits.memory is not None and "memory" not in but:
        yield Rlimit.of(resource.RLIMIT_AS, "v", _KIB, limits.memory)
    if limits.cpu_sec is not None:
        # First XCPU, which can be told from other ends; a second later KILL.
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
    """What starts inside leaves no core dumps, unless it asks for them itself. Not for two threads at once.

    This limit we may wear ourselves for a moment: it only matters to a process that crashes.
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
