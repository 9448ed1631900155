"""The part of the storage that keeps workers and their leases. See `ports.storage` for what all verbs promise."""

from collections.abc import Collection
from typing import Protocol

from foliot.domain.ids import Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.lease import Claim, Renewal, Worker, WorkerState


class WorkerStore(Protocol):
    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        """Make a worker known and alive for `ttl`."""
        ...

    async def renew(
        self, worker_id: WorkerId, held: Collection[Token] | None, ttl: Millis, *, at: Instant | None = None
    ) -> Renewal | None:
        """Prolong the life of a worker and of all its leases. None: it had expired, or is not known, and stays so.

        Leases in its name that it does not list are given back, as if never granted; None lists nothing and gives
        nothing back.
        """
        ...

    async def expired(self, limit: int, *, at: Instant | None = None) -> list[Claim]:
        """Leases of workers that have expired. An expired worker can renew and claim no more."""
        ...

    async def retire(self, worker_id: WorkerId) -> None:
        """Forget a worker that stops in good order. Its leases, if it left any, are as those of an expired one."""
        ...

    async def remove_expired(self, *, at: Instant | None = None) -> int:
        """Forget expired workers that hold no lease any more."""
        ...

    async def all(self, *, at: Instant | None = None) -> list[WorkerState]: ...
