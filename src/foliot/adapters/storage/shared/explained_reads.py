"""Reads of a run or a planned time with everything that decided about it."""

from functools import partial
from typing import Final

from foliot.adapters.storage.shared.project_pauses import project_pauses_of
from foliot.adapters.storage.shared.reads import Leader, PageOfRuns, Query, Read
from foliot.adapters.storage.shared.row_types import instant_of
from foliot.adapters.storage.shared.rows import ledger_row_of, read_rows, revision_of, schedule_of
from foliot.adapters.storage.shared.run_reads import RunReads
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid, first_id_at
from foliot.domain.instant import Instant
from foliot.domain.run.reference import RunById, RunReference
from foliot.domain.run.run import Run
from foliot.domain.schedule.schedule import Pause
from foliot.domain.schedule.tick import PlannedTick, TickReason
from foliot.ports.pages import Explained, Matches, RunDetails, RunFilter
from foliot.ports.ticks import LedgerRow, TickDetails

_ANY: Final = ""
_STOPPED_AT: Final = 7
"""The column of `get_jobs`."""
_EARLIER_RUNS: Final = 20
"""Among so many runs of a schedule before a tick, those that it overlapped with are looked for."""


class ExplainedReads:
    """Reads of one project."""

    def __init__(self, project: str, runs: RunReads) -> None:
        self._project = project
        self._runs = runs

    def run(self, reference: RunReference) -> Read[Explained | Matches]:
        details = yield from self._runs.details(reference)
        if isinstance(details, Matches):
            return details
        tick = details.run.tick
        if tick is None:
            return Explained(details, None)
        planned = tick.scheduled_for
        return Explained(details, (yield from self._tick(tick.uid, tick.schedule_id, planned, planned)))

    def tick(self, schedule_id: ScheduleId, since: Instant, until: Instant) -> Read[Explained | None]:
        rows = yield Query("get_schedules", (self._project, [schedule_id]))
        if not rows:
            return None
        found = yield from self._tick(rows[0][0], schedule_id, since, until)
        run_id = None if found.row is None else found.row.record.run_id
        return Explained(None if run_id is None else (yield from self._details(run_id)), found)

    def _details(self, run_id: RunId) -> Read[RunDetails | None]:
        """Return a run, or None if retention has removed it."""
        details = yield from self._runs.details(RunById(run_id))
        return None if isinstance(details, Matches) else details

    def _tick(self, uid: ScheduleUid, schedule_id: ScheduleId, since: Instant, until: Instant) -> Read[TickDetails]:
        schedules = yield Query("get_schedules", (self._project, [schedule_id]))
        living, _ = read_rows(partial(schedule_of, self._project), [row for row in schedules if row[0] == uid])
        stored = yield Query("revisions", ([uid],))
        revisions, _ = read_rows(revision_of, [one[1:] for one in stored])
        pauses = yield Query("pauses", ([uid],))
        project_pauses = project_pauses_of((yield Query("project_pauses", (self._project, since - 1)))).pauses
        row = yield from self._row(uid, since, until)
        target = living[0].revision.spec.target if living else None
        jobs = (yield Query("get_jobs", (self._project, [target]))) if target else ()
        at = since if row is None else max(since, row.record.scheduled_for)
        waiting = [PlannedTick(*one[1:]) for one in (yield Query("planned_ticks", ([uid],)))]
        leaders = yield Leader()
        return TickDetails(
            schedule_id=schedule_id,
            at=at,
            schedule=living[0] if living else None,
            revisions=revisions,
            pauses=[Pause(*one[1:]) for one in pauses],
            project_pauses=project_pauses,
            row=row,
            planned=next((tick for tick in waiting if since <= tick.scheduled_for <= until), None),
            before=(yield from self._row(uid, Instant(0), Instant(since - 1))),
            into=(yield from self._into(uid, row)),
            in_flight=(yield from self._in_flight(schedule_id, row)),
            stopped_at=instant_of(jobs[0][_STOPPED_AT]) if jobs else None,
            has_scheduler=any(is_alive for _, _, is_alive in leaders),
        )

    def _row(self, uid: ScheduleUid, since: Instant, until: Instant) -> Read[LedgerRow | None]:
        """Return the newest row that overlaps [since, until]."""
        rows = yield Query("search_ticks", (uid, _ANY, since, until, 1))
        return ledger_row_of(rows[0]) if rows else None

    def _into(self, uid: ScheduleUid, row: LedgerRow | None) -> Read[LedgerRow | None]:
        into = None if row is None else row.record.into
        return None if into is None else (yield from self._row(uid, into, into))

    def _in_flight(self, schedule_id: ScheduleId, row: LedgerRow | None) -> Read[list[Run]]:
        if row is None or row.record.reason is not TickReason.OVERLAP:
            return []
        decided_at = row.decided_at
        before = RunId(first_id_at(Instant(decided_at + 1)))
        ids = yield PageOfRuns(RunFilter(schedule_id=schedule_id, before=before, limit=_EARLIER_RUNS))
        runs = (yield from self._runs.get([one[0] for one in ids])).runs.values()
        earlier = [run for run in runs if run.created_at <= decided_at]
        found = [run for run in earlier if run.finished_at is None or run.finished_at >= decided_at]
        return sorted(found, key=lambda run: run.id)
