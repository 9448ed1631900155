"""Faults of clocks: steps of the wall clock, and differences between machines.

step    the clock that decides about schedules was set: the database's on a server, else the machine's
skew    the clock of a machine differs from that of the database; nothing in Foliot depends on it
"""

from enum import StrEnum
from typing import Final, NamedTuple

from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, Millis

TOLERANCE: Final = Millis(5 * SECOND)
"""Smaller steps and differences are not reported."""
FORWARD_SHOWN: Final = HOUR
"""How long a step forwards is reported. A step backwards is, until the clock reaches its former time."""
SKEW_SHOWN: Final = Millis(15 * MINUTE)
"""How long a difference is reported after it was last measured."""


class ClockReading(NamedTuple):
    """The clocks that a process uses, read at one moment."""

    storage: Instant
    """The clock of the storage, by which schedules are decided."""
    local: Instant
    """The clock of the machine."""
    elapsed: Millis
    """Milliseconds since boot, on which setting a clock has no effect."""


class ClockFaultKind(StrEnum):
    STEP = "step"
    SKEW = "skew"


class ClockFault(NamedTuple):
    """A step or a difference that a process has found."""

    node: str
    """The label of the process."""
    kind: ClockFaultKind
    size: Millis
    """Above 0: the clock was set forward, or the machine's clock is ahead. Below 0: set back, or behind."""
    at: Instant
    """When it was found, by the clock of the storage."""

    @property
    def former_time(self) -> Instant:
        """The time that the clock would have shown without the step."""
        return Instant(self.at - self.size)

    def is_current(self, now: Instant) -> bool:
        """Return whether it is still reported."""
        if self.kind is ClockFaultKind.SKEW:
            return abs(now - self.at) < SKEW_SHOWN
        if self.size < 0:
            return now < self.former_time
        return self.at <= now < self.at + FORWARD_SHOWN


def step_between(before: ClockReading, after: ClockReading) -> Millis | None:
    """Return by how much the clock was set between two readings, or None."""
    size = (after.storage - before.storage) - (after.elapsed - before.elapsed)
    return Millis(size) if abs(size) > TOLERANCE else None


def skew_of(reading: ClockReading) -> Millis | None:
    """Return by how much the machine's clock is ahead of the storage's, or None if it is not far off."""
    size = reading.local - reading.storage
    return Millis(size) if abs(size) > TOLERANCE else None
