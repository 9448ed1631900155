"""Starting what may never gain rights: no setuid program, no sudo.

"No new privileges" is a property of a thread, handed on to all that it starts, and cannot be taken back. So one
thread has it, for ever, and does nothing but start such processes.
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
    """Call `start` where everything that it starts is kept from gaining rights, on systems that can do that."""
    return _unprivileged_thread(os.getpid()).submit(start).result()


@cache
def _unprivileged_thread(_process: int) -> ThreadPoolExecutor:
    """One for each process: a forked child has the object, but not the thread."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="foliot-no-new-privs", initializer=_give_up_rights)


def _give_up_rights() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
