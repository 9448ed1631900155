"""Looking after the workers of a PostgreSQL storage. Whether one lives is decided by the server's clock alone."""

from foliot.adapters.storage.postgres.database import Database, Transaction
from foliot.adapters.storage.shared.rows import worker_of
from foliot.domain.instant import Instant
from foliot.domain.run.lease import ExpiredLease, WorkerState


class PostgresWorkers:
    """Fills `ports.workers.WorkerStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def expired(self, limit: int, *, at: Instant | None = None) -> list[ExpiredLease]:
        async def work(transaction: Transaction) -> list[ExpiredLease]:
            now = await transaction.now(at)
            await transaction.run("mark_expired", now)
            return [ExpiredLease(*row) for row in await transaction.rows("expired_leases", now, limit)]

        return await self._database.write("expired", work)

    async def remove_expired(self, *, at: Instant | None = None) -> int:
        removed = await self._database.write(
            "remove_expired", lambda transaction: transaction.rows("remove_expired", at)
        )
        return len(removed)

    async def all(self, *, at: Instant | None = None) -> list[WorkerState]:
        return [worker_of(row, row["queues"]) for row in await self._database.rows("all_workers", at)]
