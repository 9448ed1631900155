"""A function may fork. Its child is a copy of the whole worker, and must not go on as one: the runs are its parent's.

What the child does is the function's business, as long as it ends or becomes another program there. Should it come
back from the function, or give way to the event loop, which is its parent's too, it is ended: at once, for whatever
else is ready on that loop is ready in the parent as well. (Forked in a plain callback, it is ended a little later, with
the next turn of the loop.) A signal that reaches the child is for the child alone.
"""

import asyncio
import os
import select
import signal
import sys
import threading
from collections.abc import Collection
from functools import cache
from types import FrameType
from typing import Final, NoReturn

from foliot.adapters.runners.function import describe

_NOTE: Final = "foliot: a process that a job forked {did}, and was ended: it is a copy of the worker. Use os._exit.\n"
_LONGEST: Final = 1_000
_PATIENCE: Final = 1_000
"""Milliseconds in which somebody must be ready to read it."""
_LOOPS: Final = ("asyncio", "uvloop")
_END_THEMSELVES: Final = "multiprocessing.popen_fork"
_GAVE_WAY: Final = "gave way to the event loop"


class _Fork(threading.local):
    """A fork that is under way in this thread. Others may fork at the same time."""

    mask: Collection[int] = ()
    loop: asyncio.AbstractEventLoop | None = None
    step: FrameType | None = None
    """Of the task that forks: what the child must not come to the end of."""


class _Descent:
    """How many forks lie between this process and the one that began to watch."""

    def __init__(self) -> None:
        self.generation = 0
        self._fork = _Fork()

    def before(self) -> None:
        # The child must not be told of a signal before it has forgotten whom its parent tells.
        self._fork.mask = signal.pthread_sigmask(signal.SIG_BLOCK, _caught_by_loops())
        self._fork.loop = loop = _running_loop()
        ends_itself = sys._getframe(1).f_globals.get("__name__") == _END_THEMSELVES
        self._fork.step = None if ends_itself else _step_on(loop)

    def in_parent(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._fork.mask)
        self._fork.loop = self._fork.step = None

    def in_child(self) -> None:
        self.generation += 1
        _forget_signals()
        if self._fork.loop is not None:
            self._fork.loop.call_soon(_end, _GAVE_WAY, 1)
        if self._fork.step is not None:
            _end_with(self._fork.step)
        self.in_parent()


_DESCENT: Final = _Descent()


@cache
def watch() -> None:
    """From now on, notice forks. A process that runs no jobs is none of our business."""
    os.register_at_fork(before=_DESCENT.before, after_in_parent=_DESCENT.in_parent, after_in_child=_DESCENT.in_child)


def generation() -> int:
    """A number that is another one in every process that was forked from here."""
    return _DESCENT.generation


def end_copy(error: BaseException | None) -> NoReturn:
    """End this process as its function ended: what it shares with its parent is left alone."""
    try:
        match error:
            case None:
                _end("returned from its function", 0)
            case SystemExit(code=None | int() as code):
                os._exit((code or 0) & 0xFF)
            case _:
                _end(f"failed in its function ({describe(error).rpartition(chr(10))[2][:_LONGEST]})", 1)
    finally:
        os._exit(1)  # what it raised could not even be told


def _end(did: str, code: int) -> NoReturn:
    """The function may have closed what its parent writes to, and nobody may read that."""
    try:
        poll = select.poll()
        poll.register(2, select.POLLOUT)
        if poll.poll(_PATIENCE):
            os.write(2, _NOTE.format(did=did).encode(errors="backslashreplace"))
    finally:
        os._exit(code)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _step_on(loop: asyncio.AbstractEventLoop | None) -> FrameType | None:
    """The outermost frame of the task that is being carried out."""
    task = None if loop is None else asyncio.current_task(loop)
    return None if task is None else getattr(task.get_coro(), "cr_frame", None)


def _end_with(step: FrameType) -> None:
    """End this process as soon as that frame returns, or yields."""

    def notice(frame: FrameType, event: str, _: object) -> None:
        if frame is step and event == "return":
            _end(_GAVE_WAY, 1)

    sys.setprofile(notice)


def _forget_signals() -> None:
    """An event loop catches signals, and has them written to a socket that the parent reads."""
    signal.set_wakeup_fd(-1)
    for number in _caught_by_loops():
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def _caught_by_loops() -> list[signal.Signals | int]:
    """Others are not held up: what their handlers raise while a fork is under way would be lost."""
    return [number for number in signal.valid_signals() if _is_of_a_loop(signal.getsignal(number))]


def _is_of_a_loop(handler: object) -> bool:
    wrapped = getattr(handler, "func", handler)  # asyncio.run gives its own for SIGINT as a partial
    return str(getattr(wrapped, "__module__", "")).partition(".")[0] in _LOOPS
