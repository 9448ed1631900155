"""Rows of requests with an idempotency key, the same for every database."""

from collections.abc import Sequence
from typing import Any

from foliot.domain.access.request import Begun, KeyReused, RequestInProgress, StoredAnswer


def begun_of(row: Sequence[Any] | None, digest: bytes) -> Begun:
    """Return what is known of a request from the columns digest, status and body."""
    if row is None:
        return RequestInProgress()
    stored, status, body = row
    if bytes(stored) != digest:
        return KeyReused()
    return RequestInProgress() if status is None else StoredAnswer(status, bytes(body))
