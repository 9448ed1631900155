"""What /proc tells about other processes. Every function answers "nothing" where there is nothing to see."""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

_LOOKS: Final = 10
_MOMENT: Final = 0.001
"""Seconds between two looks."""


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
