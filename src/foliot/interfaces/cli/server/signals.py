"""Signals to a server while it is still loading its modules.

Without handlers each of these signals would kill the process. Until the node installs its own handlers, a signal to
stop exits with code 0, because nothing has started yet, and a signal to reload is remembered.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

STOPS: Final = (signal.SIGTERM, signal.SIGINT)


class EarlyStop(SystemExit):
    """A signal to stop came before the node had started."""


class EarlySignals:
    """Handles signals until the node does."""

    def __init__(self) -> None:
        self._is_reload_wanted = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Handle signals inside this block; afterwards restore the former handlers."""
        handlers = {**dict.fromkeys(STOPS, _leave), signal.SIGHUP: self._remember}
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def take_reload(self) -> bool:
        """Return whether a reload was requested, and forget the request."""
        is_wanted, self._is_reload_wanted = self._is_reload_wanted, False
        return is_wanted

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._is_reload_wanted = True


EARLY: Final = EarlySignals()
"""One for the process: signal handlers are global."""


def _leave(number: int, frame: FrameType | None) -> None:
    raise EarlyStop(0)
