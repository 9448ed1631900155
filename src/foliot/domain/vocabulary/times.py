"""How durations and moments are read.

A duration is a number of seconds, text such as "90s" or "1h30m", or a timedelta; inside it is whole milliseconds.
"""

import re
from datetime import datetime, timedelta
from typing import Any, Final

from foliot.domain.instant import LATEST, SECOND, Instant, Millis, from_datetime, from_timedelta, to_iso
from foliot.domain.vocabulary.readers import NEVER, NUMBER_TEXT, Reader, Variable, read_bounded, read_number, wrong
from foliot.errors import InvalidInput

LONGEST: Final = Millis(10**10 * SECOND)
"""The longest duration that can be given."""
_DURATION_PART: Final = re.compile(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*(ms|[smhdw])\s*", re.ASCII)
_UNITS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_DURATIONS: Final = 'Write seconds as a number, or "90s", "15m", "2h", "1d", "1h30m".'
_MOMENTS: Final = 'Use ISO 8601 with an offset, such as "2026-01-01T09:00:00Z", in Python also a datetime.'


def _length(value: Any) -> Millis:
    match value:
        case timedelta():
            return from_timedelta(value)
        case Variable() if NUMBER_TEXT.fullmatch(value):
            return Millis(round(float(value) * SECOND))
        case str():
            return _length_in_words(value)
        case int() | float() if not isinstance(value, bool):
            return Millis(round(read_number(value) * SECOND))
        case _:
            raise wrong(value, "a duration", _DURATIONS)


def _length_in_words(text: str) -> Millis:
    length = duration_in_words(text)
    if length is None:
        raise wrong(text, "a duration", _DURATIONS)
    return length


def duration_in_words(text: str) -> Millis | None:
    """Read a duration such as 90s, 1.5h or 1h30m. Return None if the text is no duration."""
    parts: dict[str, float] = {}
    at = 0
    while (found := _DURATION_PART.match(text, at)) and found[2] not in parts:
        parts[found[2]] = float(found[1])
        at = found.end()
    if not parts or at < len(text):
        return None
    return Millis(round(sum(amount * _UNITS[unit] for unit, amount in parts.items())))


def _written(length: Millis) -> int | float:
    return length // SECOND if length % SECOND == 0 else length / SECOND


def duration(least: float, most: float) -> Reader:
    """Return a reader of durations within bounds, which are given in seconds."""

    def read(value: Any) -> Millis:
        found = _length(value)
        if not least * SECOND <= found <= most * SECOND:
            message = f"must be {least:.12g} to {most:.12g} seconds, not {found / SECOND:.12g}"
            raise InvalidInput(message, hint=_DURATIONS)
        return found

    return Reader("duration", read, _written)


DURATION: Final = duration(0, LONGEST / SECOND)


def seconds(least: float, most: float) -> Reader:
    """Return a reader of durations that are kept as a number of seconds."""
    bounded = duration(least, most)
    return Reader("duration", lambda value: bounded.read(value) / SECOND)


def whole_seconds(least: int, most: int) -> Reader:
    """Return a reader of durations that are kept as a whole number of seconds."""
    bounded = duration(least, most)

    def read(value: Any) -> int:
        length: Millis = bounded.read(value)
        if length % SECOND:
            raise InvalidInput(f"must be a whole number of seconds, not {length / SECOND:g}", hint=_DURATIONS)
        return length // SECOND

    return Reader("duration", read)


def in_millis(reader: Reader) -> Reader:
    """Return the same reader of durations for an option whose name says that a number is milliseconds."""

    def read(value: Any) -> Any:
        is_number = isinstance(value, int | float) or (isinstance(value, Variable) and NUMBER_TEXT.fullmatch(value))
        return reader.read(timedelta(milliseconds=read_bounded(value, -LONGEST, LONGEST)) if is_number else value)

    return Reader("whole number of milliseconds", read)


def _every(value: Any) -> Millis:
    length: Millis = DURATION.read(value)
    if length < SECOND or length % SECOND:
        hint = "For more than one run a second, let one run do several things."
        raise InvalidInput(f"must be a whole number of seconds, at least 1, not {length / SECOND:g}", hint=hint)
    return length


def _age(value: Any) -> Millis | None:
    """Return the duration after which something is deleted; None means never."""
    if isinstance(value, str) and value.strip() == NEVER:
        return None
    return DURATION.read(value) or None


def _moment(value: Any) -> Instant:
    moment = _parsed(value) if isinstance(value, str) else value
    if not isinstance(moment, datetime):
        raise wrong(moment, "a moment", _MOMENTS)
    if moment.utcoffset() is None:
        hint = 'Add an offset, such as "2026-01-01T09:00:00+01:00", or tzinfo to the datetime.'
        raise InvalidInput(f"{moment.isoformat()} has no timezone", hint=hint)
    result = from_datetime(moment)
    if not 0 <= result <= LATEST:
        hint = "Check the year; leave the option out for no bound."
        raise InvalidInput(f"{moment.isoformat()} is not between 1970 and 9999", hint=hint)
    return result


def _parsed(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{text[:64]!a} is not a time", hint=_MOMENTS) from None


EVERY: Final = Reader("duration", _every, _written)
AGE: Final = Reader('duration or "never"', _age)
MOMENT: Final = Reader("moment", _moment, to_iso)
