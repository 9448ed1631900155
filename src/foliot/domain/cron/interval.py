"""`@every 90s`: elapsed time, counted from an anchor. Clocks on walls may do what they like."""

from typing import Final

from foliot.domain.cron.compiled import Cron
from foliot.domain.cron.zones import Zone

_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


class Interval(Cron):
    """Fires at anchor + period, anchor + 2 periods, and so on; never at the anchor itself.

    Fires that the calendar of the zone has no date for, before the year 1 or after 9999, are none.
    """

    __slots__ = ("_first", "anchor", "period")

    _first: int
    """The number of the first period that ends in the calendar: 1, unless the anchor lies before it."""

    def __init__(self, expression: str, zone: Zone, period: int, anchor: int) -> None:
        super().__init__(expression, zone)
        self.period = period
        self.anchor = anchor
        self._first = max((zone.first - 1 - anchor) // period + 1, 1)

    def next_epoch(self, after: int) -> int | None:
        turn = max((after - self.anchor) // self.period + 1, self._first)
        fire = self.anchor + turn * self.period
        return fire if fire <= self.zone.last else None

    def previous_epoch(self, before: int) -> int | None:
        turn = self._turns_until(before - 1)
        return self.anchor + turn * self.period if turn >= self._first else None

    def count_epochs(self, start: int, end: int) -> int:
        return max(self._turns_until(end) - max(self._turns_until(start - 1), self._first - 1), 0)

    def _turns_until(self, moment: int) -> int:
        return (min(moment, self.zone.last) - self.anchor) // self.period

    def describe(self) -> str:
        words, rest = [], self.period
        for unit, size in _UNITS:
            number, rest = divmod(rest, size)
            if number:
                words.append(f"{number} {unit}{'s' * (number > 1)}")
        return f"every {' '.join(words)} of elapsed time"
