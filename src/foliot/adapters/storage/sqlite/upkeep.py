"""Maintenance: leadership, retention, checks and expired workers."""

from collections.abc import Callable, Collection
from copy import copy
from functools import partial
from typing import Final, NamedTuple

from foliot.adapters.storage.shared.documents import encode, encode_names
from foliot.adapters.storage.shared.pruning import (
    CHUNKS_PER_PIECE,
    Cursor,
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
from foliot.adapters.storage.sqlite.database.context import Context, PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.schema import MAIN
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.domain.clock import ClockFault, ClockReading
from foliot.domain.ids import RunId, ScheduleUid, WorkerId, first_id_at
from foliot.domain.instant import Instant, Millis
from foliot.domain.run.lease import ExpiredLease
from foliot.errors import SchemaTooNew
from foliot.ports.upkeep import Pruned, Retention

_STRIDE: Final = 1_000
_MAX_STRIDES: Final = 20
_RUN_DELETES: Final = (
    *("delete_runs_attempts", "delete_runs_outputs", "delete_runs_trees", "delete_runs_bodies", "delete_runs_steps"),
    *("delete_runs_items", "delete_runs_chains"),
    *("delete_runs_notes", "delete_runs_endings", "delete_runs_decisions", "delete_runs_launches"),
)


class _Ledgers(NamedTuple):
    """Schedules with old ticks, and schedules that were deleted or exhausted long ago. Each has the moment before which
    its ticks, or the schedule itself, may be removed."""

    ticked: list[tuple[ScheduleUid, Instant]]
    expired: list[tuple[ScheduleUid, Instant]]


_Surplus = Callable[[Session, str, str, int, int], list[RunId]]
"""project, job or workflow, how many to keep, room"""


class _Removable(NamedTuple):
    """What one piece removes."""

    runs: list[RunId]
    ledgers: _Ledgers
    items_of: RunId | None
    """A run that was never created."""


class SqliteUpkeep(PortBase):
    """Fills `ports.upkeep.Upkeep`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._round = Round()

    async def lead(self, holder: str, ttl: Millis, *, at: Instant | None = None) -> int | None:
        return await self._writer.submit("lead", lambda tx: _lead(tx, holder, ttl), urgent=True)

    async def resign(self, holder: str) -> None:
        await self._writer.submit("resign", lambda tx: tx.run(SQL["resign"], (holder,)))

    async def prune(self, retention: Retention, *, epoch: int, limit: int, at: Instant | None = None) -> Pruned | None:
        now = self._context.now(at)
        # A copy: the thread of a cancelled call may still be searching. `search` and `_prune_logs` advance it.
        progress = copy(self._round)

        def search(session: Session) -> _Removable | None:
            if not _is_current(session, epoch):
                return None
            return _find(session, self._project, progress, retention, now, limit)

        removable = await self._reader.read(search)
        if removable is None:
            return None
        # Logs first: after a crash in between, a run without a log is better than a log that is never removed.
        logs = await self._prune_logs(removable, progress, retention, now, limit)

        def work(tx: Transaction) -> Pruned | None:
            if not _is_current(tx, epoch):
                return None
            if logs and retention.logs_age is not None:
                tx.run(SQL["note_logs_kept_from"], (now - retention.logs_age,))
            return _remove(tx, removable, retention, now, limit)

        removed = await self._writer.submit("prune", work)
        if removed is None:
            return None
        # The round advances only after the commit.
        self._round, pruned = progress.after(removed._replace(logs=logs), retention, limit)
        return pruned

    async def prune_executions(
        self, workflow_ids: Collection[str], retention: Retention, *, limit: int, at: Instant | None = None
    ) -> int:
        requests = surplus_executions(list(workflow_ids), retention, limit)
        now = self._context.now(at)
        found = await self._reader.read(
            lambda session: _run_requests(requests, partial(_search, session, self._project, now))
        )
        if not found:
            return 0
        names = (encode_names(found),)
        await self._context.logs.submit("prune_logs", lambda tx: tx.run(SQL["delete_runs_logs"], names))
        return await self._writer.submit("prune", lambda tx: _remove_runs(tx, found)[0])

    async def check(self) -> None:
        self._writer.file_identity.check()
        least = await self._reader.read(lambda session: session.value(SQL["min_code"]))
        if least > max(MAIN):
            raise SchemaTooNew(found=least, supported=max(MAIN))

    async def probe(self) -> None:
        await self._writer.submit("probe", lambda tx: tx.run(SQL["probe"], (tx.clock.now(),)))

    async def damages(self) -> list[str]:
        found = await self._reader.read(lambda session: session.column(SQL["quick_check"]))
        return [] if found == ["ok"] else found

    async def read_clocks(self) -> ClockReading:
        clock = self._context.clock
        now = clock.now()
        return ClockReading(now, now, clock.elapsed())

    async def save_clock_fault(self, fault: ClockFault) -> None:
        def work(tx: Transaction) -> None:
            tx.run(SQL["save_clock_fault"], fault)
            tx.run(SQL["prune_clock_faults"])

        await self._writer.submit("save_clock_fault", work)

    async def worker_processes(self) -> list[tuple[WorkerId, str]]:
        rows = await self._reader.read(lambda session: session.rows(SQL["worker_processes"]))
        return [(WorkerId(worker_id), process) for worker_id, process in rows]

    async def expire_workers(self, worker_ids: Collection[WorkerId]) -> None:
        values = (encode_names(worker_ids),)
        await self._writer.submit("expire_workers", lambda tx: tx.run(SQL["expire_workers"], values))

    async def expired_leases(self, limit: int, *, at: Instant | None = None) -> list[ExpiredLease]:
        clock = self._context.clock
        values = (self._context.now(at), clock.boot_id, clock.elapsed(), limit)
        rows = await self._reader.read(lambda session: session.rows(SQL["expired_leases"], values))
        return [ExpiredLease(*row)._replace(is_cancelled=bool(row[-1])) for row in rows]

    async def remove_expired_workers(self, *, at: Instant | None = None) -> int:
        return await self._writer.submit(
            "remove_expired", lambda tx: tx.run(SQL["remove_expired_workers"], (tx.clock.boot_id, tx.clock.elapsed()))
        )

    async def _prune_logs(
        self, removable: _Removable, progress: Round, retention: Retention, now: Instant, limit: int
    ) -> int:
        """Remove the chunks of removed runs, and up to `limit` old chunks of ended runs."""
        cursor = None if retention.logs_age is None else progress.cursor(Scan.LOGS)
        if cursor is None and not removable.runs:
            return 0
        old: list[int] = []
        if retention.logs_age is not None and cursor is not None:
            old, cursor = await self._old_chunks(Instant(now - retention.logs_age), cursor, limit)

        def work(tx: Transaction) -> int:
            of_runs = tx.run(SQL["delete_runs_logs"], (encode_names(removable.runs),)) if removable.runs else 0
            return of_runs + (tx.run(SQL["prune_logs"], (encode(old),)) if old else 0)

        removed = await self._context.logs.submit("prune_logs", work)
        progress.move(Scan.LOGS, cursor)
        return removed

    async def _old_chunks(self, before: Instant, cursor: Cursor, limit: int) -> tuple[list[int], Cursor | None]:
        """Return chunks of ended runs from before that moment, and the next cursor. Chunks are read in the order in
        which they were written."""
        rows = await self._context.logs.rows(SQL["walk_chunks"], (cursor or 0, limit))
        old = [(rowid, run_id) for rowid, run_id, at in rows if at < before]
        run_ids = encode_names({run_id for _, run_id in old})
        unfinished = set(await self._reader.read(lambda session: session.column(SQL["unfinished_runs"], (run_ids,))))
        following = rows[-1][0] if len(rows) == limit and rows[-1][2] < before else None
        return [rowid for rowid, run_id in old if run_id not in unfinished], following


def _lead(tx: Transaction, holder: str, ttl: Millis) -> int | None:
    """Return the epoch, or None if another leader is live. The epoch increases with each change of the leader, so that
    writes of a former one are refused."""
    boot_id, elapsed = tx.clock.boot_id, tx.clock.elapsed()
    former, epoch, is_live = tx.row(SQL["leader"], (boot_id, elapsed)) or (None, 0, False)
    if is_live and former != holder:
        return None
    term = epoch if is_live else epoch + 1
    tx.run(SQL["lead"], (holder, term, boot_id, elapsed + ttl))
    return int(term)


def _is_current(session: Session, epoch: int) -> bool:
    """Whether the epoch is still current, and its leader has not resigned."""
    return bool(session.value(SQL["current_epoch"], (epoch,)))


# -- prune: a piece is searched without a lock and removed in one short transaction. History has no index by age: it is
# read in the order in which it was written, and the next piece continues where the last one ended.


def _find(
    session: Session, project: str, progress: Round, retention: Retention, now: Instant, limit: int
) -> _Removable:
    """Find the next piece, and advance the round."""
    runs = _run_requests(progress.runs(retention, now, limit), partial(_search, session, project, now))
    ledgers = _find_ledgers(session, progress, retention.ticks_age, now, limit)
    return _Removable(runs, ledgers, _find_items(session, progress, retention.items_age, now, limit))


def _run_requests(requests: Requests, search: Callable[[Request], ScanResult]) -> list[RunId]:
    """Answer all requests, and return the chosen runs."""
    try:
        request = next(requests)
        while True:
            request = requests.send(search(request))
    except StopIteration as end:
        chosen: list[RunId] = end.value
        return chosen


def _search(session: Session, project: str, now: Instant, request: Request) -> ScanResult:
    match request:
        case PartsRequest(run_ids, room):
            return ScanResult(session.column(SQL["parts_of_runs"], (encode_names(run_ids), room)))
        case VisibleRequest(run_ids):
            return ScanResult(session.column(SQL["visible_to_gates"], (encode_names(run_ids), now)))
        case SurplusRequest(workflow_ids, keep, room):
            found = [_surplus_executions(session, project, name, keep, room) for name in workflow_ids]
            return ScanResult([run_id for surplus in found for run_id in surplus][:room])
    match request.scan:
        case Scan.OLD_RUNS:
            return _old_runs(session, request)
        case Scan.SURPLUS_RUNS:
            return _surplus(session, project, request, "next_job", _surplus_runs)
        case Scan.SURPLUS_EXECUTIONS:
            return _surplus(session, project, request, "next_workflow", _surplus_executions)
        case Scan.EXCESS_EXECUTIONS:
            excess = session.column(SQL["excess_executions"], (project, request.bound, request.room))
            return ScanResult(excess, request.cursor if len(excess) == request.room else None)
        case _:
            return _old_executions(session, request)


def _old_runs(session: Session, request: ScanRequest) -> ScanResult:
    found: list[RunId] = []
    cursor = request.cursor or 0
    for _ in range(_MAX_STRIDES):
        rows = session.rows(SQL["walk_runs"], (cursor, _STRIDE))
        for rowid, run_id, _, finished_at, is_needed in rows:
            cursor = rowid
            if finished_at is not None and finished_at < request.bound and not is_needed:
                found.append(run_id)
            if len(found) == request.room:
                return ScanResult(found, cursor)
        if len(rows) < _STRIDE or rows[-1][2] >= request.bound:
            return ScanResult(found)
    return ScanResult(found, cursor)


def _old_executions(session: Session, request: ScanRequest) -> ScanResult:
    found = session.column(SQL["old_executions"], (first_id_at(Instant(request.bound)), request.bound, request.room))
    return ScanResult(found, request.cursor if len(found) == request.room else None)


def _surplus(session: Session, project: str, request: ScanRequest, following: str, surplus: _Surplus) -> ScanResult:
    """Find surplus runs of the next few jobs or workflows. One that exceeds the room is scanned again."""
    found: list[RunId] = []
    cursor = request.cursor
    for _ in range(min(request.room, _STRIDE)):
        name: str | None = session.value(SQL[following], (project, cursor))
        if name is None:
            return ScanResult(found)
        found += surplus(session, project, name, request.bound, request.room - len(found))
        if len(found) >= request.room:
            break
        cursor = name
    return ScanResult(found, cursor)


def _surplus_runs(session: Session, project: str, job_id: str, keep: int, room: int) -> list[RunId]:
    if session.value(SQL["count_runs"], (project, job_id, keep + 1)) <= keep:
        return []
    return session.column(SQL["surplus_runs"], (project, job_id, keep, room))


def _surplus_executions(session: Session, project: str, workflow_id: str, keep: int, room: int) -> list[RunId]:
    return session.column(SQL["surplus_executions"], (project, workflow_id, keep, room))


def _find_ledgers(session: Session, progress: Round, age: Millis | None, now: Instant, limit: int) -> _Ledgers:
    """Find the next ledgers to prune. A schedule with too many ticks for one piece is scanned again."""
    ledgers = _Ledgers([], [])
    cursor = progress.cursor(Scan.LEDGERS)
    if age is None or cursor is None:
        return ledgers
    cut, room = Instant(now - age), limit
    values = {"cursor": cursor, "young": first_id_at(cut), "limit": limit, "cut": cut}
    rows = session.rows(SQL["next_ledgers"], values)
    for uid, spec, settled_until, is_over, has_old_ticks in rows:
        if is_over:
            ledgers.expired.append((uid, cut))
        if has_old_ticks:
            before = removable_before(spec, settled_until, now, age)
            room -= session.value(SQL["count_old_ticks"], (uid, before, room))
            ledgers.ticked.append((uid, before))
        if room == 0:
            progress.move(Scan.LEDGERS, cursor)
            return ledgers
        cursor = uid
    progress.move(Scan.LEDGERS, cursor if len(rows) == limit else None)
    return ledgers


def _find_items(session: Session, progress: Round, age: Millis | None, now: Instant, limit: int) -> RunId | None:
    cursor = progress.cursor(Scan.ITEMS)
    if age is None or cursor is None:
        return None
    rows = session.rows(SQL["next_items"], (cursor, first_id_at(Instant(now - age)), limit))
    return unused_items(progress, rows, limit)


def _remove(tx: Transaction, removable: _Removable, retention: Retention, now: Instant, limit: int) -> Pruned:
    """Remove what was found, and old rows of the other tables."""
    tx.run(SQL["prune_limits"], (limit,))
    tx.run(SQL["prune_requests"], (now, limit))
    tx.run(SQL["prune_sessions"], (now, limit))
    if removable.items_of is not None:
        tx.run(SQL["prune_items"], (removable.items_of, CHUNKS_PER_PIECE))
    events = 0
    if retention.events_age is not None:
        events = tx.run(SQL["prune_events"], (now - retention.events_age, limit))
        tx.run(SQL["prune_deliveries"], (now - retention.events_age, limit))
    audit = 0
    if retention.audit_age is not None:
        audit = tx.run(SQL["prune_audit"], (now - retention.audit_age, limit))
    dedupe = tx.run(SQL["prune_keys"], (now, limit))
    runs, forgotten = _remove_runs(tx, removable.runs)
    ticks = _remove_ticks(tx, removable.ledgers.ticked, limit)
    schedules = _remove_schedules(tx, removable.ledgers.expired)
    return Pruned(runs, 0, ticks, events, schedules, dedupe + forgotten, audit)


def _remove_runs(tx: Transaction, run_ids: Collection[RunId]) -> tuple[int, int]:
    """Remove runs with all rows that belong to them. Return the numbers of removed runs and of their dedupe keys."""
    if not run_ids:
        return 0, 0
    ids = encode_names(run_ids)
    removed = tx.run(SQL["delete_runs"], (ids,))
    for query in _RUN_DELETES:
        tx.run(SQL[query], (ids,))
    return removed, tx.run(SQL["delete_runs_keys"], (ids,))


def _remove_ticks(tx: Transaction, ledgers: Collection[tuple[ScheduleUid, Instant]], limit: int) -> int:
    removed = 0
    for uid, before in ledgers:
        rows = tx.rows(SQL["prune_ticks"], (uid, before, limit - removed))
        if rows:
            tx.run(SQL["begin_ledgers"], (max(until for (until,) in rows) + 1, uid))
        removed += len(rows)
        if removed >= limit:
            break
    return removed


def _remove_schedules(tx: Transaction, expired: Collection[tuple[ScheduleUid, Instant]]) -> int:
    """Remove schedules that have no rows left and are still deleted or exhausted. Returns how many."""
    gone = [uid for uid, cut in expired if tx.run(SQL["forget_schedules"], (uid, cut))]
    for query in ("forget_revisions", "forget_pauses", "forget_boots"):
        tx.run_many(SQL[query], [(uid,) for uid in gone])
    return len(gone)
