"""Reads of records by id, and of the lists that commands and `verify` read in pages."""

from collections.abc import Collection
from itertools import groupby

from foliot.adapters.storage.shared.documents import read_overrides
from foliot.adapters.storage.shared.project_pauses import last_project_pause, project_pauses_of
from foliot.adapters.storage.shared.reads import Query, Read, Rows
from foliot.adapters.storage.shared.rows import ledger_of, tick_of
from foliot.adapters.storage.shared.run_reads import RunReads
from foliot.adapters.storage.shared.run_rows import attempt_of, kept_from
from foliot.adapters.storage.shared.tree_rows import state_of
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.run.run import AttemptRecord, Run
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.tick import TickRecord
from foliot.domain.workflow.execution import Execution
from foliot.domain.workflow.progress import StepState
from foliot.ports.ticks import ScheduleLedger


class RecordReads:
    """Reads of one project. Each query may read its own snapshot."""

    def __init__(self, project: str, runs: RunReads) -> None:
        self._project = project
        self._runs = runs

    # -- runs and executions

    def runs(self, run_ids: Collection[RunId]) -> Read[dict[RunId, Run]]:
        return (yield from self._runs.by_id(run_ids))

    def overrides(self, run_id: RunId) -> Read[bytes | None]:
        rows = yield Query("overrides", ([run_id],))
        return read_overrides(rows[0][1] if rows else None, run_id)

    def attempts(self, run_id: RunId) -> Read[list[AttemptRecord]]:
        return [attempt_of(row) for row in (yield Query("attempts", (run_id,)))]

    def executions(self, run_ids: Collection[RunId]) -> Read[dict[RunId, Execution]]:
        return {execution.run_id: execution for execution in (yield from self._runs.records(run_ids))}

    def active_executions(self, workflow_id: str | None, after: RunId | None, limit: int) -> Read[list[Execution]]:
        run_ids = yield from self._runs.active(workflow_id, after, limit)
        return (yield from self._runs.records(run_ids))

    def step_states(self, run_id: RunId, steps: Collection[str] | None) -> Read[dict[str, StepState]]:
        rows = yield Query("all_states", (run_id,))
        return {row[0]: state_of(row[0], row[1:]) for row in rows if steps is None or row[0] in steps}

    # -- the ledger

    def ticks(self, uid: ScheduleUid, after: Instant, until: Instant, limit: int) -> Read[list[TickRecord]]:
        return [tick_of(row) for row in (yield Query("ticks", (uid, after, until, limit)))]

    def tick_keys(
        self, uid: ScheduleUid, after: Instant, until: Instant, limit: int
    ) -> Read[list[tuple[Instant, str]]]:
        return [(moment, key) for moment, key in (yield Query("tick_keys", (uid, after, until, limit)))]

    def shared_runs(self, uid: ScheduleUid, after: Instant) -> Read[list[RunId]]:
        return [RunId(run_id) for (run_id,) in (yield Query("shared_runs", (uid, after)))]

    def ledgers(
        self, after: ScheduleUid | None, limit: int, ids: Collection[ScheduleId] | None
    ) -> Read[list[ScheduleLedger]]:
        if ids is None:
            rows = yield Query("ledgers", (self._project, after or "", limit))
        else:
            rows = yield Query("ledgers_of", (self._project, after or "", limit, list(ids)))
        uids = [row[0] for row in rows]
        revisions = yield from self._of_schedules("revisions", uids)
        pauses = yield from self._of_schedules("pauses", uids)
        planned = yield from self._of_schedules("planned_ticks", uids)
        boots = yield from self._of_schedules("boots", uids)
        project_pauses = project_pauses_of((yield Query("project_pauses", (self._project, 0)))).pauses if uids else ()
        return [
            ledger_of(
                self._project,
                row[:-1],
                row[-1],
                revisions.get(row[0], ()),
                pauses.get(row[0], ()),
                planned.get(row[0], ()),
                boots.get(row[0], ()),
                project_pauses,
            )
            for row in rows
        ]

    def _of_schedules(self, query: str, uids: list[ScheduleUid]) -> Read[dict[ScheduleUid, Rows]]:
        """Return the rows of each schedule, without the uid column."""
        rows = (yield Query(query, (uids,))) if uids else ()
        return {uid: [row[1:] for row in group] for uid, group in groupby(rows, key=lambda row: row[0])}

    def project_pause(self) -> Read[ProjectPause | None]:
        return (yield from last_project_pause(self._project))

    # -- logs

    def logs_kept_from(self) -> Read[Instant | None]:
        rows = yield Query("logs_kept_from")
        return kept_from(rows[0][0] if rows else None)
