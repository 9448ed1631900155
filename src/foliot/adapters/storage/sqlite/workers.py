"""Looking after workers from outside: those that have expired, and the list of all."""

from foliot.adapters.storage.shared.documents import decode_names
from foliot.adapters.storage.shared.rows import worker_of
from foliot.adapters.storage.sqlite import claims
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Session
from foliot.adapters.storage.sqlite.work import SQL
from foliot.domain.instant import Instant
from foliot.domain.run.lease import ExpiredLease, WorkerState
from foliot.domain.run.payload import UNREADABLE

_QUEUES = 2


class SqliteWorkers:
    """Fills `ports.workers.WorkerStore`."""

    def __init__(self, access: Access) -> None:
        self._writer, self._reader, self._clock, _ = access

    async def expired(self, limit: int, *, at: Instant | None = None) -> list[ExpiredLease]:
        return await self._reader.read(lambda session: claims.expired_leases(session, self._clock, limit))

    async def remove_expired(self, *, at: Instant | None = None) -> int:
        def work(tx: Transaction) -> int:
            return tx.run(SQL["remove_expired"], (tx.clock.boot_id, tx.clock.elapsed()))

        return await self._writer.submit("remove_expired", work)

    async def all(self, *, at: Instant | None = None) -> list[WorkerState]:
        def look(session: Session) -> list[WorkerState]:
            rows = session.rows(SQL["all_workers"], (self._clock.boot_id, self._clock.elapsed()))
            return [worker_of(row, _queues(row[_QUEUES])) for row in rows]

        return await self._reader.read(look)


def _queues(document: str) -> tuple[str, ...]:
    """Only shown: the worker itself knows what it takes from."""
    try:
        return decode_names(document)
    except UNREADABLE:
        return ("unreadable",)
