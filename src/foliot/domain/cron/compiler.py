"""The compiler: turns the text of an expression into a compiled object."""

import re
from datetime import datetime
from functools import lru_cache
from typing import Final, Literal, NamedTuple, Self, get_args

from foliot.domain.cron import parser
from foliot.domain.cron.compiled import Cron, Manual, Reboot, Recipe
from foliot.domain.cron.days import Days, days
from foliot.domain.cron.fields import HOUR, MINUTE, MONTH, SECOND, YEAR, is_star, values
from foliot.domain.cron.interval import Interval, read_period
from foliot.domain.cron.moments import ceil
from foliot.domain.cron.monthdays import ANY_DAY, month_days
from foliot.domain.cron.pattern import DAY, Pattern
from foliot.domain.cron.span import Span
from foliot.domain.cron.times import Times, times
from foliot.domain.cron.wallclock import WallClock
from foliot.domain.cron.weekdays import ANY_WEEKDAY, week_days
from foliot.domain.cron.years import year
from foliot.domain.cron.zones import Zone, zone
from foliot.errors import InvalidCron, InvalidInput, InvalidTimezone

Dst = Literal["vixie", "skip", "literal"]
DomDow = Literal["or", "and"]

_DST: Final = get_args(Dst)
_DOM_DOW: Final = get_args(DomDow)
_HASHED: Final = re.compile(r"(?<![^ \t,])[Hh]")
EITHER_DAY: Final = (
    "day-of-month and day-of-week are both restricted: a day matches when either of them does"
    ' (dom_dow = "and" requires both)'
)


def compile(  # noqa: A001 - read as cron.compile, like re.compile
    expr: str,
    tz: str | None = None,
    *,
    dst: Dst = "vixie",
    dom_dow: DomDow = "or",
    key: str | None = None,
    anchor: datetime | None = None,
) -> Cron:
    """Compile an expression. Raise InvalidCron, with the position of the error, if it is not valid.

    `tz` is the timezone; the default is UTC, unless the expression names one. `key` is what `H` is hashed from,
    `anchor` the moment from which `@every` counts. Equal calls return the same object.
    """
    _check_text(expr, tz=tz, key=key)
    _check_kind("dst", dst, _DST)
    _check_kind("dom_dow", dom_dow, _DOM_DOW)
    start = 0 if anchor is None else ceil(anchor)
    # Arguments that the expression does not use are dropped, so that equal schedules share one object.
    key = key if is_hashed(expr) else None
    start = start if start and parser.EVERY in expr.lower() else 0
    return _compile(expr, tz, dst, dom_dow, key, start)


def zone_of(expr: str) -> str:
    """Return the zone that the expression itself names, else UTC. Its fields are not checked."""
    return _zone(parser.read(expr).zone, None).name


def is_hashed(expr: str) -> bool:
    """Return whether the expression depends on its key: an item of one of its fields begins with H."""
    return ("H" in expr or "h" in expr) and _HASHED.search(expr) is not None


@lru_cache(maxsize=8_192)
def _compile(expression: str, tz: str | None, dst: Dst, dom_dow: DomDow, key: str | None, anchor: int) -> Cron:
    made = _make(expression, tz, dst, dom_dow, key, anchor)
    made.remember(Recipe(_compile, (expression, tz, dst, dom_dow, key, anchor)))
    return made


def _make(expression: str, tz: str | None, dst: Dst, dom_dow: DomDow, key: str | None, anchor: int) -> Cron:
    _check_choice("dst", dst, _DST)
    _check_choice("dom_dow", dom_dow, _DOM_DOW)
    words = parser.read(expression)
    place = _zone(words.zone, tz)
    if words.macro == parser.EVERY:
        return Interval(expression, place, read_period(words.fields[0]), anchor)
    if words.macro == parser.REBOOT:
        return Reboot(expression, place)
    if words.macro:
        return Manual(expression, place)
    return _wall_clock(expression, place, _Columns.of(words.fields), dst, dom_dow, key)


def _check_text(expr: object, **others: object) -> None:
    if not isinstance(expr, str):
        raise InvalidCron(
            f"an expression must be text, not {type(expr).__name__}",
            expression="",
            hint='Write it in quotes: "0 3 * * *".',
        )
    for name, value in others.items():
        if value is not None and not isinstance(value, str):
            raise InvalidInput(
                f"{name} must be text, not {type(value).__name__}", hint="Give its name in quotes.", field=name
            )


def _check_kind(name: str, choice: object, choices: tuple[str, ...]) -> None:
    if not isinstance(choice, str):
        kind = None if choice is None else type(choice).__name__
        raise InvalidInput(f"{name} must be text, not {kind}", hint=_choose(choices), field=name)


def _check_choice(name: str, choice: str, choices: tuple[str, ...]) -> None:
    if choice not in choices:
        raise InvalidInput(f"{name} {choice[:32]!a} does not exist", hint=_choose(choices), field=name)


def _choose(choices: tuple[str, ...]) -> str:
    return f"Choose one of {', '.join(choices)}."


def _zone(written: Span | None, tz: str | None) -> Zone:
    if written is None:
        return zone("UTC" if tz is None else tz)
    if tz is not None and tz != written.text:
        raise written.fault(
            f"the expression names the zone {written}, but the timezone is {tz[:64]!a}",
            "Name the zone in one place, or the same zone in both.",
        )
    try:
        return zone(written.text)
    except InvalidTimezone as error:
        raise written.fault(error.message, error.hint) from None


class _Columns(NamedTuple):
    """The fields by name."""

    second: Span | None
    minute: Span
    hour: Span
    month_day: Span
    month: Span
    week_day: Span
    year: Span | None

    @classmethod
    def of(cls, fields: list[Span]) -> Self:
        second = fields[0] if len(fields) > 5 else None
        minute, hour, month_day, month, week_day, *year = fields[1:] if second else fields
        return cls(second, minute, hour, month_day, month, week_day, year[0] if year else None)

    def is_wildcard(self) -> bool:
        """Return whether it is a wildcard expression, which follows elapsed time across clock changes. As in Vixie
        cron, the text decides."""
        return is_star(self.minute.text) or is_star(self.hour.text) or bool(self.second and is_star(self.second.text))

    def restricts_both_days(self) -> bool:
        return not is_star(self.month_day.text) and not is_star(self.week_day.text)


def _wall_clock(
    expression: str, place: Zone, columns: _Columns, dst: Dst, dom_dow: DomDow, key: str | None
) -> WallClock:
    either = columns.restricts_both_days() and dom_dow == "or"
    times_of_day = _times(columns, key)
    pattern = Pattern(_days(columns, key, either), times_of_day)
    if columns.year is not None:
        _check_in_time(pattern, place, columns.year)
    fixed = not columns.is_wildcard()
    return WallClock(
        expression,
        place,
        pattern,
        catches_up=fixed and dst == "vixie",
        first_pass_only=fixed and dst != "literal",
        warnings=(EITHER_DAY,) if either else (),
    )


def _times(columns: _Columns, key: str | None) -> Times:
    second = (0,) if columns.second is None else values(columns.second, SECOND, key)
    return times(second, values(columns.minute, MINUTE, key), values(columns.hour, HOUR, key))


def _days(columns: _Columns, key: str | None, either: bool) -> Days:
    by_month = month_days(columns.month_day, key)
    months = values(columns.month, MONTH, key)
    by_week = week_days(columns.week_day, key)
    years = None if columns.year is None or columns.year.text in {"*", "?"} else values(columns.year, YEAR, key)
    if either and (by_month == ANY_DAY or by_week == ANY_WEEKDAY):
        by_month, by_week, either = ANY_DAY, ANY_WEEKDAY, False
    rule = days(by_month, months, by_week, years, either)
    if not rule.can_match():
        raise _never(columns, is_for_the_years=days(by_month, months, by_week, None, either).can_match())
    return rule


def _never(columns: _Columns, *, is_for_the_years: bool) -> InvalidCron:
    if is_for_the_years and columns.year is not None:
        return columns.year.fault(
            f"the expression never matches: no year of {columns.year} has such a day",
            "Check the year against the day and the month: 29 February exists in leap years only.",
        )
    return columns.month_day.fault(
        "the expression never matches: no month has such a day",
        "Check the day-of-month against the month and the day-of-week.",
    )


def _check_in_time(pattern: Pattern, place: Zone, years: Span) -> None:
    """Refuse an expression that matches only after the last supported moment: west of Greenwich, the last evening of
    9999 is in the year 10000 in UTC."""
    numbers = pattern.days.years
    if numbers is None or numbers[0] != YEAR.high:
        return
    last_reading = place.last + place.segment(place.last).offset
    if pattern.first(year(YEAR.high).start * DAY) > last_reading:
        raise years.fault(
            "the expression never matches: in UTC it is the year 10000 by then",
            "The last moment is 9999-12-31 23:59:59 UTC.",
        )
