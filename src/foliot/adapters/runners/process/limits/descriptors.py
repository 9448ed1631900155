"""File descriptors: how many the worker and its programs may have, and which ones programs must not inherit."""

import errno
import os
import resource
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from foliot.adapters.runners.process.children.process_table import names_in

DESCRIPTORS_PER_RUN: Final = 4
"""Descriptors of a run while its processes are alive: two streams, a pidfd, and stdin or a socket."""
WORKER_DESCRIPTORS: Final = 95
"""Descriptors that a worker needs besides its runs: event loop, storage, run channel, imports, and a start in
progress."""

_RESERVED: Final = 16
"""Descriptors that are reserved while runs are running: storage and connections would fail without them."""
_HIGHEST_LIMIT: Final = 1 << 20
"""More are not needed, and some code iterates over all numbers up to its limit."""
_MARGIN: Final = 32
"""Descriptors that a start and other threads may open while the worker has the limit of its children."""
_WINDOW: Final = 32
"""Numbers that one system call checks."""

_usual: int | None = None
"""The limit that this process was started with, if it was raised since."""


def raise_limit() -> int:
    """Let this process open as many files as the system allows, and return how many.

    Programs that it starts get the limit of before: many programs have problems with high limits.
    """
    global _usual
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return _HIGHEST_LIMIT
    highest = highest_limit(hard)
    if soft >= highest:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))
    except (OSError, ValueError):  # some systems have a lower limit that they do not report
        return soft
    _usual = soft if _usual is None else _usual
    return highest


def highest_limit(hard: int) -> int:
    """Return the limit that a worker uses if the system allows `hard` open files."""
    return _HIGHEST_LIMIT if hard == resource.RLIM_INFINITY else min(hard, _HIGHEST_LIMIT)


def runs_for(allowed: int) -> int:
    """Return how many concurrent runs this number of descriptors is enough for."""
    return max(allowed - WORKER_DESCRIPTORS, 0) // DESCRIPTORS_PER_RUN


def with_usual_limit(start: Callable[[], int], highest: int) -> int:
    """Start a process with the limit that this process had originally, and return its pid.

    `highest` is the highest descriptor that it receives. Not for two threads at once.
    """
    if _usual is None:
        return start()
    if highest < _usual and _are_free(_MARGIN, below=_usual):
        with _limited_to(_usual):
            return start()
    # The low limit would now affect other threads of ours, and no stream may have a higher number. So it is set after
    # the start. A program that reads its limit immediately may still see ours.
    pid = start()
    _lower(pid, _usual)
    return pid


def check_reserve() -> None:
    """Raise OSError if one more run would use descriptors that are reserved for the worker."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit != resource.RLIM_INFINITY and not _are_free(DESCRIPTORS_PER_RUN + _RESERVED, below=limit):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def seal_descriptors() -> None:
    """Make sure that 0, 1 and 2 are open, and that programs inherit no descriptor above them.

    Python opens nothing inheritable. But the program that started us may have left descriptors open, or may have
    closed stdin, so that a file of ours would get the number 0.
    """
    while (filler := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(filler)
    for name in names_in("/proc/self/fd") or names_in("/dev/fd"):
        if int(name) > 2:
            with suppress(OSError):  # the descriptor of the listing itself is closed by now
                os.set_inheritable(int(name), False)


def _are_free(count: int, *, below: int) -> bool:
    """Return whether `count` descriptors below a number are free. Opens none: another thread may need the last one.

    It checks from above. The system gives the lowest free number, so usually the first window is enough. Gaps further
    down, left by runs that ended, count as well.
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
def _limited_to(limit: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _lower(pid: int, limit: int) -> None:
    # The process may have ended or belong to another user, and only Linux has prlimit.
    with suppress(OSError, AttributeError):
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        if soft == resource.getrlimit(resource.RLIMIT_NOFILE)[0]:  # it may have changed its limit already
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, hard))
