"""Keeps a worker registered.

One row is renewed for everything the worker holds. A renewal succeeds only before expiry; whoever misses it has lost
all leases, ends all attempts and comes back under a new id. A worker that cannot reach the storage does so by its own
clock, before the others may believe it dead.

With each renewal the worker lists what it holds, and the storage takes back what is not listed: a grant whose answer
got lost. A grant whose answer is still under way must not look like that, so claims and listings exclude each other.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Final, Protocol

from foliot.domain.ids import IdSource, Token, WorkerId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lease import Renewal, Worker
from foliot.engine.deadline import deadline
from foliot.engine.worker.attempt import Ending
from foliot.ports.clock import Clock
from foliot.ports.work import Work

log = logging.getLogger(__name__)

LEASE: Final = Millis(60 * SECOND)
_RENEWALS_PER_LEASE: Final = 3
_MARGIN_SHARE: Final = 6
"""Attempts are ended when a sixth of the lease is left: time enough for TERM, grace and KILL of ten seconds."""
_RETRY: Final = Millis(SECOND)
_PATIENCE: Final = Millis(100)
"""How long a renewal waits for claims under way to end."""


class Holder(Protocol):
    """Whoever carries out attempts as this worker."""

    @property
    def held(self) -> Collection[Token]: ...

    def end(self, tokens: Collection[Token], ending: Ending) -> None: ...


class Heartbeat:
    """The duty of staying alive. `worker` is None until the storage knows this process."""

    name = "heartbeat"

    def __init__(
        self,
        work: Work,
        clock: Clock,
        ids: IdSource,
        *,
        label: str,
        queues: tuple[str, ...],
        slots: int,
        wake: asyncio.Event,
        lease: Millis = LEASE,
    ) -> None:
        self.wake = wake
        self._work = work
        self._clock = clock
        self._ids = ids
        self._label = label
        self._queues = queues
        self._lease = lease
        self._renewed_at = Millis(0)
        self._claims_under_way = 0
        self._no_claim_under_way = asyncio.Event()
        self._listing = asyncio.Lock()
        self._holder: Holder | None = None
        self._on_join: Callable[[], None] = lambda: None
        self.slots = slots
        self.worker: Worker | None = None

    @property
    def has_run_out(self) -> bool:
        """Whether others may take this worker for dead by now, also if it has not noticed yet."""
        return self._clock.elapsed() >= self._renewed_at + self._lease

    async def is_confirmed(self) -> bool:
        """Whether the storage takes this worker for alive as well. By our own clock it may be, and have been found dead
        all the same, where the clock of the storage was set forward.

        While the storage cannot be asked, our own clock counts.
        """
        worker, started = self.worker, self._clock.elapsed()
        if worker is None:
            return False
        try:
            async with deadline(self._clock, Millis(max(self._time_left(), 1))):
                # Nothing is listed: who asks has an attempt in hand that is in nobody's books.
                renewal = await self._work.renew(worker.id, None, self._lease)
        except Exception:
            log.exception("worker_not_confirmed", extra={"worker": worker.id})
            return not self.has_run_out
        if renewal is None:
            self.wake.set()
            return False
        self._renewed_at = max(self._renewed_at, started)
        return True

    def serve(self, holder: Holder, on_join: Callable[[], None]) -> None:
        """Name who is to be told about cancels and losses, and what to do when the worker has been registered."""
        self._holder = holder
        self._on_join = on_join

    async def round(self) -> Millis | None:
        if self.worker is not None:
            return await self._renew(self.worker)
        await self._join()
        return self._until_renewal

    @asynccontextmanager
    async def claiming(self) -> AsyncIterator[Worker | None]:
        """Claim, and take what was claimed into one's books, under this."""
        async with self._listing:
            self._claims_under_way += 1
            self._no_claim_under_way.clear()
        try:
            yield self.worker
        finally:
            self._claims_under_way -= 1
            if self._claims_under_way == 0:
                self._no_claim_under_way.set()

    async def leave(self) -> None:
        """Say goodbye, so that nobody waits for this worker to expire."""
        worker, self.worker = self.worker, None
        if worker is not None:
            await self._work.retire(worker.id)

    async def _join(self) -> None:
        worker_id = WorkerId(self._ids.make(self._clock.now()))
        worker = Worker(worker_id, self._label, self._queues, self.slots)
        started = self._clock.elapsed()
        await self._work.register(worker, self._lease)
        self._renewed_at = started
        self.worker = worker
        log.info("worker_registered", extra={"worker": worker.id, "label": worker.name, "slots": worker.slots})
        self._on_join()

    async def _renew(self, worker: Worker) -> Millis:
        started = self._clock.elapsed()
        try:
            async with deadline(self._clock, Millis(max(self._time_left(), 1))):
                renewal = await self._ask_for_renewal(worker)
        except Exception:
            # The storage may come back in time; if it does not, nothing of ours may still run when others take over.
            # So the pauses between tries must not grow, as they do where no deadline is near.
            log.exception("renewal_failed", extra={"worker": worker.id, "time_left_ms": self._time_left()})
            if self._time_left() <= _RETRY:
                self._lose(worker)
            return _RETRY
        if renewal is None:
            self._lose(worker)
            await self._join()
            return self._until_renewal
        self._renewed_at = started
        self._heed(renewal)
        return self._until_renewal

    @property
    def _until_renewal(self) -> Millis:
        return Millis(self._lease // _RENEWALS_PER_LEASE)

    async def _ask_for_renewal(self, worker: Worker) -> Renewal | None:
        async with self._listing:
            held = self._held() if await self._claims_have_ended() else None
            return await self._work.renew(worker.id, held, self._lease)

    async def _claims_have_ended(self) -> bool:
        """New ones wait for the listing, those under way have a moment to end: a busy worker lists too."""
        if self._claims_under_way:
            await self._clock.wait(self._no_claim_under_way, _PATIENCE)
        return self._claims_under_way == 0

    def _held(self) -> list[Token]:
        return [] if self._holder is None else list(self._holder.held)

    def _time_left(self) -> int:
        """How long this worker may still believe that its leases hold."""
        margin = self._lease // _MARGIN_SHARE
        return self._renewed_at + self._lease - margin - self._clock.elapsed()

    def _heed(self, renewal: Renewal) -> None:
        if self._holder is not None:
            self._holder.end(renewal.gone, Ending.LEASE_LOST)
            self._holder.end(renewal.cancelled, Ending.CANCEL)

    def _lose(self, worker: Worker) -> None:
        log.error("worker_lost_its_leases", extra={"worker": worker.id})
        self.worker = None
        if self._holder is not None:
            self._holder.end(self._held(), Ending.LEASE_LOST)
