"""Starts processes that can never gain privileges: setuid programs and sudo have no effect for them.

"No new privileges" (prctl) is an attribute of a thread that its children inherit and that cannot be removed. So one
thread has it and does nothing but start such processes.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final, TypeVar

T = TypeVar("T")

_PR_SET_NO_NEW_PRIVS: Final = 38


def without_new_privs(start: Callable[[], T]) -> T:
    """Call `start` in a thread whose child processes cannot gain privileges, on systems that support this."""
    return _unprivileged_thread(os.getpid()).submit(start).result()


@cache
def _unprivileged_thread(_process: int) -> ThreadPoolExecutor:
    """Return the thread of this process: a forked child has the object of its parent, but not the thread."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="foliot-no-new-privs", initializer=_set_no_new_privs)


def _set_no_new_privs() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
