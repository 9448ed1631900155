"""Reads other processes from /proc. Results are empty without /proc, and for a process that is gone."""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

_ATTEMPTS: Final = 10
_PAUSE: Final = 0.001
"""Seconds between two attempts."""


def search(is_wanted: Callable[[int], bool]) -> set[int]:
    """Return the wanted processes, except this one. Reads the whole process table."""
    return {pid for pid in _all_pids() if pid != os.getpid() and is_wanted(pid)}


def is_there() -> bool:
    """Return whether this system has a /proc that can be searched."""
    return bool(_read("/proc/self/stat"))


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    # The state follows the process name, which may contain any character, also ")".
    return _read(f"/proc/{pid}/stat").rpartition(b") ")[2][:1] not in {b"", b"Z", b"X"}


def environ_of(pid: int) -> bytes:
    """Return the initial environment of a process, as NAME=value entries that end with NUL. Empty for a zombie."""
    return _read(f"/proc/{pid}/environ")


def settled_environ_of(pid: int) -> bytes:
    """Do the same for a process that may be inside exec, where its environment is empty for a moment."""
    for _ in range(_ATTEMPTS):
        environ = environ_of(pid)
        if environ or not is_alive(pid):
            return environ
        time.sleep(_PAUSE)
    return b""


def descendants(roots: Iterable[int]) -> set[int]:
    """Return the roots and all their current descendants, including zombies whose parent is alive."""
    found: set[int] = set()
    unseen = list(roots)
    while unseen:
        pid = unseen.pop()
        if pid not in found:
            found.add(pid)
            unseen.extend(_children_of(pid))
    return found


def parents_first(targets: Iterable[int]) -> list[int]:
    """Order targets so that each process comes before its children. Process groups (negative) come first."""
    left = set(targets)
    parents = {target: _parent_of(target) for target in left}
    ordered: list[int] = []
    while left:
        # A cycle is possible only if a pid is reused while the parents are read.
        highest = {target for target in left if parents[target] not in left} or left
        ordered.extend(sorted(highest))
        left = left - highest
    return ordered


def _parent_of(pid: int) -> int:
    """Return the parent of a process; 0 if it has none or is gone."""
    _state, parent, *_ = _read(f"/proc/{pid}/stat").rpartition(b") ")[2].split() or (b"", b"0")
    return int(parent)


def session_of(pid: int) -> int:
    """Return the session of a process, also of a zombie; 0 if it is gone."""
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
    """Return the children of all threads of a process: the kernel lists a child under the thread that forked it."""
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
