"""Marks: a number on every process of a run that only the kernel keeps.

The soft limit on file locks (RLIMIT_LOCKS) has had no meaning since Linux 2.4.25. It is inherited by fork and exec,
needs no privilege to set below the hard limit, and can be read of a zombie. No program looks at it, no shell resets it.
The variables in the environment can be cleared, and they die with the process.
"""

import itertools
import os
import resource
import sys
from contextlib import suppress
from functools import partial
from typing import Any, Final, NewType

Mark = NewType("Mark", int)

_LIMIT: Final = 10  # RLIMIT_LOCKS on every architecture; the resource module has no name for it
_FLAG: Final = 1 << 62
_SERIAL_BITS: Final = 32


class MarkSource:
    """Makes marks that no other process of this machine uses while this one lives."""

    def __init__(self) -> None:
        self._origin = (_FLAG >> _SERIAL_BITS) | os.getpid()
        self._serials = itertools.count()

    def make(self) -> Mark:
        return Mark(self._origin << _SERIAL_BITS | next(self._serials) % (1 << _SERIAL_BITS))

    def made(self, mark: Mark) -> bool:
        return mark >> _SERIAL_BITS == self._origin


if sys.platform == "linux":

    def born_marked(spawn: partial[int], mark: Mark) -> int:
        """Call `spawn` so that the process is born with the mark: whatever it starts, and when, has it too.

        A child inherits our own limit, which therefore changes for a moment. Nothing else may be born in that moment,
        or it would be taken for a part of the run. So `spawn` must be a single call into C that keeps the interpreter
        lock, such as os.posix_spawn. `map` is C as well, and between its calls no other thread can get the lock.
        (A free-threaded Python has no such lock; there the worker must not start processes in other threads.)
        """
        before = resource.getrlimit(_LIMIT)
        if before[1] != resource.RLIM_INFINITY:
            return spawn()
        mark_us = partial(resource.setrlimit, _LIMIT, (mark, before[1]))
        unmark_us = partial(resource.setrlimit, _LIMIT, before)
        steps: list[partial[Any]] = [mark_us, spawn, unmark_us]
        try:
            _, pid, _ = list(map(partial.__call__, steps))
        except BaseException:
            unmark_us()
            raise
        return int(pid)

    def put_mark(pid: int, mark: Mark) -> None:
        """Mark a process that runs already. What it has started by then stays without."""
        with suppress(OSError, ValueError):  # it ended, or the hard limit is low
            resource.prlimit(pid, _LIMIT, (mark, resource.RLIM_INFINITY))

    def mark_of(pid: int) -> Mark:
        """The mark of a process, also of a dead one that is not yet reaped. 0 where there is none to be seen."""
        try:
            return Mark(resource.prlimit(pid, _LIMIT)[0])
        except OSError:
            return Mark(0)

else:

    def born_marked(spawn: partial[int], mark: Mark) -> int:
        """Nothing keeps a mark here."""
        return spawn()

    def put_mark(pid: int, mark: Mark) -> None:
        """Nothing keeps a mark here."""

    def mark_of(pid: int) -> Mark:
        """Nothing keeps a mark here."""
        return Mark(0)
