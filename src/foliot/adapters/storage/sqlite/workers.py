"""The verbs about workers. Expiry is judged by time since boot: a wall clock that steps frees nothing."""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from foliot.adapters.storage.documents import decode_names, encode_names
from foliot.adapters.storage.queries import load_queries
from foliot.adapters.storage.rows import lease_of, worker_of
from foliot.adapters.storage.sqlite import claims
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Row, Session
from foliot.adapters.storage.sqlite.finishes import finish
from foliot.domain.ids import Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.lease import Claim, Finish, Renewal, Worker, WorkerState
from foliot.domain.payload import UNREADABLE
from foliot.domain.run import GivenBack

SQL: Final = load_queries(Path(__file__).parent / "sql" / "workers.sql")
_QUEUES: Final = 2


class SqliteWorkers:
    """Fills `ports.workers.WorkerStore`."""

    def __init__(self, access: Access) -> None:
        self._writer, self._reader, self._clock, _ = access

    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        def work(tx: Transaction) -> None:
            known = (worker.id, worker.name, encode_names(worker.queues), worker.slots)
            tx.run(SQL["register_worker"], (*known, tx.now(at), tx.clock.boot_id, tx.clock.elapsed() + ttl))

        await self._writer.submit("register", work)

    async def renew(
        self, worker_id: WorkerId, held: Collection[Token] | None, ttl: Millis, *, at: Instant | None = None
    ) -> Renewal | None:
        def work(tx: Transaction) -> Renewal | None:
            return _renew(tx, worker_id, None if held is None else frozenset(held), ttl, tx.now(at))

        # A heartbeat that waits behind a long queue of writes would cost the worker all its leases.
        return await self._writer.submit("renew", work, urgent=True)

    async def expired(self, limit: int, *, at: Instant | None = None) -> list[Claim]:
        return await self._reader.read(lambda session: claims.expired_claims(session, self._clock, limit))

    async def retire(self, worker_id: WorkerId) -> None:
        await self._writer.submit("retire", lambda tx: tx.run(SQL["retire_worker"], (worker_id,)))

    async def remove_expired(self, *, at: Instant | None = None) -> int:
        def work(tx: Transaction) -> int:
            return tx.run(SQL["remove_expired"], (tx.clock.boot_id, tx.clock.elapsed()))

        return await self._writer.submit("remove_expired", work)

    async def all(self, *, at: Instant | None = None) -> list[WorkerState]:
        def look(session: Session) -> list[WorkerState]:
            rows = session.rows(SQL["all_workers"], (self._clock.boot_id, self._clock.elapsed()))
            return [worker_of(row, _queues(row[_QUEUES])) for row in rows]

        return await self._reader.read(look)


def _renew(
    tx: Transaction, worker_id: WorkerId, held: frozenset[Token] | None, ttl: Millis, now: Instant
) -> Renewal | None:
    elapsed = tx.clock.elapsed()
    if not tx.run(SQL["renew_worker"], (now, elapsed + ttl, worker_id, tx.clock.boot_id, elapsed)):
        return None
    rows = tx.rows(claims.SQL["leases_of_worker"], (worker_id,))
    known = {claim.token: (claim, cancel_at) for claim, cancel_at in (_leased(row) for row in rows)}
    listed = known.keys() if held is None else held
    foreign = [claim for token, (claim, _) in known.items() if token not in listed]
    finish(tx, [Finish(claim, GivenBack()) for claim in foreign], now)
    return Renewal(
        cancelled=tuple(token for token, (_, cancel_at) in known.items() if cancel_at is not None and token in listed),
        foreign=tuple(claim.token for claim in foreign),
        gone=tuple(sorted(listed - known.keys())),
    )


def _leased(row: Row) -> tuple[Claim, Instant | None]:
    *claim, cancel_at = row
    return lease_of(claim), cancel_at


def _queues(document: str) -> tuple[str, ...]:
    """Only shown: the worker itself knows what it takes from."""
    try:
        return decode_names(document)
    except UNREADABLE:
        return ("unreadable",)
