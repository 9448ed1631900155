"""The days that match the three day fields and the year, by day number.

A rule matches the same days in all years of one kind, and there are 14 kinds (years.py). So a rule is at most 14
bitmaps of 366 bits, computed when they are first needed, and whether it can ever match is known without a search.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import Final

from foliot.domain.cron.fields import MONTH
from foliot.domain.cron.monthdays import ANY_DAY, MonthDays
from foliot.domain.cron.weekdays import WeekDays
from foliot.domain.cron.years import EPOCH_ORDINAL, FIRST_DAY, KINDS, LAST_DAY, months, weekday, year

AFTER_ALL_DAYS: Final = LAST_DAY + 100_000
BEFORE_ALL_DAYS: Final = FIRST_DAY - 100_000
"""Results for "no such day": far enough outside that calculations with them stay outside of the calendar."""

_EVERY_MONTH: Final = tuple(MONTH.every)
_EVERY_KIND: Final = range(2000, 2028)  # any 28 years without an irregular century contain all 14 kinds of years
_NOT_COMPUTED: Final = -1


class Days:
    """A rule for days. Equal rules are one object (see `days`) and share their bitmaps."""

    __slots__ = ("_bitmaps", "_near", "either", "month_days", "months", "week_days", "weekly", "weekly_back", "years")

    weekly: tuple[int, ...]
    """For a rule of weekdays alone: by day number modulo 7, the number of days to the next match. Else empty."""
    _near: tuple[int, int, int]
    """The year of the last call: its first day, the day after its last, and its matching days as bits."""

    def __init__(
        self,
        month_days: MonthDays,
        months: tuple[int, ...],
        week_days: WeekDays,
        years: tuple[int, ...] | None,
        either: bool,
    ) -> None:
        self.month_days = month_days
        self.months = months
        self.week_days = week_days
        self.years = years
        self.either = either
        weekly = self._is_weekly()
        self.weekly = tuple([self._distance(day, 1) for day in range(7)]) if weekly else ()
        self.weekly_back = tuple([self._distance(day, -1) for day in range(7)]) if weekly else ()
        self._bitmaps = [_NOT_COMPUTED] * KINDS
        self._near = (0, 0, 0)

    def _is_weekly(self) -> bool:
        every_month = self.months == _EVERY_MONTH and self.years is None
        return every_month and not self.either and self.month_days == ANY_DAY and not self.week_days.nth

    def _distance(self, day: int, direction: int) -> int:
        steps = (step * direction for step in range(7))
        return next(step for step in steps if weekday(day + step) in self.week_days.days)

    def can_match(self) -> bool:
        """Return whether any day of any year matches."""
        if self.weekly:
            return True
        numbers = _EVERY_KIND if self.years is None else self.years
        return self._first_match(numbers)[1] > 0

    def following(self, day: int) -> int:
        """Return the first matching day that is not before `day`."""
        if self.weekly:
            return day + self.weekly[day % 7]
        if day > LAST_DAY:
            return AFTER_ALL_DAYS
        day = max(day, FIRST_DAY)
        start, end, bits = self._near
        if not start <= day < end:
            start, end, bits = self._load_year(day)
        rest = bits >> (day - start)
        return day + _lowest(rest) if rest else self._first_after(_year_of(day))

    def preceding(self, day: int) -> int:
        """Return the last matching day that is not after `day`."""
        if self.weekly:
            return day + self.weekly_back[day % 7]
        if day < FIRST_DAY:
            return BEFORE_ALL_DAYS
        day = min(day, LAST_DAY)
        start, end, bits = self._near
        if not start <= day < end:
            start, end, bits = self._load_year(day)
        rest = bits & ((2 << (day - start)) - 1)
        return start + _highest(rest) if rest else self._last_before(_year_of(day))

    def one_year_of_each_kind(self, day: int) -> Iterable[int]:
        """Return the first year of each kind in which it may match, from the year of `day` on."""
        found: dict[int, int] = {}
        first, years = _year_of(day), self.years
        for number in range(first, date.max.year + 1) if years is None else years[bisect_left(years, first) :]:
            found.setdefault(year(number).kind, number)
            if len(found) == KINDS:
                break
        return found.values()

    def _load_year(self, day: int) -> tuple[int, int, int]:
        number = _year_of(day)
        start, kind = year(number)
        self._near = found = (start, year(number + 1).start, self._bits(number, kind))
        return found

    def count(self, first: int, end: int) -> int:
        """Return the number of matching days in [first, end). The cost is at most one step for each year."""
        if self.weekly:
            weeks, rest = divmod(max(end - first, 0), 7)
            odd = sum(1 for day in range(first, first + rest) if not self.weekly[day % 7])
            return weeks * self.weekly.count(0) + odd
        first, last = max(first, FIRST_DAY), min(end - 1, LAST_DAY)
        return self._count_by_year(first, last) if first <= last else 0

    def _count_by_year(self, first: int, last: int) -> int:
        oldest, newest = _year_of(first), _year_of(last)
        total = sum(self._bits(number, year(number).kind).bit_count() for number in range(oldest, newest + 1))
        (first_start, first_kind), (last_start, last_kind) = year(oldest), year(newest)
        too_early = self._bits(oldest, first_kind) & ((1 << (first - first_start)) - 1)
        too_late = self._bits(newest, last_kind) >> (last + 1 - last_start)
        return total - too_early.bit_count() - too_late.bit_count()

    def _bits(self, number: int, kind: int) -> int:
        """Return the matching days of one year, which is of that kind, as bits. Bit 0 is 1 January."""
        if self.years is not None and not _holds(self.years, number):
            return 0
        bits = self._bitmaps[kind]
        if bits == _NOT_COMPUTED:
            bits = self._bitmaps[kind] = self._bitmap(kind)
        return bits

    def _bitmap(self, kind: int) -> int:
        bits, calendar = 0, months(kind)
        for number in self.months:
            start, length, first = calendar[number - 1]
            by_month, by_week = self.month_days.bits(length, first), self.week_days.bits(length, first)
            bits |= (by_month | by_week if self.either else by_month & by_week) << start
        return bits >> 1  # the days of a month count from 1

    def _first_after(self, number: int) -> int:
        years = self.years
        later = range(number + 1, date.max.year + 1) if years is None else years[bisect_right(years, number) :]
        start, bits = self._first_match(later)
        return start + _lowest(bits) if bits else AFTER_ALL_DAYS

    def _last_before(self, number: int) -> int:
        years = self.years
        earlier = range(number - 1, 0, -1) if years is None else years[: bisect_left(years, number)][::-1]
        start, bits = self._first_match(earlier)
        return start + _highest(bits) if bits else BEFORE_ALL_DAYS

    def _first_match(self, numbers: Iterable[int]) -> tuple[int, int]:
        """Return the start and the bits of the first of these years that has a matching day. No bits: none has."""
        for number in numbers:
            start, kind = year(number)
            bits = self._bits(number, kind)
            if bits:
                return start, bits
        return 0, 0


@lru_cache(maxsize=4_096)
def days(
    month_days: MonthDays,
    months: tuple[int, ...],
    week_days: WeekDays,
    years: tuple[int, ...] | None,
    either: bool,
) -> Days:
    """Return the rule for these fields. Equal fields share one object."""
    return Days(month_days, months, week_days, years, either)


def _year_of(day: int) -> int:
    return date.fromordinal(day + EPOCH_ORDINAL).year


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _highest(bits: int) -> int:
    return bits.bit_length() - 1


def _holds(ordered: tuple[int, ...], value: int) -> bool:
    place = bisect_left(ordered, value)
    return place < len(ordered) and ordered[place] == value
