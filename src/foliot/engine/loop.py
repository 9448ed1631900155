"""One driver for all background duties.

A duty does one round and says how long it has nothing to do. The driver sleeps, wakes it when something happens, backs
off when a round fails, and lets the round under way end when it is told to stop. It tells of an error that no next
round can be spared.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol

from foliot.domain.instant import SECOND, Millis
from foliot.errors import FoliotError, SchemaTooNew, StorageGone
from foliot.ports.clock import Clock

log = logging.getLogger(__name__)

AT_ONCE: Final = Millis(0)
_FIRST_BACKOFF: Final = Millis(100)
_LONGEST_BACKOFF: Final = Millis(10 * SECOND)
_HOPELESS: Final = (StorageGone, SchemaTooNew)


class Duty(Protocol):
    """Something that is done again and again."""

    @property
    def name(self) -> str: ...

    @property
    def wake(self) -> asyncio.Event:
        """Set by whoever has news for this duty."""
        ...

    async def round(self) -> Millis | None:
        """Do what there is to do. How long until the next round is worth doing; None: not before it is woken."""
        ...


class Loop:
    """Drives one duty until it is stopped."""

    def __init__(self, duty: Duty, clock: Clock, give_up: Callable[[FoliotError], None] = lambda _: None) -> None:
        self._duty = duty
        self._clock = clock
        self._give_up = give_up
        self._is_stopping = False
        self._failures = 0

    async def run(self) -> None:
        while not self._is_stopping:
            rest = await self._round()
            if rest != AT_ONCE and not self._is_stopping:
                await self._clock.wait(self._duty.wake, rest)
            self._duty.wake.clear()

    def stop(self) -> None:
        """Let the round under way end, then return from `run`."""
        self._is_stopping = True
        self._duty.wake.set()

    async def _round(self) -> Millis | None:
        try:
            rest = await self._duty.round()
        except Exception as error:
            # A duty meets databases and brokers that come and go: it tries again, ever more slowly, and never ends.
            backoff = min(_FIRST_BACKOFF * 2 ** min(self._failures, 10), _LONGEST_BACKOFF)
            self._failures += 1
            log.exception("round_failed", extra={"duty": self._duty.name, "again_in_ms": backoff})
            if isinstance(error, _HOPELESS):
                self._give_up(error)
            return Millis(backoff)
        self._failures = 0
        return rest
