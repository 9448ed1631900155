"""One driver for all background duties.

A duty runs one round and returns the delay until the next one. The driver sleeps, starts the next round early when the
duty is woken, backs off when a round fails, and finishes the current round when it is stopped. It reports errors that
no later round can recover from.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from foliot.domain.instant import SECOND, Millis
from foliot.engine.failures import FailureLog
from foliot.errors import FoliotError, SchemaTooNew, StorageGone
from foliot.ports.clock import Clock

IMMEDIATELY: Final = Millis(0)
_FIRST_BACKOFF: Final = Millis(100)
_LONGEST_BACKOFF: Final = Millis(10 * SECOND)
_FATAL: Final = (StorageGone, SchemaTooNew)


class Duty(Protocol):
    """A background task that is run in rounds."""

    @property
    def name(self) -> str: ...

    @property
    def wake(self) -> asyncio.Event:
        """Set to start the next round early."""
        ...

    async def round(self) -> Millis | None:
        """Do the work that is due. Return the delay until the next round, or None to wait for `wake`."""
        ...


class Loop:
    """Drives one duty until it is stopped."""

    def __init__(
        self,
        duty: Duty,
        clock: Clock,
        on_fatal: Callable[[FoliotError], None] = lambda _: None,
        failures: FailureLog | None = None,
    ) -> None:
        self._duty = duty
        self._clock = clock
        self._on_fatal = on_fatal
        self._failure_log = (failures or FailureLog(clock)).source(duty.name)
        self._is_stopping = False
        self._failures = 0

    async def run(self) -> None:
        while not self._is_stopping:
            delay = await self._round()
            if delay != IMMEDIATELY and not self._is_stopping:
                await self._clock.wait(self._duty.wake, delay)
            self._duty.wake.clear()

    def stop(self) -> None:
        """Make `run` return after the current round."""
        self._is_stopping = True
        self._duty.wake.set()

    async def _round(self) -> Millis | None:
        try:
            delay = await self._duty.round()
        except Exception as error:
            # Databases and brokers become unreachable and recover: the loop backs off and never ends by itself.
            backoff = min(_FIRST_BACKOFF * 2 ** min(self._failures, 10), _LONGEST_BACKOFF)
            self._failures += 1
            if isinstance(error, _FATAL):
                self._on_fatal(error)
            else:
                self._failure_log.failed(error, Millis(backoff))
            return Millis(backoff)
        if self._failures:
            self._failures = 0
            self._failure_log.succeeded()
        return delay
