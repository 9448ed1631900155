"""Descriptors: what the programs we start must not inherit, and how many there may be, for us and for them."""

import errno
import os
import resource
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from foliot.adapters.runners.process.children.process_table import names_in

DESCRIPTORS_PER_RUN: Final = 4
"""Descriptors that a run holds while its processes live: two streams, its end, and what it reads or answers by."""
WORKER_DESCRIPTORS: Final = 60
"""Descriptors that a worker needs beside its runs: for its loop, its storage, what it loads, and a launch under way."""

_KEPT: Final = 16
"""Descriptors that no run gets while others are under way: storage and connections would break without."""
_MOST: Final = 1 << 20
"""More would be of no use to us, and there is code that goes through all numbers up to its limit."""
_MARGIN: Final = 32
"""Descriptors that a start and other threads may open while we wear the limit of our children."""
_WINDOW: Final = 32
"""Numbers looked at by one system call; as many as are ever asked for."""

_usual: int | None = None
"""The limit that we were started with, if we have another one by now."""


def raise_limit() -> int:
    """Let this process open as many files as the system allows; returns how many. What it starts gets no more than
    before: many programs have trouble with high limits."""
    global _usual
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return _MOST
    highest = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft >= highest:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))
    except (OSError, ValueError):  # some systems have a limit that they do not tell
        return soft
    _usual = soft if _usual is None else _usual
    return highest


def with_usual_limit(start: Callable[[], int], highest: int) -> int:
    """Start a process that gets the limit that we had once, and return its pid. Not for two threads at once.

    `highest` is the highest descriptor that it is given.
    """
    if _usual is None:
        return start()
    if highest < _usual and _are_free(_MARGIN, below=_usual):
        with _worn(_usual):
            return start()
    # Worn by us, the limit would now hit what other threads open, and the system takes no stream beyond it.
    # A program that looks at once may still see ours.
    pid = start()
    _lower(pid, _usual)
    return pid


def check_reserve() -> None:
    """OSError if one run more would leave the worker itself too few."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit != resource.RLIM_INFINITY and not _are_free(DESCRIPTORS_PER_RUN + _KEPT, below=limit):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def seal_descriptors() -> None:
    """Make sure that 0, 1 and 2 are taken and that nothing above them is inherited by what we start.

    Python opens nothing inheritable. But whoever started us may have left something open, and who did so with stdin
    closed would have our own files appear there.
    """
    while (filler := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(filler)
    for name in names_in("/proc/self/fd") or names_in("/dev/fd"):
        if int(name) > 2:
            with suppress(OSError):  # the descriptor by which the list was read is closed by now
                os.set_inheritable(int(name), False)


def _are_free(count: int, *, below: int) -> bool:
    """Whether so many numbers below one are free. It takes none, as another thread may want the last of them.

    It looks from above: numbers are given out from below, so most often the first look is enough. What runs have left
    free further down counts as well.
    """
    found = 0
    for end in range(below, 0, -_WINDOW):
        found += _count_free(range(max(end - _WINDOW, 0), end))
        if found >= count:
            return True
    return False


def _count_free(numbers: range) -> int:
    window = select.poll()
    for number in numbers:
        window.register(number, 0)
    return sum(event == select.POLLNVAL for _, event in window.poll(0))


@contextmanager
def _worn(limit: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _lower(pid: int, limit: int) -> None:
    # It may be over by now, or somebody else's; and only Linux can do it.
    with suppress(OSError, AttributeError):
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        if soft == resource.getrlimit(resource.RLIMIT_NOFILE)[0]:  # it may have set its own already
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, hard))
