"""The requests port: answers to requests with an idempotency key."""

from typing import Protocol

from foliot.domain.access.request import Begun, RequestKey, StoredAnswer
from foliot.domain.instant import Instant


class Requests(Protocol):
    """What a request changes is committed before its answer, so a crash between the two leaves a request without an
    answer. After `TAKEOVER_AFTER` a repeated request is carried out again. It gets the same `resource_id`: a run that
    is created with that id again is the same run. Requests that create no run can be repeated: a run is cancelled, a
    schedule paused, a definition stored only once. Only the answer of the second one may differ. Commands that create
    a run without taking an id (retry, rerun, mark) may create a second one."""

    async def begin(self, key: RequestKey, digest: bytes, resource_id: str, *, at: Instant | None = None) -> Begun:
        """Begin a request, or return what is known of the first one with its key.

        `digest` identifies method, path and body: the same key with another digest is a conflict. `resource_id` is used
        only if the key is new. Of concurrent calls with one key, one begins the request.
        """
        ...

    async def complete(self, key: RequestKey, answer: StoredAnswer) -> None:
        """Store the answer of a request that was begun. It is kept for a day after the beginning."""
        ...

    async def abandon(self, key: RequestKey) -> None:
        """Forget a request that was begun and has no answer: it changed nothing, and may be repeated at once."""
        ...
