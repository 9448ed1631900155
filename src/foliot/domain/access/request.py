"""Idempotency keys: a client that repeats a request with the same key gets the first answer again."""

from typing import Final, NamedTuple

from foliot.domain.instant import DAY, MINUTE, Millis
from foliot.errors import InvalidInput

KEPT_FOR: Final = Millis(DAY)
"""How long the answer to a request is kept."""
TAKEOVER_AFTER: Final = Millis(MINUTE)
"""A request without an answer for so long was lost: the next one with its key is carried out in its place."""
MAX_KEY: Final = 255


class RequestKey(NamedTuple):
    """The key of a request. Keys of different principals are independent."""

    principal: str
    key: str


class StoredAnswer(NamedTuple):
    """The answer to the first request with this key."""

    status: int
    body: bytes


class NewRequest(NamedTuple):
    """The request is to be carried out now."""

    resource_id: str
    """An id for what the request creates. A request that is carried out again after a crash has the same id, so that
    nothing is created twice."""


class RequestInProgress(NamedTuple):
    """The first request with this key has no answer yet."""


class KeyReused(NamedTuple):
    """The key belongs to another request."""


Begun = StoredAnswer | NewRequest | RequestInProgress | KeyReused


def check_request_key(key: str) -> str:
    """Return an idempotency key. Raise InvalidInput if it is empty, too long or not printable."""
    if not 0 < len(key) <= MAX_KEY or not key.isprintable():
        raise InvalidInput(
            f"an idempotency key has 1 to {MAX_KEY} printable characters",
            hint="Use a random id that is new for each request.",
            field="Idempotency-Key",
        )
    return key
