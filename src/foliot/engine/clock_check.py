"""Finds steps of the clock and differences between clocks, logs each of them once and saves it for `foliot status`."""

import asyncio
import logging
from typing import Final

from foliot.domain.clock import ClockFault, ClockFaultKind, ClockReading, skew_of, step_between
from foliot.domain.instant import MINUTE, SECOND, Millis
from foliot.ports.upkeep import Upkeep

log = logging.getLogger(__name__)

_EVERY: Final = Millis(10 * SECOND)
_SAVE_AGAIN: Final = Millis(5 * MINUTE)
"""A difference that lasts is saved again after this time. One that is not saved again is over, or its process ended."""


class ClockCheck:
    """The duty that reads the clocks and compares them with their last reading."""

    name = "clock check"

    def __init__(self, upkeep: Upkeep, label: str, *, every: Millis = _EVERY) -> None:
        self._upkeep = upkeep
        self._label = label
        self._every = every
        self._last: ClockReading | None = None
        self._skew_saved: Millis | None = None
        """When the current difference was last saved, as time since boot. None: there is none."""
        self.wake = asyncio.Event()

    async def round(self) -> Millis | None:
        reading = await self._upkeep.read_clocks()
        step = None if self._last is None else step_between(self._last, reading)
        if step is not None:
            await self._save(ClockFaultKind.STEP, step, reading)
            log.warning("clock_stepped", extra=_sizes(step))
        # Only now: if saving has failed, the next round compares with the same reading.
        self._last = reading
        await self._check_skew(reading)
        return self._every

    async def _check_skew(self, reading: ClockReading) -> None:
        skew, saved = skew_of(reading), self._skew_saved
        if skew is None:
            if saved is not None:
                log.info("clock_skew_ended")
            self._skew_saved = None
        elif saved is None or reading.elapsed - saved >= _SAVE_AGAIN:
            await self._save(ClockFaultKind.SKEW, skew, reading)
            self._skew_saved = reading.elapsed
            if saved is None:
                log.warning("clock_skewed", extra=_sizes(skew))

    async def _save(self, kind: ClockFaultKind, size: Millis, reading: ClockReading) -> None:
        await self._upkeep.save_clock_fault(ClockFault(self._label, kind, size, reading.storage))


def _sizes(size: Millis) -> dict[str, object]:
    return {"by_ms": size, "hint": "See what it affects with: foliot status"}
