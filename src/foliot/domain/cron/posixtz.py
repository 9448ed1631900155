"""The yearly rule of a zone, `CET-1CEST,M3.5.0,M10.5.0/3`, in the format of POSIX and RFC 9636.

    std offset [ dst [ offset ] , start [ / time ] , end [ / time ] ]

Offsets count west of Greenwich, times may be negative or above 24 hours, a date is Mmonth.week.weekday, Jday (1 to 365,
never 29 February) or day (0 to 365).
"""

import re
from functools import cache
from typing import Final, NamedTuple

from foliot.domain.cron import years
from foliot.domain.cron.years import months

_LEAP: Final = 7  # kinds of years from this number on have a 29 February
_MARCH: Final = 59  # days from 1 January to 1 March in a year without 29 February
_LAST_WEEK: Final = 5
_NAME: Final = r"(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]+>)"
_CLOCK: Final = r"[+-]?\d{1,3}(?::\d{1,2}){0,2}"
_DATE: Final = r"(?:M\d{1,2}\.\d\.\d|J?\d{1,3})"
_RULE: Final = re.compile(
    rf"{_NAME}({_CLOCK})(?:{_NAME}({_CLOCK})?,({_DATE})(?:/({_CLOCK}))?,({_DATE})(?:/({_CLOCK}))?)?"
)


class Switch(NamedTuple):
    """One of the two yearly clock changes: the day, the second of the day by the old clock, and the offsets."""

    day: str
    second: int
    old_offset: int
    new_offset: int

    def moment(self, year: int) -> int:
        start, kind = years.year(year)
        return (start + _day_of_year(self.day, kind)) * 86_400 + self.second - self.old_offset


class YearlyRule(NamedTuple):
    offset: int
    switches: tuple[Switch, ...]

    def changes(self, first_year: int, last_year: int) -> list[tuple[int, int]]:
        """Return the changes in these years, in order: the epoch second and the offset from then on."""
        span = range(first_year, last_year + 1)
        return sorted([(each.moment(year), each.new_offset) for year in span for each in self.switches])


def read(text: str) -> YearlyRule:
    parts = _RULE.fullmatch(text)
    if parts is None:
        raise ValueError(f"{text!r} is not a rule for a zone")
    standard = -_seconds(parts[1])
    if parts[3] is None:
        return YearlyRule(standard, ())
    summer = standard + 3_600 if parts[2] is None else -_seconds(parts[2])
    start = Switch(parts[3], _seconds(parts[4] or "2"), standard, summer)
    end = Switch(parts[5], _seconds(parts[6] or "2"), summer, standard)
    return YearlyRule(standard, (start, end))


def _seconds(clock: str) -> int:
    hours, *rest = clock.lstrip("+-").split(":")
    size = int(hours) * 3_600 + sum(int(part) * unit for part, unit in zip(rest, (60, 1), strict=False))
    return -size if clock.startswith("-") else size


@cache
def _day_of_year(text: str, kind: int) -> int:
    """Return the number of days from 1 January to a rule's date in years of that kind."""
    if text.startswith("J"):
        day = int(text[1:]) - 1
        return day + (kind >= _LEAP and day >= _MARCH)
    if not text.startswith("M"):
        return int(text)
    month, week, weekday = map(int, text[1:].split("."))
    start, length, first = months(kind)[month - 1]
    days = range((weekday - first) % 7, length, 7)
    return start + days[-1 if week == _LAST_WEEK else week - 1]
