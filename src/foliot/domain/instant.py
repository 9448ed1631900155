"""Moments and durations, as whole milliseconds.

Inside Foliot a moment is the number of milliseconds since 1970 in UTC, and a duration is a number of milliseconds:
exact, cheap to compare, and the same number in every database. Aware datetimes and timedeltas are used only in
interfaces.
"""

from datetime import UTC, datetime, timedelta
from typing import Final, NewType

Instant = NewType("Instant", int)
Millis = NewType("Millis", int)

SECOND: Final = Millis(1_000)
MINUTE: Final = Millis(60_000)
HOUR: Final = Millis(3_600_000)
DAY: Final = Millis(86_400_000)

EARLIEST: Final = Instant(-62_135_596_800_000)
"""The first moment of the year 1, the first that datetime supports."""
LATEST: Final = Instant(253_402_300_799_000)
"""The last second of the year 9999, the last that datetime supports."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def from_datetime(moment: datetime) -> Instant:
    """Return an aware datetime as whole milliseconds, rounded down. Raise ValueError if it has no timezone."""
    if moment.utcoffset() is None:
        raise ValueError(f"{moment!r} has no timezone")
    return Instant((moment - _EPOCH) // _MILLISECOND)


def to_datetime(instant: Instant) -> datetime:
    return _EPOCH + timedelta(milliseconds=instant)


def to_iso(instant: Instant) -> str:
    """Return 2026-01-01T00:00:00Z, with milliseconds only if they are not 0."""
    timespec = "milliseconds" if instant % SECOND else "seconds"
    return to_datetime(instant).isoformat(timespec=timespec).replace("+00:00", "Z")


def from_timedelta(span: timedelta) -> Millis:
    return Millis(span // _MILLISECOND)


def later(instant: Instant, span: Millis | int) -> Instant:
    return Instant(instant + span)


def ceil_second(instant: Instant) -> Instant:
    """Return `instant`, rounded up to a whole second."""
    return Instant(-(-instant // SECOND) * SECOND)
