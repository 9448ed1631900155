"""Describes an expression in words, derived from the compiled form, so that the description matches the fires.

    at 03:00   on Monday to Friday   in January   in 2030   , Europe/Berlin

The parts are the time, the days, the months, the years and the zone; a part without a restriction is left out. Lists
are condensed to ranges and never truncated, so that different rules have different descriptions.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from foliot.domain.cron.days import Days
from foliot.domain.cron.fields import YEAR
from foliot.domain.cron.monthdays import ANY_DAY, MonthDays
from foliot.domain.cron.parser import read
from foliot.domain.cron.pattern import Pattern
from foliot.domain.cron.times import Times
from foliot.domain.cron.weekdays import ANY_WEEKDAY, LAST, WeekDays

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORTEST_RUN: Final = 3
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}
_MOST_TIMES: Final = 6
_MOST_YEARS: Final = 6


def describe(pattern: Pattern, zone: str, expression: str) -> str:
    """Return the pattern as one phrase. `expression` is the text that it was compiled from."""
    few_times = pattern.times.per_day <= _MOST_TIMES
    words = (
        _few_times(pattern.times) if few_times else _many_times(pattern.times),
        _days(pattern.days) or ("every day" if few_times else ""),
        _months(pattern.days.months),
        _years(pattern.days.years, expression),
    )
    return f"{' '.join(filter(None, words))}, {zone}"


def _few_times(times: Times) -> str:
    seconds = [hour * 3_600 + second for hour in times.hours for second in times.in_hour]
    clocks = [f"{second // 3_600:02}:{second // 60 % 60:02}:{second % 60:02}" for second in seconds]
    return f"at {_listed([clock.removesuffix(':00') if times.seconds == (0,) else clock for clock in clocks])}"


class _Level(NamedTuple):
    unit: str
    values: tuple[int, ...]
    size: int

    @property
    def step(self) -> int:
        """n if the values are every nth from 0 on, without a shorter gap at the end; else 0."""
        if len(self.values) == 1:
            return 0
        step = self.values[1]
        return step if self.values == tuple(range(0, self.size, step)) and self.size % step == 0 else 0

    def every(self) -> str:
        return f"every {self.unit}" if self.step == 1 else f"every {self.step} {self.unit}s"

    def every_nth(self) -> str:
        return f"every {self.unit}" if self.step == 1 else f"every {_ordinal(self.step)} {self.unit}"

    def named(self) -> str:
        return f"{self.unit}{'s' * (len(self.values) > 1)} {_ranges(self.values)}"


def _many_times(times: Times) -> str:
    second, minute = _Level("second", times.seconds, 60), _Level("minute", times.minutes, 60)
    hour = _Level("hour", times.hours, 24)
    if second.values != (0,):
        return _from_finest(second, minute, hour)
    on_the_hour = minute.values == (0,) and hour.step
    return _from_finest(hour) if on_the_hour else _from_finest(minute, hour)


def _from_finest(finest: _Level, *coarser: _Level) -> str:
    """Return the times from the finest unit up: every 10 seconds of hour 3; at second 5 of every minute; at minutes 0
    and 30 of hours 9-17."""
    words = [finest.every() if finest.step else f"at {finest.named()}"]
    for place, level in enumerate(coarser):
        rest_is_full = all(each.step == 1 for each in coarser[place:])
        if rest_is_full and words[-1].startswith(("every", "of every")):
            break
        words.append(f"of {level.every_nth() if level.step else level.named()}")
    return " ".join(words)


def _days(days: Days) -> str:
    by_month = "" if days.month_days == ANY_DAY else f"on {_month_days(days.month_days)}"
    by_week = "" if days.week_days == ANY_WEEKDAY else _week_days(days.week_days)
    if by_month and by_week:
        return f"{by_month} or on {by_week}" if days.either else f"{by_month} if that is {by_week}"
    return by_month or (f"on {by_week}" if by_week else "")


def _month_days(month_days: MonthDays) -> str:
    words = []
    if month_days.days:
        words.append(f"day{'s' * (len(month_days.days) > 1)} {_ranges(month_days.days)}")
    words += _from_last(month_days.before_last, "the last day", "")
    if month_days.workdays:
        many = "s" * (len(month_days.workdays) > 1)
        words.append(f"the working day{many} nearest day{many} {_ranges(month_days.workdays)}")
    words += _from_last(month_days.workdays_before_last, "the last working day", "the working day{many} nearest ")
    return f"{_listed(words)} of the month"


def _from_last(backs: tuple[int, ...], last: str, lead: str) -> list[str]:
    """Return the days counted from the end of the month: the last day by its name, the others together."""
    earlier = [back for back in backs if back]
    words = [last] * (0 in backs)
    if earlier:
        many, units = "s" * (len(earlier) > 1), "day" if earlier == [1] else "days"
        words.append(f"{lead.format(many=many)}the day{many} {_ranges(earlier)} {units} before the last")
    return words


def _week_days(week_days: WeekDays) -> str:
    # Descriptions begin the week on Monday, cron on Sunday.
    from_monday = sorted((day - 1) % 7 for day in week_days.days)
    words = [_ranges(from_monday, _WEEKDAYS.__getitem__, " to ")] if from_monday else []
    for day, found in groupby(week_days.nth, lambda each: each[0]):
        which = sorted((number for _, number in found), key=lambda number: (number == LAST, number))
        words.append(f"the {_listed([_which(number) for number in which])} {_WEEKDAYS[day - 1]}")
    return f"{_listed(words)} of the month" if week_days.nth else _listed(words)


def _which(number: int) -> str:
    return "last" if number == LAST else _ordinal(number)


def _months(months: tuple[int, ...]) -> str:
    return "" if len(months) == len(_MONTHS) else f"in {_ranges(months, lambda month: _MONTHS[month - 1], ' to ')}"


def _years(years: tuple[int, ...] | None, expression: str) -> str:
    if years is None:
        return ""
    words = _range_words(years)
    if len(words) <= _MOST_YEARS:
        return f"in {_listed(words)}"
    # Thousands of years without a common step are described by the text of the field, which is exact.
    return _stepped_years(years) or f"in the years {read(expression).fields[-1].text}"


def _stepped_years(years: tuple[int, ...]) -> str:
    """Return "in every 3rd year from 1970 to 2030" if that describes all years, else nothing. The end of the calendar
    is not named."""
    first, step, last = years[0], years[1] - years[0], years[-1]
    if years != tuple(range(first, last + 1, step)):
        return ""
    until = "" if last + step > YEAR.high else f" to {last}"
    return f"in every {_ordinal(step)} year from {first}{until}"


def _listed(words: Sequence[str]) -> str:
    """Return a; a and b; a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _ranges(values: Sequence[int], name: Callable[[int], str] = str, to: str = "-") -> str:
    """Return 1; 1 and 2; 1-3; 1-5, 8 and 10: values in order, with three or more successive ones as a range."""
    return _listed(_range_words(values, name, to))


def _range_words(values: Sequence[int], name: Callable[[int], str] = str, to: str = "-") -> list[str]:
    """Return the same as a list of words."""
    words: list[str] = []
    for run in _runs(values):
        if len(run) >= _SHORTEST_RUN:
            words.append(f"{name(run[0])}{to}{name(run[-1])}")
        else:
            words.extend(name(value) for value in run)
    return words


def _runs(values: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for value in values:
        if run and value != run[-1] + 1:
            yield run
            run = []
        run.append(value)
    yield run


def _ordinal(number: int) -> str:
    is_teen = number // 10 % 10 == 1
    return f"{number}{'th' if is_teen else _ENDINGS.get(number % 10, 'th')}"
