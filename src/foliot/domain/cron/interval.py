"""`@every 90s`: elapsed time, counted from an anchor, independent of clock changes."""

import re
from typing import Final

from foliot.domain.cron.compiled import Cron
from foliot.domain.cron.span import Span
from foliot.domain.cron.zones import Zone

_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
_MILLIS: Final = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_PART: Final = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,9}))?(ms|[dhms])")
_LONGEST: Final = 36_500 * 86_400
_HINT: Final = "Write 90s, 15m, 1h30m, 1.5h or 2d, the larger units first."


class Interval(Cron):
    """Fires at anchor + period, anchor + 2 periods, and so on; never at the anchor itself.

    There are no fires outside of the years 1 to 9999 of the zone.
    """

    __slots__ = ("_first", "anchor", "period")

    _first: int
    """The number of the first period that ends inside the calendar: 1, unless the anchor is before it."""

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


def read_period(text: Span) -> int:
    """Return the seconds of a duration such as 90s, 1h30m, 1.5h or 2d, from one second to a hundred years."""
    millis, place, unit_before = 0, 0, None
    while place < len(text.text):
        part = _PART.match(text.text, place)
        if part is None or (unit_before and _MILLIS[part[3]] >= _MILLIS[unit_before]):
            raise text.cut(place).fault(f"{text} is not a duration", _HINT)
        millis += _millis(text.cut(place, part.end()), part)
        place, unit_before = part.end(), part[3]
    return _checked(text, millis)


def _millis(text: Span, part: re.Match[str]) -> int:
    fraction: str = part[2] or ""
    millis, rest = divmod(int(part[1] + fraction) * _MILLIS[part[3]], int(f"1{'0' * len(fraction)}"))
    if rest:
        raise text.fault(f"{text} is not a number of whole seconds", "An interval counts whole seconds.")
    return millis


def _checked(text: Span, millis: int) -> int:
    span, rest = divmod(millis, 1_000)
    if rest:
        raise text.fault(f"{text} is not a number of whole seconds", "An interval counts whole seconds.")
    if not 1 <= span <= _LONGEST:
        raise text.fault(f"{text} is outside one second to a hundred years", _HINT)
    return span
