"""A function may fork. Its child is a copy of the whole worker, and must not go on as one: the runs are its parent's.

What the child does is the function's business, as long as it ends or becomes another program there. Should it come
back from the function, or give way to the event loop, which is its parent's too, it is ended.
"""

import asyncio
import os
from functools import cache
from typing import Final, NoReturn

from foliot.adapters.runners.function import describe

_NOTE: Final = "foliot: a process that a job forked {did}, and was ended: it is a copy of the worker. Use os._exit.\n"


class _Descent:
    """How many forks lie between this process and the one that began to watch."""

    def __init__(self) -> None:
        self.generation = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def before(self) -> None:
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    def in_child(self) -> None:
        self.generation += 1
        if self._loop is not None:
            self._loop.call_soon(_end, "gave way to the event loop", 1)


_DESCENT: Final = _Descent()


@cache
def watch() -> None:
    """From now on, notice forks. A process that runs no jobs is none of our business."""
    os.register_at_fork(before=_DESCENT.before, after_in_child=_DESCENT.in_child)


def generation() -> int:
    """A number that is another one in every process that was forked from here."""
    return _DESCENT.generation


def end_copy(error: BaseException | None) -> NoReturn:
    """End this process as its function ended: what it shares with its parent is left alone."""
    match error:
        case None:
            _end("returned from its function", 0)
        case SystemExit(code=None | int() as code):
            os._exit((code or 0) & 0xFF)
        case _:
            _end(f"failed in its function ({describe(error).rpartition(chr(10))[2]})", 1)


def _end(did: str, code: int) -> NoReturn:
    os.write(2, _NOTE.format(did=did).encode(errors="backslashreplace"))
    os._exit(code)
