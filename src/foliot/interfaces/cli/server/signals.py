"""Signals of a process that serves, from its first moment on.

Loading what a server needs takes a while, and whoever starts one may signal it at once. Left alone, each of these
signals would kill it. Until the node has handlers of its own, one that asks to stop ends the process in good order,
as nothing has begun yet, and one that asks to reload is remembered.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

STOPS: Final = (signal.SIGTERM, signal.SIGINT)


class EarlyStop(SystemExit):
    """The process was asked to stop before it had begun."""


class EarlySignals:
    """What came before there was anybody to tell."""

    def __init__(self) -> None:
        self._is_reload_wanted = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Take signals until somebody else does, and afterwards leave all as it was before."""
        handlers = {**dict.fromkeys(STOPS, _leave), signal.SIGHUP: self._remember}
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def take_reload(self) -> bool:
        """Whether a reload was asked for; asking again says no."""
        is_wanted, self._is_reload_wanted = self._is_reload_wanted, False
        return is_wanted

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._is_reload_wanted = True


EARLY: Final = EarlySignals()
"""A process has one set of signals."""


def _leave(number: int, frame: FrameType | None) -> None:
    raise EarlyStop(0)
