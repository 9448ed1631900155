"""Admits due runs: releases them when they are due, and applies their gates and limits."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, Final

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction, merge_lists
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.postgres.rows.admit import Admitter
from foliot.adapters.storage.postgres.rows.definition import DefinitionReader
from foliot.adapters.storage.postgres.rows.end import end_unleased
from foliot.adapters.storage.postgres.rows.failures import stop_failed_jobs
from foliot.adapters.storage.postgres.rows.place import Placement, lock_held_limits, place
from foliot.adapters.storage.shared.definition_cache import Reference, gated_of
from foliot.adapters.storage.shared.documents import encode
from foliot.adapters.storage.shared.finish_plan import gate_ending
from foliot.adapters.storage.shared.rows import worker_of
from foliot.domain.gate.decision import Decided, DependencyState, End, Gated, Postponed
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import WorkerState
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.ports.admission import Released

NEWEST_RUNS: Final = 50
"""An expected run is searched among this many newest runs of a job."""


class PostgresAdmission:
    """Fills `ports.admission.Admission`."""

    def __init__(self, database: Database, admitter: Admitter, definitions: DefinitionReader, project: str) -> None:
        self._database = database
        self._admitter = admitter
        self._definitions = definitions
        self._project = project

    async def release_due(self, limit: int, *, at: Instant | None = None) -> Released:
        return await self._admitter.write("release_due", partial(_release_due, limit=limit, at=at), at)

    async def admit(self, limit: int, *, at: Instant | None = None) -> int:
        return await self._admitter.admit_all(limit, at)

    async def ready(self, queue: str, limit: int) -> list[RunId]:
        return [row[0] for row in await self._database.rows("ready_runs", queue, limit)]

    async def workers(self, *, at: Instant | None = None) -> list[WorkerState]:
        return [worker_of(row, row["queues"]) for row in await self._database.rows("all_workers", at)]

    # -- gates

    async def gated(self, limit: int, *, at: Instant | None = None) -> tuple[Instant, list[Gated]]:
        now = await self._database.now(at)
        rows = await self._database.rows("gated_runs", now, limit)
        references = [Reference(row[1], *row[4:]) for row in rows]
        known = await self._definitions.find(self._database, set(references)) if rows else {}
        return now, [gated_of(row, known[reference.id]) for row, reference in zip(rows, references, strict=True)]

    async def decide_gates(
        self, decided: Sequence[Decided], postponed: Sequence[Postponed], *, at: Instant | None = None
    ) -> list[RunId]:
        work = partial(_decide_gates, decided=decided, postponed=postponed, at=at)
        return await self._admitter.write("decide_gates", work, at, merge=merge_lists)

    async def dependency_states(
        self, job_ids: Collection[JobId], *, after: Instant, until: Instant
    ) -> dict[JobId, DependencyState]:
        rows = await self._database.rows("dependency_states", self._project, list(job_ids), after, until, NEWEST_RUNS)
        seen = {
            JobId(job_id): DependencyState(None if end[0] is None else _end_of(end), is_expected)
            for job_id, *end, is_expected in rows
        }
        return {job_id: seen.get(job_id, DependencyState(None, False)) for job_id in job_ids}

    async def latest_end(
        self,
        job_id: JobId,
        statuses: Collection[Status],
        *,
        reasons: Collection[Reason] | None = None,
        until: Instant,
    ) -> End | None:
        """Return the latest end, with one index look-up per status, or per status and reason."""
        asked = (self._project, job_id, [status.value for status in statuses], until)
        if reasons is None:
            rows = await self._database.rows("latest_of_status", *asked)
        else:
            rows = await self._database.rows("latest_of_reason", *asked, [reason.value for reason in reasons])
        return _end_of(rows[0]) if rows else None

    async def decisions(self, run_ids: Collection[RunId]) -> dict[RunId, bytes]:
        return {row[0]: row[1].encode() for row in await self._database.rows("decisions", list(run_ids))}


async def _release_due(transaction: Transaction, *, limit: int, at: Instant | None) -> Released:
    now = await transaction.now(at)
    rows = await transaction.rows("take_due", now, limit)
    free = [row[:5] for row in rows if not row["is_waiting"]]
    # A run that waits for its overlap key stays where it is: admission places it when it gets the key.
    if waiting := [row["id"] for row in rows if row["is_waiting"]]:
        await lock_held_limits(transaction, waiting)
        # Runs in `later` that got their key just now are placed here.
        free += await transaction.rows("passed_runs", waiting)
    await place(transaction, [Placement.of_row(*row) for row in free], now)
    return Released(len(rows), await transaction.value("next_due"))


async def _decide_gates(
    transaction: Transaction, *, decided: Sequence[Decided], postponed: Sequence[Postponed], at: Instant | None
) -> list[RunId]:
    now = await transaction.now(at)
    decisions = dict(decided)
    saved = await _leave_gated(transaction, list(decisions))
    if saved:
        await transaction.run("add_decisions", saved, [encode(decisions[run_id]) for run_id in saved])
    endings = {run_id: ended for run_id in saved if (ended := gate_ending(decisions[run_id])) is not None}
    if admitted := [run_id for run_id in saved if run_id not in endings]:
        # A run that waits for its overlap key stays where it is: admission places it when it gets the key.
        rows = await transaction.rows("passed_runs", admitted)
        await place(transaction, [Placement.of_row(*row) for row in rows], now)
    if endings:
        transaction.keys.update(await transaction.column("release_holds", list(endings)))
    await end_unleased(transaction, endings, now)
    failed = [run_id for run_id, ended in endings.items() if ended.status is Status.FAILED]
    await stop_failed_jobs(transaction, failed, now)
    return saved + (await transaction.column("postpone", *columns(postponed)) if postponed else [])


async def _leave_gated(transaction: Transaction, run_ids: list[RunId]) -> list[RunId]:
    """Take the runs that still wait for their gate. While their limits are locked, admission does not move them on."""
    if not run_ids:
        return []
    await lock_held_limits(transaction, run_ids)
    return await transaction.column("leave_gated", run_ids)


def _end_of(row: Sequence[Any]) -> End:
    run_id, status, finished_at = row
    return End(run_id, Status(status), finished_at)
