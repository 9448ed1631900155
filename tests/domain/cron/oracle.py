"""An independent, slow and simple computation of the fires of an expression.

It shares no code with the product: it has its own parser, goes through local time as given by `zoneinfo`, second by
second or minute by minute, and tests whether each moment matches.

    fires("30 2 * * *", "Europe/Berlin", start_epoch, end_epoch)  ->  [epoch, ...]   both ends included

It supports 5, 6 and 7 fields, lists, ranges (also wrapped), steps, names, `?`, L, L-3, LW, L-3W, 15W, 5L, L5, FRI#L,
5#2, the macros that expand to fields, and H. It assumes a valid expression.
"""

import calendar
import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
    "@every_minute": "* * * * *",
    "@every_second": "* * * * * *",
}
NAMES = {
    "day-of-week": ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
    "month": ["", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
}
LIMITS = {
    "second": (0, 59),
    "minute": (0, 59),
    "hour": (0, 23),
    "day-of-month": (1, 31),
    "month": (1, 12),
    "day-of-week": (0, 6),
    "year": (1970, 9999),
}
THREE_HOURS = timedelta(hours=3)


def fires(
    expr: str,
    tz: str,
    start_epoch: int,
    end_epoch: int,
    dst: str = "vixie",
    dom_dow: str = "or",
    key: str | None = None,
) -> list[int]:
    """Return every fire from `start_epoch` to `end_epoch`, both included, in order."""
    rule = Rule.read(expr, dom_dow, key)
    clock = load_zone(tz)
    fixed = not rule.wildcard and dst != "literal"
    found = set()
    for epoch in candidates(rule, clock, start_epoch, end_epoch):
        reading = at(epoch, clock)
        if fixed and dst == "vixie" and any(map(rule.matches, skipped_before(epoch, clock))):
            found.add(epoch)
        if rule.matches(reading) and not (fixed and is_second_pass(reading)):
            found.add(epoch)
    return sorted(found)


def candidates(rule: "Rule", clock: ZoneInfo, start: int, end: int) -> Iterator[int]:
    """Yield the moments to test: every second of each quarter of an hour that may contain a fire."""
    for quarter in range(start - start % 900, end + 1, 900):
        seconds = range(max(start, quarter), min(end, quarter + 899) + 1)
        opening, closing = at(quarter, clock), at(quarter + 899, clock)
        changed = at(quarter - 1, clock).utcoffset() != closing.utcoffset()
        if changed:
            yield from seconds
        elif any(rule.day_matches(moment.date()) and moment.hour in rule.hours for moment in (opening, closing)):
            ahead = opening.second - quarter % 60  # seconds of local time ahead of UTC; not 0 in some old zones
            yield from (epoch for epoch in seconds if (epoch + ahead) % 60 in rule.seconds)


def at(epoch: int, clock: ZoneInfo) -> datetime:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=epoch)).astimezone(clock)


def is_second_pass(reading: datetime) -> bool:
    """Return whether the clock showed this reading before and was then put back by less than three hours."""
    first, second = reading.replace(fold=0).utcoffset(), reading.utcoffset()
    assert first is not None
    assert second is not None
    return reading.fold == 1 and first - second < THREE_HOURS


def skipped_before(epoch: int, clock: ZoneInfo) -> Iterator[datetime]:
    """Return the readings that the clock skipped at this moment, if it was less than three hours."""
    before = at(epoch - 1, clock).replace(tzinfo=None) + timedelta(seconds=1)
    after = at(epoch, clock).replace(tzinfo=None)
    if before < after < before + THREE_HOURS:
        for second in range((after - before) // timedelta(seconds=1)):
            yield before + timedelta(seconds=second)


@cache
def load_zone(name: str) -> ZoneInfo:
    """Return the zone from the tzdata package: the operating system may have a different release."""
    data = files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
    return ZoneInfo.from_file(io.BytesIO(data), key=name)


@dataclass
class Rule:
    seconds: set[int]
    minutes: set[int]
    hours: set[int]
    months: set[int]
    years: set[int]
    on_month_day: Callable[[date], bool]
    on_week_day: Callable[[date], bool]
    either: bool
    wildcard: bool

    @classmethod
    def read(cls, expr: str, dom_dow: str, key: str | None) -> "Rule":
        parts = MACROS.get(expr.strip().lower(), expr).upper().replace("?", "*").split()
        seconds = parts.pop(0) if len(parts) > 5 else "0"
        minutes, hours, month_day, months, week_day, *years = parts
        starred = month_day.startswith("*") or week_day.startswith("*")
        return cls(
            seconds=plain(seconds, "second", key),
            minutes=plain(minutes, "minute", key),
            hours=plain(hours, "hour", key),
            months=plain(months, "month", key),
            years=plain(years[0] if years else "*", "year", key),
            on_month_day=any_of([month_day_item(item, key) for item in month_day.split(",")]),
            on_week_day=any_of([week_day_item(item, key) for item in week_day.split(",")]),
            either=dom_dow == "or" and not starred,
            wildcard=any(field.startswith("*") for field in (seconds, minutes, hours)),
        )

    def matches(self, reading: datetime) -> bool:
        on_time = reading.second in self.seconds and reading.minute in self.minutes and reading.hour in self.hours
        return on_time and self.day_matches(reading.date())

    def day_matches(self, day: date) -> bool:
        if day.month not in self.months or (day.year not in self.years and len(self.years) < 8_000):
            return False
        by_month, by_week = self.on_month_day(day), self.on_week_day(day)
        return by_month or by_week if self.either else by_month and by_week


def any_of(tests: list[Callable[[date], bool]]) -> Callable[[date], bool]:
    return lambda day: any(test(day) for test in tests)


def month_day_item(item: str, key: str | None) -> Callable[[date], bool]:
    if item.startswith("L"):
        back = int(item.strip("LW").lstrip("-") or 0)
        if item.endswith("W"):
            return lambda day: day.day == nearest_workday(day, last_of_month(day) - back)
        return lambda day: day.day == last_of_month(day) - back
    if item.endswith("W"):
        return lambda day: day.day == nearest_workday(day, int(item[:-1]))
    days = plain(item, "day-of-month", key)
    return lambda day: day.day in days


def week_day_item(item: str, key: str | None) -> Callable[[date], bool]:
    if "#" in item and not item.endswith("#L"):
        base, which = item.split("#")
        days = plain(base, "day-of-week", key)
        return lambda day: day.isoweekday() % 7 in days and (day.day + 6) // 7 == int(which)
    if "L" in item:
        days = plain(item.strip("L").rstrip("#"), "day-of-week", key)
        return lambda day: day.isoweekday() % 7 in days and day.day + 7 > last_of_month(day)
    days = plain(item, "day-of-week", key)
    return lambda day: day.isoweekday() % 7 in days


def last_of_month(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def nearest_workday(day: date, wanted: int) -> int:
    """Return the nearest working day of the same month, or 0 if the month has no such day."""
    if not 1 <= wanted <= last_of_month(day):
        return 0
    days = [number for number in range(1, last_of_month(day) + 1) if day.replace(day=number).weekday() < 5]
    return min(days, key=lambda number: abs(number - wanted))


def plain(field: str, name: str, key: str | None) -> set[int]:
    """Return the numbers of a field without L, W and #."""
    return {value for item in field.split(",") for value in plain_item(item, name, key)}


def plain_item(item: str, name: str, key: str | None) -> list[int]:
    base, _, step = item.partition("/")
    low, high = LIMITS[name]
    if base.startswith("H"):
        return hashed(base, step, name, key)
    if base == "*":
        chosen = list(range(low, high + 1))
    elif "-" in base:
        first, last = (to_number(text, name) for text in base.split("-"))
        first = 0 if (name, first) == ("day-of-week", 7) and last < 7 else first
        chosen = [first]
        while chosen[-1] != last:
            chosen.append(chosen[-1] + 1 if chosen[-1] < max(high, first, last) else low)
    else:
        first = to_number(base, name) % (high + 1 if name == "day-of-week" else 10_000)
        chosen = list(range(first, high + 1)) if step else [first]
    return [value % 7 if name == "day-of-week" else value for value in chosen[:: int(step or 1)]]


def to_number(text: str, name: str) -> int:
    return int(text) if text.isdigit() else NAMES[name].index(text)


def hashed(base: str, step: str, name: str, key: str | None) -> list[int]:
    low, high = LIMITS[name]
    if name == "day-of-month":
        high = 28
    if base != "H":
        low, high = (to_number(text, name) for text in base[2:-1].split("-"))
    choices = list(range(low, high + 1))
    drawn = int(hashlib.sha256(f"{name}\n{key}".encode()).hexdigest()[:16], 16)
    return choices[drawn % int(step) :: int(step)] if step else [choices[drawn % len(choices)]]
