"""The times of a day that match the second, minute and hour fields, by second of the day.

Two small tables, the hours of a day and the seconds of an hour, are as fast as one list of all 86,400 seconds and take
a fraction of its memory. Each is shared by all rules with the same fields.
"""

from bisect import bisect_left
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

HOUR: Final = 3_600

_SECONDS: Final = tuple(range(HOUR))  # the tables share these ints instead of holding their own


class Hours(NamedTuple):
    """Tables by hour."""

    onward: tuple[int, ...]
    """By hour: the first matching hour that is not before it, or 24."""
    backward: tuple[int, ...]
    """By hour: the last matching hour that is not after it, or -1."""
    before: tuple[int, ...]
    """By hour: the number of matching hours before it."""


class Times:
    """A rule for times of day. Equal rules are one object (see `times`)."""

    __slots__ = ("first", "hours", "in_hour", "last", "minutes", "per_day", "seconds", "table")

    def __init__(self, seconds: tuple[int, ...], minutes: tuple[int, ...], hours: tuple[int, ...]) -> None:
        self.seconds = seconds
        self.minutes = minutes
        self.hours = hours
        self.table = _hour_tables(hours)
        self.in_hour = _seconds_of_hour(minutes, seconds)
        self.first = hours[0] * HOUR + self.in_hour[0]
        self.last = hours[-1] * HOUR + self.in_hour[-1]
        self.per_day = len(hours) * len(self.in_hour)

    def following(self, second: int) -> int:
        """Return the first matching second of the day not before `second`, which is not after the last match."""
        hour = second // HOUR
        rest = second - hour * HOUR
        in_hour, onward = self.in_hour, self.table.onward
        if rest <= in_hour[-1] and onward[hour] == hour:
            return hour * HOUR + in_hour[bisect_left(in_hour, rest)]
        return onward[hour + 1] * HOUR + in_hour[0]

    def preceding(self, second: int) -> int:
        """Return the last matching second of the day not after `second`, which is not before the first match."""
        hour, rest = divmod(second, HOUR)
        in_hour, backward = self.in_hour, self.table.backward
        if rest >= in_hour[0] and backward[hour] == hour:
            return hour * HOUR + in_hour[bisect_left(in_hour, rest + 1) - 1]
        return backward[hour - 1] * HOUR + in_hour[-1]

    def count_before(self, second: int) -> int:
        """Return the number of matching seconds of the day before `second`."""
        hour, rest = divmod(second, HOUR)
        partial = bisect_left(self.in_hour, rest) if self.table.onward[hour] == hour else 0
        return self.table.before[hour] * len(self.in_hour) + partial


@lru_cache(maxsize=4_096)
def times(seconds: tuple[int, ...], minutes: tuple[int, ...], hours: tuple[int, ...]) -> Times:
    """Return the rule for these fields. Equal fields share one object."""
    return Times(seconds, minutes, hours)


@lru_cache(maxsize=1_024)
def _seconds_of_hour(minutes: tuple[int, ...], seconds: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([_SECONDS[minute * 60 + second] for minute in minutes for second in seconds])


@lru_cache(maxsize=1_024)
def _hour_tables(hours: tuple[int, ...]) -> Hours:
    matching = [hour in hours for hour in range(24)]
    backward = accumulate(range(24), lambda last, hour: hour if matching[hour] else last, initial=-1)
    onward = accumulate(range(23, -1, -1), lambda later, hour: hour if matching[hour] else later, initial=24)
    return Hours(tuple(onward)[::-1], tuple(backward)[1:], tuple(accumulate(matching, initial=0)))
