"""Aware datetimes as whole epoch seconds. Naive datetimes are refused."""

from datetime import UTC, datetime
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400


def floor(moment: datetime) -> int:
    """Return the moment, rounded down to whole seconds."""
    try:
        since = moment - EPOCH
    except TypeError:
        raise _not_a_moment(moment) from None
    return since.days * _DAY + since.seconds


def ceil(moment: datetime) -> int:
    """Return the moment, rounded up to whole seconds."""
    try:
        # Not EPOCH - moment: that would accept a timedelta.
        since = moment - EPOCH
    except TypeError:
        raise _not_a_moment(moment) from None
    return since.days * _DAY + since.seconds + (since.microseconds > 0)


def _not_a_moment(value: object) -> Exception:
    if isinstance(value, datetime):
        return ValueError(f"{value!r} has no timezone: give it one, such as tzinfo=UTC")
    return TypeError(f"{value!r} is not a datetime")
