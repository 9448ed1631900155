"""The workers of a PostgreSQL storage. Whether one lives is decided by the server's clock alone."""

from collections.abc import Collection
from functools import partial

from foliot.adapters.storage.postgres.admission import Admission
from foliot.adapters.storage.postgres.database import Database, Transaction
from foliot.adapters.storage.postgres.finishing import finish_runs
from foliot.adapters.storage.postgres.impossible import is_possible
from foliot.adapters.storage.rows import lease_of, worker_of
from foliot.domain.ids import Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.lease import Claim, Finish, Renewal, Worker, WorkerState
from foliot.domain.run import GivenBack


class PostgresWorkers:
    """Fills `ports.workers.WorkerStore`.

    `vital` has connections that nobody else uses: a renewal must not wait behind a full pool.
    """

    def __init__(self, database: Database, vital: Database, admission: Admission) -> None:
        self._database = database
        self._vital = vital
        self._admission = admission

    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run("register", worker.id, worker.name, list(worker.queues), worker.slots, ttl, at)

        await self._vital.write("register", work)

    async def renew(
        self, worker_id: WorkerId, held: Collection[Token] | None, ttl: Millis, *, at: Instant | None = None
    ) -> Renewal | None:
        if not is_possible(worker_id):
            return None
        work = partial(_renew, worker_id=worker_id, held=held, ttl=ttl, at=at)
        renewal, keys = await self._vital.write("renew", work, merge=_merge_renewals)
        await self._admission.follow(keys, at)
        return renewal

    async def expired(self, limit: int, *, at: Instant | None = None) -> list[Claim]:
        async def work(transaction: Transaction) -> list[Claim]:
            now = await transaction.now(at)
            await transaction.run("mark_expired", now)
            return [lease_of(row) for row in await transaction.rows("expired_leases", now, limit)]

        return await self._database.write("expired", work)

    async def retire(self, worker_id: WorkerId) -> None:
        if is_possible(worker_id):
            await self._vital.write("retire", lambda transaction: transaction.run("retire", worker_id))

    async def remove_expired(self, *, at: Instant | None = None) -> int:
        removed = await self._database.write(
            "remove_expired", lambda transaction: transaction.rows("remove_expired", at)
        )
        return len(removed)

    async def all(self, *, at: Instant | None = None) -> list[WorkerState]:
        return [worker_of(row, row["queues"]) for row in await self._database.rows("all_workers", at)]


async def _renew(
    transaction: Transaction, *, worker_id: WorkerId, held: Collection[Token] | None, ttl: Millis, at: Instant | None
) -> tuple[Renewal | None, set[str]]:
    now = await transaction.value("renew", worker_id, ttl, at)
    if now is None:
        return None, set()
    leases = {row["token"]: row for row in await transaction.rows("leases_of_worker", worker_id)}
    known = set(leases) if held is None else set(held)
    foreign = sorted(leases.keys() - known)
    if foreign:
        run_ids = [leases[token]["run_id"] for token in foreign]
        claims = [lease_of(row) for row in await transaction.rows("leases_of_runs", run_ids)]
        await finish_runs(transaction, [Finish(claim, GivenBack()) for claim in claims], now)
    cancelled = tuple(sorted(token for token in known & leases.keys() if leases[token]["cancel_at"] is not None))
    gone = tuple(sorted(known - leases.keys()))
    return Renewal(cancelled, tuple(foreign), gone), transaction.keys


def _merge_renewals(
    first: tuple[Renewal | None, set[str]], second: tuple[Renewal | None, set[str]]
) -> tuple[Renewal | None, set[str]]:
    if first[0] is None or second[0] is None:
        return second
    foreign = tuple(sorted({*first[0].foreign, *second[0].foreign}))
    return second[0]._replace(foreign=foreign), first[1] | second[1]
