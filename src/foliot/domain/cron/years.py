"""Years as day numbers. A day number counts days since 1970-01-01.

There are only 14 kinds of years: seven weekdays for 1 January, with or without a 29 February. All years of one kind
have the same calendar.
"""

from datetime import date
from functools import cache
from typing import Final, NamedTuple

KINDS: Final = 14

EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
FIRST_DAY: Final = date.min.toordinal() - EPOCH_ORDINAL
LAST_DAY: Final = date.max.toordinal() - EPOCH_ORDINAL

_LENGTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_THURSDAY: Final = 4  # the weekday of day 0, where Sunday is 0


class Year(NamedTuple):
    start: int
    """The day number of 1 January."""
    kind: int


class Month(NamedTuple):
    start: int
    """Days from 1 January to the first of the month."""
    length: int
    first: int
    """The weekday of the first, Sunday being 0."""


@cache
def year(number: int) -> Year:
    """Return the start and the kind of a year. The year 10000 is supported too, as the end of 9999."""
    before = number - 1
    start = before * 365 + before // 4 - before // 100 + before // 400 + 1 - EPOCH_ORDINAL
    leap = number % 4 == 0 and (number % 100 != 0 or number % 400 == 0)
    return Year(start, weekday(start) + 7 * leap)


@cache
def months(kind: int) -> tuple[Month, ...]:
    """Return the months of years of a kind, January first."""
    leap, first = divmod(kind, 7)
    found, start = [], 0
    for length in (31, 28 + leap, *_LENGTHS[2:]):
        found.append(Month(start, length, (first + start) % 7))
        start += length
    return tuple(found)


def weekday(day: int) -> int:
    """Return 0 for Sunday to 6 for Saturday."""
    return (day + _THURSDAY) % 7
