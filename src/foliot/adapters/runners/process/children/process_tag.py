"""Process tags: two kernel attributes that are set on every process of a run.

    number   the soft limit on file locks, which has had no effect since Linux 2.4.25: identifies the run
    bit      the policy "kill late" for memory errors, which is the default: identifies the runner

Both are inherited by fork and exec, need no privilege, and can be read for a zombie; ordinary programs do not change
them. A child inherits the number from this process, and the bit from the thread that starts it. So both are set on
ourselves during a start. A process that another thread starts at that moment gets the number, but not the bit; only
both together are a tag. (The environment is not enough: a process can clear it, and a zombie has none.)
"""

import ctypes
import itertools
import os
import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NewType

from foliot.adapters.runners.process.children.process_table import is_alive

ProcessTag = NewType("ProcessTag", int)

_libc: Final = ctypes.CDLL(None)
_RLIMIT_LOCKS: Final = 10  # on every architecture; the resource module has no name for it
_PR_MCE_KILL: Final = 33
_PR_MCE_KILL_CLEAR, _PR_MCE_KILL_SET, _PR_MCE_KILL_LATE = 0, 1, 0
_SERIAL_BITS: Final = 32
_PID_BITS: Final = 30
_FLAG: Final = 1 << _PID_BITS


class ProcessTags:
    """Makes and reads the tags of this process. They contain its pid, so no other living process makes the same."""

    def __init__(self) -> None:
        self._origin = _FLAG | os.getpid()
        self._serials = itertools.count()
        self._bit = _find_bit() if sys.platform == "linux" else 0

    @property
    def are_supported(self) -> bool:
        """False if the system does not support tags: then no process has one."""
        return self._bit != 0

    def make(self) -> ProcessTag:
        return ProcessTag(self._origin << _SERIAL_BITS | next(self._serials) % (1 << _SERIAL_BITS))

    @contextmanager
    def applied(self, tag: ProcessTag) -> Iterator[None]:
        """Give the tag to processes that this thread starts inside the block. Not for two threads at once."""
        if not self.are_supported:
            yield
            return
        before = resource.getrlimit(_RLIMIT_LOCKS)
        resource.setrlimit(_RLIMIT_LOCKS, (tag, before[1]))
        _set_policy()
        try:
            yield
        finally:
            _clear_policy()
            resource.setrlimit(_RLIMIT_LOCKS, before)

    def read(self, pid: int) -> ProcessTag | None:
        """Return the tag of a process, also of a zombie; None if it has no tag of this worker."""
        if not self.are_supported:
            return None
        try:
            tag = _number(pid)
        except OSError:
            return None
        return tag if tag >> _SERIAL_BITS == self._origin and self._has_bit(pid) else None

    def of_dead_worker(self, pid: int) -> ProcessTag | None:
        """Return the tag of a process whose worker is dead; None if it has no tag, or its worker is alive.

        Only for processes in our pid namespace: elsewhere the pid in the tag is that of another process.
        """
        if not self.are_supported:
            return None
        try:
            tag = _number(pid)
            is_tag = tag >> _SERIAL_BITS >> _PID_BITS == 1 and self._has_bit(pid)
            if is_tag and _pid_namespace(pid) == _pid_namespace(os.getpid()) and not is_alive(_worker_of(tag)):
                return tag
        except OSError:
            pass
        return None

    def _has_bit(self, pid: int) -> bool:
        return bool(_flags(f"/proc/{pid}/stat") & self._bit)


def _find_bit() -> int:
    """Return the bit of the policy in the flags of a thread; 0 if it is not visible, or other threads have it too."""
    if resource.getrlimit(_RLIMIT_LOCKS)[1] != resource.RLIM_INFINITY:
        return 0
    ours = f"/proc/self/task/{threading.get_native_id()}/stat"
    _clear_policy()  # this process may itself belong to a run of another worker
    before = _flags(ours)
    _set_policy()
    bit = _flags(ours) & ~before
    _clear_policy()
    is_ambiguous = any(_flags(f"{task}/stat") & bit for task in Path("/proc/self/task").iterdir())
    return 0 if is_ambiguous else bit


def _number(pid: int) -> ProcessTag:
    """Return the soft limit on file locks of a process; 0 if it is unlimited."""
    try:
        return ProcessTag(resource.prlimit(pid, _RLIMIT_LOCKS)[0])
    except PermissionError:
        # The process belongs to another user. prlimit is refused then, but /proc can be read.
        text = Path(f"/proc/{pid}/limits").read_text()
        soft = text.partition("Max file locks")[2].split()[0]
        return ProcessTag(int(soft) if soft.isdigit() else 0)


def _worker_of(tag: ProcessTag) -> int:
    """Return the pid of the worker that made a tag."""
    return tag >> _SERIAL_BITS & ((1 << _PID_BITS) - 1)


def _pid_namespace(pid: int) -> Path:
    """Return the pid namespace of a process."""
    return Path(f"/proc/{pid}/ns/pid").readlink()


def _flags(path: str) -> int:
    """Return the ninth field of a stat file. The second field, the name, may contain any character."""
    try:
        return int(Path(path).read_bytes().rpartition(b")")[2].split()[6])
    except (OSError, IndexError):
        return 0


def _set_policy() -> None:
    _libc.prctl(_PR_MCE_KILL, _PR_MCE_KILL_SET, _PR_MCE_KILL_LATE, 0, 0)


def _clear_policy() -> None:
    _libc.prctl(_PR_MCE_KILL, _PR_MCE_KILL_CLEAR, 0, 0, 0)
