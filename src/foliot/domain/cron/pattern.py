"""The local times that match: days and times together, without regard to timezones.

A reading is the local time that a clock shows, as a number: the seconds since 1970-01-01 00:00 local time.
"""

from typing import Final

from foliot.domain.cron.days import Days
from foliot.domain.cron.times import Times

DAY: Final = 86_400


class Pattern:
    """A rule for readings."""

    __slots__ = ("days", "times")

    def __init__(self, days: Days, times: Times) -> None:
        self.days = days
        self.times = times

    def first(self, reading: int) -> int:
        """Return the first match that is not before `reading`, or a reading far outside of the calendar."""
        day = reading // DAY
        second = reading - day * DAY
        times = self.times
        if second > times.last:
            day += 1
            second = 0
        found = self.days.following(day)
        return found * DAY + (times.following(second) if found == day else times.first)

    def last(self, reading: int) -> int:
        """Return the last match that is not after `reading`, or a reading far outside of the calendar."""
        day, second = divmod(reading, DAY)
        times = self.times
        if second < times.first:
            day -= 1
            second = DAY - 1
        found = self.days.preceding(day)
        return found * DAY + (times.preceding(second) if found == day else times.last)

    def count(self, start: int, end: int) -> int:
        """Return the number of matching readings in [start, end)."""
        if end <= start:
            return 0
        first, before = divmod(start, DAY)
        last, until = divmod(end, DAY)
        total = self.days.count(first, last) * self.times.per_day
        if self.days.following(first) == first:
            total -= self.times.count_before(before)
        if self.days.following(last) == last:
            total += self.times.count_before(until)
        return total
