"""The day-of-week field, and the days of a month that it matches, by the month's length and first weekday.

    MON-FRI               lists, ranges and steps of the numbers 0 to 7, or of names
    5#2   FRI#2           the second Friday of the month
    5L   L5   FRI#L       the last Friday of the month
    MON-FRIL   MON-FRI#2  the last, the second Monday of the month, the last, the second Tuesday, ...

Sunday is 0 or 7.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from foliot.domain.cron.fields import DAY_OF_WEEK, between, items, number, numbers
from foliot.domain.cron.span import Span

LAST: Final = 0
"""The last Friday of the month, in place of a number from 1 to 5. It is 0 so that [which - 1] is [-1]."""

_MOST: Final = 5
_INSIDE: Final = re.compile(r"[Ll][-/]")
_HINT: Final = "Write 5#2 for the second Friday of the month, 5L or FRI#L for the last, MON-FRIL for a range."


class WeekDays(NamedTuple):
    """A day-of-week field as plain values, so that equal fields are equal and share the rules built from them."""

    days: tuple[int, ...] = ()
    nth: tuple[tuple[int, int], ...] = ()

    def bits(self, length: int, first: int) -> int:
        """Return the days of a month of `length` days that starts on weekday `first`, as bits 1 to 31."""
        found = 0
        for weekday in self.days:
            for day in range(1 + (weekday - first) % 7, length + 1, 7):
                found |= 1 << day
        for weekday, which in self.nth:
            days = range(1 + (weekday - first) % 7, length + 1, 7)
            if which <= len(days):
                found |= 1 << days[which - 1]
        return found


ANY_WEEKDAY: Final = WeekDays(tuple(DAY_OF_WEEK.every))


def week_days(text: Span, key: str | None) -> WeekDays:
    """Return the parsed day-of-week field."""
    if text.text in {"*", "?"}:
        return ANY_WEEKDAY
    days, nth = set[int](), set[tuple[int, int]]()
    for item in items(text, DAY_OF_WEEK):
        base, which = _which(item)
        if which is None:
            days.update(numbers(base, DAY_OF_WEEK, key))
        else:
            nth.update((weekday, which) for weekday in _plain(base))
    return WeekDays(tuple(sorted(days)), tuple(sorted(nth)))


def _which(item: Span) -> tuple[Span, int | None]:
    """Return a weekday and its number in the month, or None if it has no number."""
    base, which = item.partition("#")
    if which is not None:
        return base, _ordinal(which)
    if _INSIDE.search(item.text):
        raise item.fault(f"{item} cannot be counted inside a month", _HINT)
    if item.text in {"L", "l"}:
        raise item.fault("L alone is not a day-of-week", f"Write SAT for Saturday. {_HINT}")
    if item.text[-1] in "Ll":
        return item.cut(0, -1), LAST
    if item.text[0] in "Ll":
        return item.cut(1), LAST
    return item, None


def _ordinal(which: Span) -> int:
    if which.text in {"L", "l"}:
        return LAST
    if not which.text.isdigit() or not 1 <= int(which.text) <= _MOST:
        raise which.fault(f"{which} does not say which weekday of the month", f"Write #1 to #5 or #L. {_HINT}")
    return int(which.text)


def _plain(base: Span) -> Sequence[int]:
    """Return one weekday or a range of weekdays, the only items that may have L or #."""
    if not set(base.text).isdisjoint("*?/()Ll"):
        raise base.fault(f"{base} cannot be counted inside a month", _HINT)
    return between(base, DAY_OF_WEEK) if "-" in base.text else [number(base, DAY_OF_WEEK)]
