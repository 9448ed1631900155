"""Admits due runs: releases them when they are due, and applies their gates and limits."""

from collections.abc import Collection, Sequence
from itertools import product
from typing import Any, Final

import msgspec

from foliot.adapters.storage.shared.definition_cache import Reference, gated_of
from foliot.adapters.storage.shared.documents import decode_names, encode_names
from foliot.adapters.storage.shared.finish_plan import gate_ending
from foliot.adapters.storage.shared.rows import worker_of
from foliot.adapters.storage.sqlite.database.context import Context, PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Row, Session
from foliot.adapters.storage.sqlite.rows.admit import admit_keys, release_places
from foliot.adapters.storage.sqlite.rows.definition import DefinitionReader
from foliot.adapters.storage.sqlite.rows.end import end_unstarted
from foliot.adapters.storage.sqlite.rows.failures import stop_failed_jobs
from foliot.adapters.storage.sqlite.rows.place import Placement, place
from foliot.domain.gate.decision import Decided, DependencyState, End, Gated, Postponed
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import WorkerState
from foliot.domain.run.outcome import Reason
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.run.run import Status
from foliot.ports.admission import Released

_NEWEST_RUNS: Final = 50
"""An expected run is searched among this many newest runs of a job."""
_QUEUES: Final = 2


class SqliteAdmission(PortBase):
    """Fills `ports.admission.Admission`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._definitions = DefinitionReader(context.project)

    async def release_due(self, limit: int, *, at: Instant | None = None) -> Released:
        return await self._writer.submit("release_due", lambda tx: _release_due(tx, limit, tx.now(at)))

    async def admit(self, limit: int, *, at: Instant | None = None) -> int:
        return await self._writer.submit("admit", lambda tx: admit_keys(tx, tx.column(SQL["waiting_keys"]), limit))

    async def ready(self, queue: str, limit: int) -> list[RunId]:
        return await self._reader.read(lambda session: session.column(SQL["ready_runs"], (queue, limit)))

    async def workers(self, *, at: Instant | None = None) -> list[WorkerState]:
        clock = self._context.clock
        rows = await self._reader.read(
            lambda session: session.rows(SQL["all_workers"], (clock.boot_id, clock.elapsed()))
        )
        return [worker_of(row, _queues(row[_QUEUES])) for row in rows]

    async def gated(self, limit: int, *, at: Instant | None = None) -> tuple[Instant, list[Gated]]:
        now = self._context.now(at)

        def query(session: Session) -> list[Gated]:
            rows = session.rows(SQL["gated_runs"], (now, limit))
            references = [Reference(job_id, revision, known) for _, job_id, _, _, revision, known in rows]
            found = self._definitions.find(session, references)
            return [gated_of(row, found[reference.id]) for row, reference in zip(rows, references, strict=True)]

        return now, await self._reader.read(query)

    async def decide_gates(
        self, decided: Sequence[Decided], postponed: Sequence[Postponed], *, at: Instant | None = None
    ) -> list[RunId]:
        return await self._writer.submit("decide_gates", lambda tx: _decide_gates(tx, decided, postponed, tx.now(at)))

    async def dependency_states(
        self, job_ids: Collection[JobId], *, after: Instant, until: Instant
    ) -> dict[JobId, DependencyState]:
        def query(session: Session) -> dict[JobId, DependencyState]:
            return {job_id: read_dependency_state(session, self._project, job_id, after, until) for job_id in job_ids}

        return await self._reader.read(query)

    async def latest_end(
        self,
        job_id: JobId,
        statuses: Collection[Status],
        *,
        reasons: Collection[Reason] | None = None,
        until: Instant,
    ) -> End | None:
        return await self._reader.read(
            lambda session: read_latest_end(session, self._project, job_id, statuses, reasons, until)
        )

    async def decisions(self, run_ids: Collection[RunId]) -> dict[RunId, bytes]:
        return await self._reader.read(lambda session: dict(session.rows(SQL["decisions"], (encode_names(run_ids),))))


def _release_due(tx: Transaction, limit: int, now: Instant) -> Released:
    rows = tx.rows(SQL["due_runs"], (now, limit))
    if rows:
        last_id, _, _, last_due_at, *_ = rows[-1]
        tx.run(SQL["release_until"], (last_due_at, last_id))
        _place_due(tx, rows, now)
    return Released(len(rows), tx.value(SQL["next_due"]))


def _place_due(tx: Transaction, rows: Sequence[Row], now: Instant) -> None:
    """run_id, queue, priority, due_at, has_limits, is_waiting"""
    placements = [
        Placement(run_id, queue, priority, due_at, bool(has_limits), bool(is_waiting))
        for run_id, queue, priority, due_at, has_limits, is_waiting in rows
    ]
    admit_keys(tx, place(tx, placements, now))


def _decide_gates(
    tx: Transaction, decided: Sequence[Decided], postponed: Sequence[Postponed], now: Instant
) -> list[RunId]:
    waiting = [one for one in decided if tx.run(SQL["leave_gated"], (one.run_id,))]
    tx.run_many(SQL["add_decisions"], [(run_id, msgspec.json.encode(decision)) for run_id, decision in waiting])
    ends = {run_id: ended for run_id, decision in waiting if (ended := gate_ending(decision)) is not None}
    started = encode_names(run_id for run_id, _ in waiting if run_id not in ends)
    _place_due(tx, tx.rows(SQL["passed_runs"], (started,)), now)
    end_unstarted(tx, ends, release_places(tx, ends), now)
    stop_failed_jobs(tx, [run_id for run_id, ended in ends.items() if ended.status is Status.FAILED], now)
    later = [run_id for run_id, until in postponed if tx.run(SQL["postpone"], (until, run_id))]
    return [one.run_id for one in waiting] + later


def is_expected(session: Session, project: str, job_id: JobId, until: Instant) -> bool:
    """Whether a run of the job is due and has not ended at `until`."""
    return bool(session.value(SQL["is_expected"], (project, job_id, until, _NEWEST_RUNS)))


def read_dependency_state(
    session: Session, project: str, job_id: JobId, after: Instant, until: Instant
) -> DependencyState:
    end = session.row(SQL["latest_ending"], (project, job_id, after, until))
    return DependencyState(None if end is None else _end_of(end), is_expected(session, project, job_id, until))


def read_latest_end(
    session: Session,
    project: str,
    job_id: JobId,
    statuses: Collection[Status],
    reasons: Collection[Reason] | None,
    until: Instant,
) -> End | None:
    """Return the latest end, with one look-up per status, or per status and reason."""
    sql = SQL["latest_of_status" if reasons is None else "latest_of_reason"]
    asked = product(statuses) if reasons is None else product(statuses, reasons)
    found = [_end_of(row) for what in asked for row in session.rows(sql, (project, job_id, *what, until))]
    return max(found, key=lambda end: (end.finished_at, end.run_id), default=None)


def _end_of(row: Row) -> End:
    run_id, status, finished_at = row
    return End(run_id, Status(status), finished_at)


def _queues(document: Any) -> tuple[str, ...]:
    """Decode the queues of a worker for display."""
    try:
        return decode_names(document)
    except UNREADABLE:
        return ("unreadable",)
