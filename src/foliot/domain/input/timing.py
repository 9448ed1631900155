"""From the words people use for times to the numbers used inside."""

import re
from datetime import datetime, timedelta
from typing import Any, Final

from foliot.domain.instant import LATEST, SECOND, Instant, Millis, from_datetime, from_timedelta
from foliot.errors import InvalidInput, shown

Moment = datetime | str
"""An aware datetime, or ISO 8601 text with an offset."""
Span = timedelta | float
"""A timedelta, or a number of seconds."""

_SPAN_PART: Final = re.compile(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*(ms|[smhdw])\s*", re.ASCII)
_UNITS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
LARGEST_NUMBER: Final = 1e300
"""Above it, a whole number may be none that can be reckoned with as a fraction."""
_EXAMPLE: Final = 'Use ISO 8601 with an offset, such as "2026-01-01T09:00:00Z".'


def instant(value: Moment, field: str) -> Instant:
    """Read a moment. A time without an offset names no moment and is refused."""
    moment = _parse(value, field) if isinstance(value, str) else value
    if not isinstance(moment, datetime):
        raise InvalidInput(
            f"{field} must be a datetime or ISO 8601 text, not {type(value).__name__}", hint=_EXAMPLE, field=field
        )
    if moment.utcoffset() is None:
        raise InvalidInput(
            f"{field} {moment.isoformat()} has no timezone",
            hint='Add an offset, such as "2026-01-01T09:00:00+01:00", or tzinfo to the datetime.',
            field=field,
        )
    result = from_datetime(moment)
    if not 0 <= result <= LATEST:
        raise InvalidInput(
            f"{field} {moment.isoformat()} is not between 1970 and 9999",
            hint="Check the year; leave the field out for no bound.",
            field=field,
        )
    return result


def optional_instant(value: Moment | None, field: str) -> Instant | None:
    return None if value is None else instant(value, field)


def millis(value: Span, field: str) -> Millis:
    """Read a span of time."""
    if isinstance(value, timedelta):
        return from_timedelta(value)
    seconds = number(value, field)
    if not -1e12 < seconds < 1e12:
        raise InvalidInput(
            f"{field} {shown(value)} is not a usable number of seconds",
            hint="Use less than 1000000000000; milliseconds have to be divided by 1000.",
            field=field,
        )
    return Millis(round(seconds * SECOND))


def span_in_words(text: str) -> timedelta | None:
    """A length of time as people write it: 90s, 1.5h, 1h30m. None if it is none; at most the longest there is."""
    parts: dict[str, float] = {}
    at = 0
    while (found := _SPAN_PART.match(text, at)) and found[2] not in parts:
        parts[found[2]] = float(found[1])
        at = found.end()
    if not parts or at < len(text):
        return None
    try:
        return timedelta(milliseconds=round(sum(amount * _UNITS[unit] for unit, amount in parts.items())))
    except OverflowError:
        return timedelta.max


def number(value: Any, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(
            f"{field} must be a number, not {type(value).__name__}", hint="Give an int or a float.", field=field
        )
    if not -LARGEST_NUMBER < value < LARGEST_NUMBER:
        raise InvalidInput(
            f"{field} must be a finite number of usable size, not {shown(value)}",
            hint="Leave the field out where there is to be no limit.",
            field=field,
        )
    return value


def _parse(text: str, field: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"{field} {text[:64]!a} is not a time",
            hint=_EXAMPLE,
            field=field,
        ) from None
