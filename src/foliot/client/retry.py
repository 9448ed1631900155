"""When a request is sent again, and how long the client waits before."""

from collections.abc import Mapping
from http import HTTPStatus
from random import random
from typing import Final

FIRST_PAUSE: Final = 0.25
LONGEST_PAUSE: Final = 5.0
LONGEST_RETRY_AFTER: Final = 30.0
"""A server that asks for a longer pause gets no further request: the error is raised at once."""
_LATER: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
IN_PROGRESS: Final = "idempotency_in_progress"
"""The first request with this Idempotency-Key has no answer yet: its connection was lost, and it is being handled."""


def pause_after(failures: int) -> float:
    """Return the seconds before the next request after so many failures in a row: doubled each time, and varied, so
    that clients of a server that was restarted do not return at the same moment."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (failures - 1)) * (0.75 + random() / 2)  # noqa: S311 - not for secrets


def retry_pause(status: int, code: str, headers: Mapping[str, str], failures: int) -> float | None:
    """Return the seconds before a request is sent again, or None if its answer is final."""
    if status not in _LATER and code != IN_PROGRESS:
        return None
    asked = headers.get("Retry-After", "").strip()
    if not asked.isdecimal():
        return pause_after(failures)
    seconds = float(asked[:9])
    return None if seconds > LONGEST_RETRY_AFTER else max(seconds, FIRST_PAUSE)
