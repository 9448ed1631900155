"""Looking after workers from outside. What a worker itself does is `ports.work`."""

from typing import Protocol

from foliot.domain.instant import Instant
from foliot.domain.run.lease import ExpiredLease, WorkerState


class WorkerStore(Protocol):
    async def expired(self, limit: int, *, at: Instant | None = None) -> list[ExpiredLease]:
        """Leases of workers that have expired. An expired worker can renew and claim no more."""
        ...

    async def remove_expired(self, *, at: Instant | None = None) -> int:
        """Forget expired workers that hold no lease any more."""
        ...

    async def all(self, *, at: Instant | None = None) -> list[WorkerState]: ...
