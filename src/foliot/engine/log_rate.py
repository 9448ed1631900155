"""A limit on log events per second: a busy process logs counts instead of one event for each run."""

from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.ports.clock import Clock

PER_SECOND: Final = 100


class LogRate:
    """Counts the events of one kind. What exceeds the rate is to be summarized by the caller."""

    def __init__(self, clock: Clock, per_second: int = PER_SECOND) -> None:
        self._clock = clock
        self._per_second = per_second
        self._left = 0
        self._until = Millis(0)

    def take(self, wanted: int) -> int:
        """Return how many of the events may be logged."""
        now = self._clock.elapsed()
        if now >= self._until:
            self._until, self._left = Millis(now + SECOND), self._per_second
        granted = min(wanted, self._left)
        self._left -= granted
        return granted
