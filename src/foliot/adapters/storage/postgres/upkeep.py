"""Leadership, retention, checks and expired workers.

Only the server's clock decides whether a worker is alive. Each call of `prune` removes a bounded piece.
"""

from collections.abc import Collection, Sequence
from copy import copy
from typing import Any, Final

from foliot.adapters.storage.postgres.database.schema import migrations
from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.shared.pruning import (
    CHUNKS_PER_PIECE,
    PartsRequest,
    Request,
    Requests,
    Round,
    Scan,
    ScanRequest,
    ScanResult,
    SurplusRequest,
    VisibleRequest,
    removable_before,
    surplus_executions,
    unused_items,
)
from foliot.domain.clock import ClockFault, ClockReading
from foliot.domain.ids import RunId, WorkerId, first_id_at
from foliot.domain.instant import Instant, Millis
from foliot.domain.run.lease import ExpiredLease
from foliot.errors import SchemaTooNew
from foliot.ports.upkeep import Pruned, Retention

_SCHEDULES_PER_PIECE: Final = 2_000
_JOBS_PER_PIECE: Final = 200
_RUN_TABLES: Final = (
    "outputs",
    "attempts",
    "logs",
    "trees",
    "bodies",
    "steps",
    "items",
    "chains",
    "notes",
    "endings",
    "decisions",
    "launches",
)
_QUERIES: Final = {
    Scan.OLD_RUNS: "old_runs",
    Scan.SURPLUS_RUNS: "surplus_runs",
    Scan.SURPLUS_EXECUTIONS: "surplus_executions",
    Scan.OLD_EXECUTIONS: "old_executions",
}


class PostgresUpkeep:
    """Fills `ports.upkeep.Upkeep`."""

    def __init__(self, database: Database, vital: Database, project: str) -> None:
        self._database = database
        self._vital = vital
        self._project = project
        self._round = Round()

    async def lead(self, holder: str, ttl: Millis, *, at: Instant | None = None) -> int | None:
        epoch: int | None = await self._vital.write(
            "lead", lambda transaction: transaction.value("lead", holder, ttl, at)
        )
        return epoch

    async def resign(self, holder: str) -> None:
        await self._vital.write("resign", lambda transaction: transaction.run("resign", holder))

    async def prune(self, retention: Retention, *, epoch: int, limit: int, at: Instant | None = None) -> Pruned | None:
        async def work(transaction: Transaction) -> tuple[Round, Pruned | None]:
            progress = copy(self._round)
            if await transaction.value("current_epoch") != epoch:
                return progress, None
            now = await transaction.now(at)
            pruned = await _prune(transaction, self._project, progress, retention, now, limit)
            return progress.after(pruned, retention, limit)

        # A piece that was not committed is searched again.
        self._round, pruned = await self._database.write("prune", work)
        return pruned

    async def prune_executions(
        self, workflow_ids: Collection[str], retention: Retention, *, limit: int, at: Instant | None = None
    ) -> int:
        async def work(transaction: Transaction) -> int:
            requests = surplus_executions(sorted(workflow_ids), retention, limit)
            chosen = await _chosen_runs(transaction, self._project, requests, await transaction.now(at))
            deleted = await transaction.column("delete_runs", chosen) if chosen else []
            await _forget_runs(transaction, deleted)
            return len(deleted)

        return await self._database.write("prune", work)

    async def check(self) -> None:
        least, newest = int(await self._vital.value("min_code")), max(migrations())
        if least > newest:
            raise SchemaTooNew(found=least, supported=newest)

    async def probe(self) -> None:
        await self._database.write("probe", lambda transaction: transaction.run("probe"))

    async def damages(self) -> list[str]:
        return []

    async def read_clocks(self) -> ClockReading:
        await self._vital.now(None)
        # The estimate, and not the reply: a reply that took long must not look like a step.
        clock = self._vital.clock
        return ClockReading(clock.now(), clock.own.now(), clock.elapsed())

    async def save_clock_fault(self, fault: ClockFault) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run("save_clock_fault", *fault)
            await transaction.run("prune_clock_faults")

        await self._database.write("save_clock_fault", work)

    # -- expired workers

    async def worker_processes(self) -> list[tuple[WorkerId, str]]:
        return [(WorkerId(row["id"]), row["process"]) for row in await self._database.rows("worker_processes")]

    async def expire_workers(self, worker_ids: Collection[WorkerId]) -> None:
        await self._database.write(
            "expire_workers", lambda transaction: transaction.run("expire_workers", list(worker_ids))
        )

    async def expired_leases(self, limit: int, *, at: Instant | None = None) -> list[ExpiredLease]:
        async def work(transaction: Transaction) -> list[ExpiredLease]:
            now = await transaction.now(at)
            await transaction.run("mark_expired", now)
            return [ExpiredLease(*row) for row in await transaction.rows("expired_leases", now, limit)]

        return await self._database.write("expired", work)

    async def remove_expired_workers(self, *, at: Instant | None = None) -> int:
        removed = await self._database.write(
            "remove_expired", lambda transaction: transaction.rows("remove_expired_workers", at)
        )
        return len(removed)


async def _prune(
    transaction: Transaction, project: str, progress: Round, retention: Retention, now: Instant, limit: int
) -> Pruned:
    """Remove a piece, and advance the round."""
    chosen = await _chosen_runs(transaction, project, progress.runs(retention, now, limit), now)
    deleted = await transaction.column("delete_runs", chosen) if chosen else []
    keys = await _forget_runs(transaction, deleted)
    ticks, schedules = await _prune_ledgers(transaction, progress, retention.ticks_age, now, limit)
    await _prune_limits(transaction, limit)
    await transaction.run("prune_requests", now, limit)
    await transaction.run("prune_sessions", now, limit)
    await _prune_items(transaction, progress, retention.items_age, now, limit)
    if retention.events_age is not None:
        await transaction.run("prune_deliveries", now - retention.events_age, limit)
    return Pruned(
        runs=len(deleted),
        logs=await _prune_logs(transaction, progress, retention.logs_age, now, limit),
        ticks=ticks,
        events=await _prune_older(transaction, "prune_events", retention.events_age, now, limit),
        schedules=schedules,
        audit=await _prune_older(transaction, "prune_audit", retention.audit_age, now, limit),
        dedupe=keys + len(await transaction.rows("prune_keys", now, limit)),
    )


async def _chosen_runs(transaction: Transaction, project: str, requests: Requests, now: Instant) -> list[RunId]:
    """Execute the generator that chooses the runs to remove, and return them."""
    try:
        request = next(requests)
        while True:
            request = requests.send(await _search(transaction, project, now, request))
    except StopIteration as end:
        chosen: list[RunId] = end.value
        return chosen


async def _search(transaction: Transaction, project: str, now: Instant, request: Request) -> ScanResult:
    match request:
        case PartsRequest(run_ids, room):
            return ScanResult(await transaction.column("parts_of_runs", run_ids, room))
        case VisibleRequest(run_ids):
            return ScanResult(await transaction.column("visible_to_gates", run_ids, now))
        case SurplusRequest(workflow_ids, keep, room):
            return ScanResult(await transaction.column("surplus_of_workflows", project, workflow_ids, keep, room))
    if request.scan is Scan.EXCESS_EXECUTIONS:
        excess = await transaction.column("excess_executions", project, request.bound, request.room)
        return ScanResult(excess, request.cursor if len(excess) == request.room else None)
    if request.scan in (Scan.OLD_RUNS, Scan.OLD_EXECUTIONS):
        found = await transaction.column(
            _QUERIES[request.scan], first_id_at(Instant(request.bound)), request.bound, request.room
        )
        return ScanResult(found, request.cursor if len(found) == request.room else None)
    return await _surplus(transaction, project, request)


async def _surplus(transaction: Transaction, project: str, request: ScanRequest) -> ScanResult:
    """Find surplus runs of the next few jobs or workflows."""
    size = min(request.room, _JOBS_PER_PIECE)
    rows = await transaction.rows(_QUERIES[request.scan], project, request.cursor, request.bound, request.room, size)
    surplus = [run_id for _, run_id in rows if run_id is not None]
    names = {name for name, _ in rows}
    if len(surplus) >= request.room:
        return ScanResult(surplus[: request.room], request.cursor)  # runs beyond the room are found again
    return ScanResult(surplus, max(names) if len(names) == size else None)


async def _prune_ledgers(
    transaction: Transaction, progress: Round, age: Millis | None, now: Instant, limit: int
) -> tuple[int, int]:
    cursor = progress.cursor(Scan.LEDGERS)
    if age is None or cursor is None:
        return 0, 0
    size = min(limit, _SCHEDULES_PER_PIECE)
    cut = Instant(now - age)
    rows = await transaction.rows("next_ledgers", cursor, size, cut, first_id_at(cut))
    uids = [row["uid"] for row in rows]
    removed = await _prune_ticks(transaction, rows, age, now, limit)
    if removed < limit:
        progress.move(Scan.LEDGERS, uids[-1] if len(uids) == size else None)
    return removed, await _forget_schedules(transaction, uids, cut, limit)


async def _prune_ticks(transaction: Transaction, rows: Sequence[Any], age: Millis, now: Instant, limit: int) -> int:
    cuts = {
        row["uid"]: removable_before(row["spec"], row["settled_until"], now, age)
        for row in rows
        if row["has_old_ticks"]
    }
    removed = await transaction.rows("prune_ticks", list(cuts), list(cuts.values()), limit) if cuts else []
    begins: dict[str, int] = {}
    for uid, until in removed:
        begins[uid] = max(begins.get(uid, 0), until + 1)
    if begins:
        await transaction.run("begin_ledgers", list(begins), list(begins.values()))
    return len(removed)


async def _forget_runs(transaction: Transaction, run_ids: Sequence[str]) -> int:
    """Remove the rows that belong to deleted runs. Returns the number of removed dedupe keys."""
    if not run_ids:
        return 0
    for query in _RUN_TABLES:
        await transaction.run(f"delete_runs_{query}", run_ids)
    return len(await transaction.rows("delete_runs_keys", run_ids))


async def _forget_schedules(transaction: Transaction, uids: Sequence[str], cut: int, limit: int) -> int:
    gone = await transaction.column("forgettable_schedules", uids, cut, limit)
    if gone:
        for query in ("forget_revisions", "forget_pauses", "forget_boots", "forget_schedules"):
            await transaction.run(query, gone)
    return len(gone)


async def _prune_logs(transaction: Transaction, progress: Round, age: Millis | None, now: Instant, limit: int) -> int:
    """Remove old logs, and store up to when: a removed log differs from one that was never written."""
    removed = await _prune_older(transaction, "prune_logs", age, now, limit)
    if removed and age is not None:
        await transaction.run("note_logs_kept_from", now - age)
    progress.move(Scan.LOGS, None)  # chunks are found by age, so this scan needs no cursor
    return removed


async def _prune_older(transaction: Transaction, query: str, age: Millis | None, now: Instant, limit: int) -> int:
    return 0 if age is None else len(await transaction.rows(query, now - age, limit))


async def _prune_items(transaction: Transaction, progress: Round, age: Millis | None, now: Instant, limit: int) -> None:
    cursor = progress.cursor(Scan.ITEMS)
    if age is None or cursor is None:
        return
    rows = await transaction.rows("next_items", cursor, first_id_at(Instant(now - age)), limit)
    unused = unused_items(progress, [tuple(row) for row in rows], limit)
    if unused is not None:
        await transaction.run("prune_items", unused, CHUNKS_PER_PIECE)


async def _prune_limits(transaction: Transaction, limit: int) -> None:
    """Remove limits without holds. Locks them first and checks again: a run may have begun to wait in between."""
    if idle := await transaction.column("idle_limits", limit):
        await transaction.run("prune_limits", idle)
