"""ProcessTags: two signs on every process of a run that only the kernel keeps.

    number   the soft limit on file locks, without any meaning since Linux 2.4.25: says which run
    bit      the policy on memory errors "kill late", which is the default anyway: says that it was us

Both are inherited by fork and exec, need no privilege, and can be read of a zombie; programs and shells leave them
alone. A child gets the number from our process and the bit from the thread that starts it. So for a moment we wear both
ourselves; what another thread starts in that moment gets the number as well, but not the bit. Only the two together
are a tag. (The variables in the environment can be cleared, and they die with the process.)
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
    """Makes and reads the marks of this process. No other one uses the same while it lives."""

    def __init__(self) -> None:
        self._origin = _FLAG | os.getpid()
        self._serials = itertools.count()
        self._bit = _find_bit() if sys.platform == "linux" else 0

    @property
    def are_supported(self) -> bool:
        """False where the system does not keep marks: then nothing carries one."""
        return self._bit != 0

    def make(self) -> ProcessTag:
        return ProcessTag(self._origin << _SERIAL_BITS | next(self._serials) % (1 << _SERIAL_BITS))

    @contextmanager
    def applied(self, tag: ProcessTag) -> Iterator[None]:
        """What this thread starts inside carries the tag from birth. Not for two threads at once."""
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
        """The mark of a process, also of a dead one that is not yet reaped; None if it has none of ours."""
        if not self.are_supported:
            return None
        try:
            tag = _number(pid)
        except OSError:
            return None
        return tag if tag >> _SERIAL_BITS == self._origin and self._has_bit(pid) else None

    def of_dead_worker(self, pid: int) -> ProcessTag | None:
        """The mark of a process whose worker is dead; None if it has none, or its worker lives.

        The number of a worker means something only among processes that number each other alike.
        """
        if not self.are_supported:
            return None
        try:
            tag = _number(pid)
            is_one = tag >> _SERIAL_BITS >> _PID_BITS == 1 and self._has_bit(pid)
            if is_one and _numbering(pid) == _numbering(os.getpid()) and not is_alive(_maker(tag)):
                return tag
        except OSError:
            pass
        return None

    def _has_bit(self, pid: int) -> bool:
        return bool(_flags(f"/proc/{pid}/stat") & self._bit)


def _find_bit() -> int:
    """Where the policy shows among the flags of a thread; 0 if it does not, or if it would not tell us apart."""
    if resource.getrlimit(_RLIMIT_LOCKS)[1] != resource.RLIM_INFINITY:
        return 0
    ours = f"/proc/self/task/{threading.get_native_id()}/stat"
    _clear_policy()  # we may be part of a run ourselves
    before = _flags(ours)
    _set_policy()
    bit = _flags(ours) & ~before
    _clear_policy()
    is_ambiguous = any(_flags(f"{task}/stat") & bit for task in Path("/proc/self/task").iterdir())
    return 0 if is_ambiguous else bit


def _number(pid: int) -> ProcessTag:
    """The soft limit on file locks of a process; 0 if it has none."""
    try:
        return ProcessTag(resource.prlimit(pid, _RLIMIT_LOCKS)[0])
    except PermissionError:
        # It belongs to another user. What we may not ask we may still read, unless /proc is closed as well.
        text = Path(f"/proc/{pid}/limits").read_text()
        soft = text.partition("Max file locks")[2].split()[0]
        return ProcessTag(int(soft) if soft.isdigit() else 0)


def _maker(tag: ProcessTag) -> int:
    """The worker that made a tag."""
    return tag >> _SERIAL_BITS & ((1 << _PID_BITS) - 1)


def _numbering(pid: int) -> Path:
    """The namespace in which the numbers of a process and its children are counted."""
    return Path(f"/proc/{pid}/ns/pid").readlink()


def _flags(stat: str) -> int:
    """The ninth field; those after the second are counted from the name's end, as it may contain anything."""
    try:
        return int(Path(stat).read_bytes().rpartition(b")")[2].split()[6])
    except (OSError, IndexError):
        return 0


def _set_policy() -> None:
    _libc.prctl(_PR_MCE_KILL, _PR_MCE_KILL_SET, _PR_MCE_KILL_LATE, 0, 0)


def _clear_policy() -> None:
    _libc.prctl(_PR_MCE_KILL, _PR_MCE_KILL_CLEAR, 0, 0, 0)
