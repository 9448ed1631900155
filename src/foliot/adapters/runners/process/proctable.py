"""What /proc tells about other processes. Every function answers "nothing" where there is nothing to see."""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

RUN_VARIABLE = "FOLIOT_RUN_ID"
ATTEMPT_VARIABLE = "FOLIOT_ATTEMPT"
_LOOKS: Final = 10
_MOMENT: Final = 0.001
"""Seconds between two looks."""


class Tag(NamedTuple):
    """The variables by which the processes of one attempt are known. Without an attempt: of the whole run."""

    run_id: str
    attempt: int | None = None

    @classmethod
    def read(cls, environ: bytes) -> "Tag | None":
        """The attempt that a process belongs to, by its environment; None for one that is none of ours."""
        found = dict(variable.partition(b"=")[::2] for variable in environ.split(b"\0"))
        run_id, attempt = (found.get(os.fsencode(name), b"") for name in (RUN_VARIABLE, ATTEMPT_VARIABLE))
        return cls(os.fsdecode(run_id), int(attempt)) if run_id and attempt.isdigit() else None

    def variables(self) -> dict[str, str]:
        attempt = {} if self.attempt is None else {ATTEMPT_VARIABLE: str(self.attempt)}
        return {RUN_VARIABLE: self.run_id, **attempt}

    def is_on(self, environ: bytes) -> bool:
        """Another attempt of the same run may live on this machine by now, so both variables count."""
        found = environ.split(b"\0")
        return all(os.fsencode(f"{name}={value}") in found for name, value in self.variables().items())


def search(is_wanted: Callable[[int], bool]) -> set[int]:
    """The wanted ones among all processes but this. Reads the whole process table."""
    return {pid for pid in _all_pids() if pid != os.getpid() and is_wanted(pid)}


def is_there() -> bool:
    """Whether this system has a /proc that can be searched."""
    return bool(_read("/proc/self/stat"))


def is_alive(pid: int) -> bool:
    """Neither gone nor a zombie. The state follows the name, which may contain anything."""
    return _read(f"/proc/{pid}/stat").rpartition(b") ")[2][:1] not in {b"", b"Z", b"X"}


def environ_of(pid: int) -> bytes:
    """NAME=value, ended by NULs, as the process got it at its start. Empty for a zombie."""
    return _read(f"/proc/{pid}/environ")


def settled_environ_of(pid: int) -> bytes:
    """The same of one that may be becoming another program: for a moment it has none."""
    for _ in range(_LOOKS):
        environ = environ_of(pid)
        if environ or not is_alive(pid):
            return environ
        time.sleep(_MOMENT)
    return b""


def descendants(roots: Iterable[int]) -> set[int]:
    """The roots and all that hangs below them at this moment, zombies below a living parent included."""
    found: set[int] = set()
    unseen = list(roots)
    while unseen:
        pid = unseen.pop()
        if pid not in found:
            found.add(pid)
            unseen.extend(_children_of(pid))
    return found


def parents_first(targets: Iterable[int]) -> list[int]:
    """In an order in which nobody comes after what it has started. Groups, which are negative, come before all."""
    left = set(targets)
    parents = {target: _parent_of(target) for target in left}
    ordered: list[int] = []
    while left:
        # Parents in a circle cannot be, but a number may change hands while they are read.
        highest = {target for target in left if parents[target] not in left} or left
        ordered.extend(sorted(highest))
        left = left - highest
    return ordered


def _parent_of(pid: int) -> int:
    """The second of what follows the name, behind the state. 0 when there is none, or nobody to ask for."""
    _state, parent, *_ = _read(f"/proc/{pid}/stat").rpartition(b") ")[2].split() or (b"", b"0")
    return int(parent)


def session_of(pid: int) -> int:
    """The session of a process, also of a zombie; 0 when it is gone."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def has_members(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _all_pids() -> list[int]:
    return [int(name) for name in names_in("/proc") if name.isdigit()]


def _children_of(pid: int) -> list[int]:
    """A child belongs to the thread that started it, so all threads are asked."""
    tasks = names_in(f"/proc/{pid}/task")
    return [int(child) for task in tasks for child in _read(f"/proc/{pid}/task/{task}/children").split()]


def names_in(directory: str) -> list[str]:
    with suppress(OSError), os.scandir(directory) as entries:
        return [entry.name for entry in entries]
    return []


def _read(path: str) -> bytes:
    with suppress(OSError):
        return Path(path).read_bytes()
    return b""
