"""Aware datetimes as whole epoch seconds. Naive ones name no moment and are refused."""

from datetime import UTC, datetime
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400


def floor(moment: datetime) -> int:
    """The last whole second that is not after the moment."""
    try:
        since = moment - EPOCH
    except TypeError:
        raise _no_moment(moment) from None
    return since.days * _DAY + since.seconds


def ceil(moment: datetime) -> int:
    """The first whole second that is not before the moment."""
    try:
        # Not EPOCH - moment: that has an answer for a timedelta, too.
        since = moment - EPOCH
    except TypeError:
        raise _no_moment(moment) from None
    return since.days * _DAY + since.seconds + (since.microseconds > 0)


def _no_moment(value: object) -> Exception:
    if isinstance(value, datetime):
        return ValueError(f"{value!r} has no timezone: give it one, such as tzinfo=UTC")
    return TypeError(f"{value!r} is not a datetime")
