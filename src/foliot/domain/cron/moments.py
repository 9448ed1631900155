"""Aware datetimes as whole epoch seconds. Naive ones name no moment and are refused."""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)


def floor(moment: datetime) -> int:
    """The last whole second that is not after the moment."""
    return _since_epoch(moment) // _SECOND


def ceil(moment: datetime) -> int:
    """The first whole second that is not before the moment."""
    return -(-_since_epoch(moment) // _SECOND)


def _since_epoch(moment: datetime) -> timedelta:
    if moment.utcoffset() is None:
        raise ValueError(f"{moment!r} has no timezone: give it one, such as tzinfo=UTC")
    return moment - EPOCH
