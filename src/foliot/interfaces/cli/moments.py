"""Moments and spans as people type them: 24h, 7d, 90s, or ISO 8601."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from foliot.domain.input.timing import span_in_words
from foliot.errors import InvalidInput

_NUMBER: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,3})?")
_EXAMPLE: Final = 'Use ISO 8601, such as "2026-01-31T08:00Z".'
_AGO_EXAMPLE: Final = 'Use "24h", "7d" or "2026-01-31T08:00Z".'


def read_ago(text: str, now: datetime) -> datetime:
    """A moment in the past: `90m`, `24h`, `7d` before now, or ISO 8601."""
    length = _span(text)
    if length is None:
        return read_moment(text, hint=_AGO_EXAMPLE)
    try:
        return now - length
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def read_moment(text: str, *, hint: str = _EXAMPLE) -> datetime:
    """ISO 8601, in UTC unless it says otherwise."""
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(f"{text[:64]!a} is not a time", hint=hint) from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def read_span(text: str) -> timedelta:
    """A length of time: 90, 90s, 1.5h, 1h30m, 7d. A number alone is seconds."""
    length = _span(text)
    if length is None:
        raise InvalidInput(f"{text[:64]!a} is not a length of time", hint='Use "90s", "15m", "24h" or "7d".')
    return length


def _span(text: str) -> timedelta | None:
    is_number = _NUMBER.fullmatch(text.strip()) is not None
    return span_in_words(f"{text}s" if is_number else text)
