"""Keeps a worker registered.

One row is renewed for all leases of the worker. A renewal succeeds only before expiry; a worker that misses it has lost
all leases, ends all attempts and registers under a new id. A worker that cannot reach the storage does the same by its
own clock, before other processes may consider it dead.

Each renewal lists the held leases, and the storage takes back leases that are not listed: claims whose response was
lost. A claim whose response is still in flight must not be taken back, so claims and listings exclude each other.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Final, Protocol

from foliot.domain.ids import IdSource, Token, WorkerId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lease import LOCAL, Order, Renewal, Worker, WorkerFacts
from foliot.engine.deadline import DeadlinePassed, deadline
from foliot.engine.failures import FailureLog
from foliot.engine.worker.attempt import Ending
from foliot.errors import StorageUnavailable
from foliot.ports.clock import Clock
from foliot.ports.work import Work

log = logging.getLogger(__name__)

LEASE: Final = Millis(60 * SECOND)
_RENEWALS_PER_LEASE: Final = 3
_MARGIN_SHARE: Final = 6
"""Attempts are ended when a sixth of the lease is left: ten seconds of 60 for TERM, the grace period and KILL."""
_RETRY: Final = Millis(SECOND)
_CLAIMS_TIMEOUT: Final = Millis(100)
"""How long a renewal waits for claims in flight."""


class AttemptHolder(Protocol):
    """Has the attempts that run as this worker: the consumer."""

    @property
    def held(self) -> Collection[Token]: ...

    def end(self, tokens: Collection[Token], ending: Ending) -> None: ...


class Heartbeat:
    """The duty that keeps the worker registered. `worker` is None while this process is not registered."""

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
        process: str = "",
        facts: WorkerFacts = LOCAL,
        wake: asyncio.Event,
        lease: Millis = LEASE,
    ) -> None:
        self.wake = wake
        self._work = work
        self._clock = clock
        self._ids = ids
        self._label = label
        self._queues = queues
        self._process = process
        self._facts = facts
        self._lease = lease
        self._renewed_at = Millis(0)
        self._claims_under_way = 0
        self._no_claim_under_way = asyncio.Event()
        self._listing_lock = asyncio.Lock()
        self._holder: AttemptHolder | None = None
        self._try_claims: Callable[[], None] = lambda: None
        self._is_draining = False
        self._order = Order.NONE
        self.on_drained: Callable[[], None] = lambda: None
        """Called when an administrator has ordered this worker to drain and stop."""
        self.slots = slots
        self.worker: Worker | None = None
        self.failures = FailureLog(clock).source(self.name)
        """Where failed renewals are logged. The node replaces it with a source of the log that all its duties share."""

    @property
    def is_expired(self) -> bool:
        """Whether other processes may consider this worker dead by now."""
        return self._clock.elapsed() >= self._renewed_at + self._lease

    async def is_still_registered(self) -> bool:
        """Return whether the storage still considers this worker alive.

        The local clock is not enough: the worker has expired if the clock of the storage was set forward. While the
        storage is unreachable, the local clock decides.
        """
        worker, started = self.worker, self._clock.elapsed()
        if worker is None:
            return False
        try:
            async with deadline(self._clock, Millis(max(self._time_left(), 1))):
                # Without a list of leases nothing is taken back: this call does not wait for claims in flight.
                renewal = await self._work.renew(worker.id, None, self._lease, is_draining=self._is_draining)
        except Exception as error:
            self.failures.failed(self._error_to_log(error), _RETRY)
            return not self.is_expired
        if renewal is None:
            self.wake.set()
            return False
        self._renewed_at = max(self._renewed_at, started)
        return True

    def attach(self, holder: AttemptHolder, try_claims: Callable[[], None]) -> None:
        """Set the holder whose attempts are ended after cancellations and losses.

        `try_claims` is called when claims may succeed that did not before: after a registration, and when an order has
        changed.
        """
        self._holder = holder
        self._try_claims = try_claims

    def announce_draining(self) -> None:
        """Let the row of this worker show that it stops. It is renewed at once."""
        self._is_draining = True
        self.wake.set()

    async def round(self) -> Millis | None:
        if self.worker is not None:
            return await self._renew(self.worker)
        await self._register()
        return self._until_renewal

    @asynccontextmanager
    async def claiming(self) -> AsyncIterator[Worker | None]:
        """Exclude listings while the block claims runs and adds them to the held leases."""
        async with self._listing_lock:
            self._claims_under_way += 1
            self._no_claim_under_way.clear()
        try:
            yield self.worker
        finally:
            self._claims_under_way -= 1
            if self._claims_under_way == 0:
                self._no_claim_under_way.set()

    async def retire(self) -> None:
        """Remove this worker from the storage, so that its leases need not expire first."""
        worker, self.worker = self.worker, None
        if worker is not None:
            await self._work.retire(worker.id)

    async def _register(self) -> None:
        worker_id = WorkerId(self._ids.make(self._clock.now()))
        worker = Worker(worker_id, self._label, self._queues, self.slots, self._process, self._facts)
        started = self._clock.elapsed()
        await self._work.register(worker, self._lease)
        self._renewed_at = started
        self.worker = worker
        self._order = Order.NONE
        log.info("worker_registered", extra={"worker": worker.id, "label": worker.name, "slots": worker.slots})
        self._try_claims()

    async def _renew(self, worker: Worker) -> Millis:
        started = self._clock.elapsed()
        try:
            async with deadline(self._clock, Millis(max(self._time_left(), 1))):
                renewal = await self._request_renewal(worker)
        except Exception as error:
            # The storage may become reachable in time. If not, no attempt may still run when other workers take over.
            # Therefore this retries at a fixed pace instead of the growing backoff of `Loop`.
            self.failures.failed(self._error_to_log(error), _RETRY)
            if self._time_left() <= _RETRY:
                self._lose_leases(worker)
            return _RETRY
        self.failures.succeeded()
        if renewal is None:
            self._lose_leases(worker)
            await self._register()
            return self._until_renewal
        self._renewed_at = started
        self._apply(renewal)
        return self._until_renewal

    @property
    def _until_renewal(self) -> Millis:
        """How long the next renewal can wait. It counts from the start of the last one, which may have taken long."""
        return Millis(max(0, self._renewed_at + self._lease // _RENEWALS_PER_LEASE - self._clock.elapsed()))

    async def _request_renewal(self, worker: Worker) -> Renewal | None:
        async with self._listing_lock:
            held = self._held() if await self._claims_have_ended() else None
            return await self._work.renew(worker.id, held, self._lease, is_draining=self._is_draining)

    async def _claims_have_ended(self) -> bool:
        """Return whether no claim is in flight, after a short wait for those that are. New claims wait for the listing,
        so a busy worker gets to list its leases too."""
        if self._claims_under_way:
            await self._clock.wait(self._no_claim_under_way, _CLAIMS_TIMEOUT)
        return self._claims_under_way == 0

    def _held(self) -> list[Token]:
        return [] if self._holder is None else list(self._holder.held)

    def _time_left(self) -> int:
        """How long this worker may still rely on its leases, in milliseconds."""
        margin = self._lease // _MARGIN_SHARE
        return self._renewed_at + self._lease - margin - self._clock.elapsed()

    def _apply(self, renewal: Renewal) -> None:
        if self._holder is not None:
            self._holder.end(renewal.gone, Ending.LEASE_LOST)
            self._holder.end(renewal.cancelled, Ending.CANCEL)
        if renewal.order is not self._order:
            log.info("worker_ordered", extra={"order": renewal.order or "resume"})
            self._order = renewal.order
            if renewal.order is Order.DRAIN:
                self.on_drained()
            self._try_claims()

    def _lose_leases(self, worker: Worker) -> None:
        log.error("worker_leases_lost", extra={"worker": worker.id})
        self.worker = None
        if self._holder is not None:
            self._holder.end(self._held(), Ending.LEASE_LOST)

    def _error_to_log(self, error: Exception) -> Exception:
        """Return the error to log. A storage that does not answer in time is unreachable."""
        if not isinstance(error, DeadlinePassed):
            return error
        silent = "server" if self._facts.is_remote else "database"
        return StorageUnavailable(
            f"the {silent} did not answer in time", hint="Check that it runs and can be reached from here."
        )
