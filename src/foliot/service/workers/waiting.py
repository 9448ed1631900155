"""Waits for one of several events, for a limited time."""

import asyncio
from collections.abc import Sequence

from foliot.domain.instant import Millis
from foliot.ports.clock import Clock


class Deadline:
    def __init__(self, clock: Clock, span: Millis) -> None:
        self._clock = clock
        self._until = clock.elapsed() + span

    @property
    def left(self) -> Millis:
        return Millis(max(0, self._until - self._clock.elapsed()))

    @property
    def is_over(self) -> bool:
        return self.left == 0


async def first_of(events: Sequence[asyncio.Event], span: Millis) -> None:
    """Return when one of the events is set, or when the time has passed."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=span / 1_000, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
