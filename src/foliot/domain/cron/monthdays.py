"""The day-of-month field, and the days of a month that it matches, by the month's length and first weekday.

    15      the 15th               L      the last day           15W    the working day nearest to the 15th
    10-20   a range                L-3    three days before it   LW     the last working day
                                                                 L-3W   the working day nearest to L-3

A working day is Monday to Friday. The nearest one is searched in the same month only.
"""

import re
from typing import Final, NamedTuple

from foliot.domain.cron.fields import DAY_OF_MONTH, items, number, numbers
from foliot.domain.cron.span import Span

_FROM_LAST: Final = re.compile(r"[Ll](?:-([0-9]+))?([Ww])?")
_PIECE: Final = re.compile(r"[^-/]+")
_SPECIAL: Final = re.compile(r"[Ll][Ww]?|[0-9]+[Ww]")
_SUNDAY: Final = 0
_SATURDAY: Final = 6
_FURTHEST: Final = 30


class MonthDays(NamedTuple):
    """A day-of-month field as plain values, so that equal fields are equal and share the rules built from them."""

    days: tuple[int, ...] = ()
    before_last: tuple[int, ...] = ()
    workdays: tuple[int, ...] = ()
    workdays_before_last: tuple[int, ...] = ()

    def bits(self, length: int, first: int) -> int:
        """Return the days of a month of `length` days that starts on weekday `first`, as bits 1 to 31."""
        found = 0
        for day in self.days:
            found |= 1 << day
        for back in self.before_last:
            if back < length:
                found |= 1 << (length - back)
        for day in (*self.workdays, *(length - back for back in self.workdays_before_last)):
            if 1 <= day <= length:
                found |= 1 << _nearest_workday(day, length, first)
        return found & ((2 << length) - 2)


ANY_DAY: Final = MonthDays(tuple(DAY_OF_MONTH.every))


def _nearest_workday(day: int, length: int, first: int) -> int:
    weekday = (first + day - 1) % 7
    if weekday == _SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == _SUNDAY:
        return day + 1 if day < length else day - 2
    return day


def month_days(text: Span, key: str | None) -> MonthDays:
    """Return the parsed day-of-month field."""
    if text.text in {"*", "?"}:
        return ANY_DAY
    days, before_last, workdays, workdays_before_last = parts = [set[int]() for _ in range(4)]
    for item in items(text, DAY_OF_MONTH):
        if from_last := _FROM_LAST.fullmatch(item.text):
            back = _distance(item, from_last[1])
            (workdays_before_last if from_last[2] else before_last).add(back)
        elif item.text[-1] in "Ww" and len(item.text) > 1:
            workdays.add(_workday(item))
        else:
            _check_pieces(item)
            days.update(numbers(item, DAY_OF_MONTH, key))
    return MonthDays(*(tuple(sorted(part)) for part in parts))


def _distance(item: Span, written: str | None) -> int:
    back = int(written or 0)
    if back > _FURTHEST:
        raise item.cut(2).fault(f"{item} is before the first day of every month", f"Write L-1 to L-{_FURTHEST}.")
    return back


def _workday(item: Span) -> int:
    day = item.cut(0, -1)
    if not day.text.isdigit():
        raise item.fault(
            f"{item} is not a day-of-month", "W follows one day: write 15W, LW or L-3W, and lists as 1W,15W."
        )
    return number(day, DAY_OF_MONTH)


def _check_pieces(item: Span) -> None:
    """Refuse L and W in a range or with a step: other programs disagree on their meaning."""
    for piece in _PIECE.finditer(item.text):
        if piece[0] != item.text and _SPECIAL.fullmatch(piece[0]):
            part = item.cut(*piece.span())
            raise part.fault(
                f"{part} cannot be used in a range or with a step",
                "Write L, L-3, LW or 15W, lists of them as 1W,15W,L, and ranges and steps with numbers.",
            )
