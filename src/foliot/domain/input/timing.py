"""From the words people use for times to the numbers used inside."""

from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from foliot.domain.instant import LATEST, SECOND, Instant, Millis, from_datetime, from_timedelta
from foliot.errors import InvalidInput

Moment = datetime | str
"""An aware datetime, or ISO 8601 text with an offset."""
Span = timedelta | float
"""A timedelta, or a number of seconds."""


def instant(value: Moment, field: str) -> Instant:
    """Read a moment. A time without an offset names no moment and is refused."""
    moment = _parse(value, field) if isinstance(value, str) else value
    if not isinstance(moment, datetime):
        raise InvalidInput(f"{field} must be a datetime or ISO 8601 text, not {type(value).__name__}", field=field)
    if moment.tzinfo is None:
        raise InvalidInput(
            f"{field} {moment.isoformat()} has no timezone",
            hint='Add an offset, such as "2026-01-01T09:00:00+01:00", or tzinfo to the datetime.',
            field=field,
        )
    result = from_datetime(moment)
    if not 0 <= result <= LATEST:
        raise InvalidInput(f"{field} {moment.isoformat()} is not between 1970 and 9999", field=field)
    return result


def optional_instant(value: Moment | None, field: str) -> Instant | None:
    return None if value is None else instant(value, field)


def millis(value: Span, field: str) -> Millis:
    """Read a span of time."""
    if isinstance(value, timedelta):
        return from_timedelta(value)
    seconds = number(value, field)
    if not -1e12 < seconds < 1e12:
        raise InvalidInput(f"{field} {value!r} is not a usable number of seconds", field=field)
    return Millis(round(seconds * SECOND))


def number(value: Any, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{field} must be a number, not {type(value).__name__}", field=field)
    if not isfinite(value):
        raise InvalidInput(f"{field} must be a finite number, not {value}", field=field)
    return value


def _parse(text: str, field: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"{field} {text[:64]!a} is not a time",
            hint='Use ISO 8601 with an offset, such as "2026-01-01T09:00:00Z".',
            field=field,
        ) from None
