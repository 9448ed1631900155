"""Reads moments and durations that are arguments of a call."""

from datetime import datetime, timedelta

from foliot.domain.instant import Instant, Millis
from foliot.domain.vocabulary.readers import read_named
from foliot.domain.vocabulary.times import DURATION, MOMENT, duration_in_words

Moment = datetime | str
"""An aware datetime, or ISO 8601 text with an offset."""
Span = timedelta | float | str
"""A timedelta, a number of seconds, or text such as "90s" or "1h30m"."""


def instant(value: Moment, name: str) -> Instant:
    """Read a moment. A time without an offset is refused."""
    moment: Instant = read_named(MOMENT, value, name)
    return moment


def optional_instant(value: Moment | None, name: str) -> Instant | None:
    return None if value is None else instant(value, name)


def millis(value: Span, name: str) -> Millis:
    """Read a duration."""
    length: Millis = read_named(DURATION, value, name)
    return length


def span_in_words(text: str) -> timedelta | None:
    """Read a duration such as 90s, 1.5h or 1h30m. Return None for other text; at most the longest timedelta."""
    length = duration_in_words(text)
    if length is None:
        return None
    try:
        return timedelta(milliseconds=length)
    except OverflowError:
        return timedelta.max
