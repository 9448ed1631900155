"""Requests that a client may repeat with the same idempotency key."""

import hashlib

from foliot.domain.access.request import Begun, RequestKey, StoredAnswer, check_request_key
from foliot.domain.ids import IdSource
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage


class RequestService:
    """Carries out each request with an idempotency key once. The principal is the actor of the services.

    See `ports.requests.Requests` for what a crash between a change and its answer means.
    """

    def __init__(self, storage: Storage, clock: Clock, ids: IdSource) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids

    async def begin(self, key: str, method: str, path: str, body: bytes) -> Begun:
        """Begin a request, or return the answer, the progress or the conflict of the first one with its key.

        A run that the request creates gets the id of `NewRequest.resource_id` (`RunRequest.run_id`).
        """
        digest = hashlib.sha256(b"\0".join((method.encode(), path.encode(), body))).digest()
        return await self._storage.requests.begin(self._key(key), digest, self._ids.make(self._clock.now()))

    async def complete(self, key: str, answer: StoredAnswer) -> None:
        """Store the answer."""
        await self._storage.requests.complete(self._key(key), answer)

    async def abandon(self, key: str) -> None:
        """Forget a request that failed without a change, so that it can be repeated at once."""
        await self._storage.requests.abandon(self._key(key))

    def _key(self, key: str) -> RequestKey:
        return RequestKey(str(self._storage.actor), check_request_key(key))
