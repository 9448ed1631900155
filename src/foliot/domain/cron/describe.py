"""An expression in words, made from what was compiled: so the words and the fires cannot differ.

    at 03:00   on Monday to Friday   in January   in 2030   , Europe/Berlin

The parts are the time, the days, the months, the years and the zone; what is not restricted is not said.
"""

from typing import Final, NamedTuple

from foliot.domain.cron.days import Days
from foliot.domain.cron.monthdays import ANY_DAY, MonthDays
from foliot.domain.cron.pattern import Pattern
from foliot.domain.cron.times import Times
from foliot.domain.cron.weekdays import ANY_WEEKDAY, LAST, WeekDays
from foliot.domain.cron.wording import listed, ordinal, ranges

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MOST_TIMES: Final = 6


def describe(pattern: Pattern, zone: str) -> str:
    """The pattern as one phrase."""
    few_times = pattern.times.per_day <= _MOST_TIMES
    words = (
        _few_times(pattern.times) if few_times else _many_times(pattern.times),
        _days(pattern.days) or ("every day" if few_times else ""),
        _months(pattern.days.months),
        _years(pattern.days.years),
    )
    return f"{' '.join(filter(None, words))}, {zone}"


def _few_times(times: Times) -> str:
    seconds = [hour * 3_600 + second for hour in times.hours for second in times.in_hour]
    clocks = [f"{second // 3_600:02}:{second // 60 % 60:02}:{second % 60:02}" for second in seconds]
    return f"at {listed([clock.removesuffix(':00') if times.seconds == (0,) else clock for clock in clocks])}"


class _Level(NamedTuple):
    unit: str
    values: tuple[int, ...]
    size: int

    @property
    def step(self) -> int:
        """n where the values are every nth from 0 on, without a shorter gap at the end; else 0."""
        if len(self.values) == 1:
            return 0
        step = self.values[1]
        return step if self.values == tuple(range(0, self.size, step)) and self.size % step == 0 else 0

    def every(self) -> str:
        return f"every {self.unit}" if self.step == 1 else f"every {self.step} {self.unit}s"

    def every_nth(self) -> str:
        return f"every {self.unit}" if self.step == 1 else f"every {ordinal(self.step)} {self.unit}"

    def named(self) -> str:
        return f"{self.unit}{'s' * (len(self.values) > 1)} {ranges(self.values)}"


def _many_times(times: Times) -> str:
    second, minute = _Level("second", times.seconds, 60), _Level("minute", times.minutes, 60)
    hour = _Level("hour", times.hours, 24)
    if second.values != (0,):
        return _from_finest(second, minute, hour)
    on_the_hour = minute.values == (0,) and hour.step
    return _from_finest(hour) if on_the_hour else _from_finest(minute, hour)


def _from_finest(finest: _Level, *coarser: _Level) -> str:
    """Every 10 seconds of hour 3; at second 5 of every minute; at minutes 0 and 30 of hours 9-17."""
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
        words.append(f"day{'s' * (len(month_days.days) > 1)} {ranges(month_days.days)}")
    words += [_before_last(back) for back in month_days.before_last]
    words += [f"the working day nearest day {day}" for day in month_days.workdays]
    words += [_workday_before_last(back) for back in month_days.workdays_before_last]
    return f"{listed(words)} of the month"


def _before_last(back: int) -> str:
    return f"the day {back} day{'s' * (back > 1)} before the last" if back else "the last day"


def _workday_before_last(back: int) -> str:
    return f"the working day nearest {_before_last(back)}" if back else "the last working day"


def _week_days(week_days: WeekDays) -> str:
    # People's weeks begin on Monday, cron's on Sunday.
    from_monday = sorted((day - 1) % 7 for day in week_days.days)
    words = [ranges(from_monday, _WEEKDAYS.__getitem__, " to ")] if from_monday else []
    for day, which in week_days.nth:
        words.append(f"the {'last' if which == LAST else ordinal(which)} {_WEEKDAYS[day - 1]}")
    return f"{listed(words)} of the month" if week_days.nth else listed(words)


def _months(months: tuple[int, ...]) -> str:
    return "" if len(months) == len(_MONTHS) else f"in {ranges(months, lambda month: _MONTHS[month - 1], ' to ')}"


def _years(years: tuple[int, ...] | None) -> str:
    return "" if years is None else f"in {ranges(years)}"
