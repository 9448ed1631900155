"""Reads of jobs, schedules and workflows, and of the overview."""

from collections.abc import Callable, Collection
from functools import partial
from itertools import groupby
from typing import Final, TypeVar

from foliot.adapters.storage.shared.project_pauses import last_project_pause
from foliot.adapters.storage.shared.reads import Query, Read, Rows
from foliot.adapters.storage.shared.rows import Row, job_of, ledger_row_of, repair_schedules, revision_of, schedule_of
from foliot.adapters.storage.shared.run_reads import RunReads
from foliot.adapters.storage.shared.tick_reads import TickReads
from foliot.adapters.storage.shared.tree_rows import version_of
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import Job
from foliot.domain.run.reference import RunReference, read_reference
from foliot.domain.run.run import BEGUN, Run, Status
from foliot.domain.schedule.schedule import Revision, Schedule
from foliot.errors import RowUnreadable
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.health import OverviewDetails, OverviewLimits
from foliot.ports.pages import (
    ExecutionDetails,
    FoundRun,
    JobDetails,
    JobSummary,
    Matches,
    RunDetails,
    RunFilter,
    ScheduleDetails,
    ScheduleList,
    WorkflowDetails,
    WorkflowSummary,
)

T = TypeVar("T")

_RECENT_RUNS: Final = 5
_RECENT_TICKS: Final = 10
_SCHEDULES: Final = 1_000
_NO_VERSION: Final = 2**31 - 1
"""A number that is higher than that of any version."""


class DefinitionReads:
    """Reads of one project."""

    def __init__(self, project: str, runs: RunReads) -> None:
        self._project = project
        self._runs = runs
        self._ticks = TickReads(project, runs)

    def named(self, name: str) -> Read[JobDetails | ScheduleDetails | RunDetails | Matches]:
        job = yield from self.job(JobId(name))
        if job is not None:
            return job
        schedule = yield from self.schedule(ScheduleId(name))
        if schedule is not None:
            return schedule
        return (yield from self._runs.details(read_reference(name)))

    # -- jobs

    def job(self, job_id: JobId) -> Read[JobDetails | None]:
        rows = yield Query("get_jobs", (self._project, [job_id]))
        if not rows:
            return None
        job = job_of(self._project, rows[0])
        runs = yield from self._runs.page(RunFilter(job_id=job_id, limit=_RECENT_RUNS))
        latest = yield from self._runs.latest(() if job.spec.gate is None else job.spec.gate.depends_on)
        schedules = yield from self._all_schedules(job_id)
        ticks = yield from self._ticks.newest({one.uid: one.id for one in schedules}, _RECENT_RUNS)
        pause = yield from last_project_pause(self._project)
        return JobDetails(job, schedules, runs, latest, ticks, pause)

    def jobs(self, after: JobId | None, limit: int) -> Read[list[JobSummary]]:
        rows = yield Query("page_jobs", (self._project, after or "", limit))
        job_ids = [row[0] for row in rows]
        latest = yield from self._runs.latest(job_ids)
        schedules = yield from self.schedules_by_target(job_ids)
        pause = yield from last_project_pause(self._project)
        jobs: list[Job | RowUnreadable] = [_or_error(partial(job_of, self._project), row) for row in rows]
        return [
            JobSummary(job, latest.get(job_id), schedules.get(job_id, ()), pause)
            for job_id, job in zip(job_ids, jobs, strict=True)
        ]

    # -- schedules

    def schedule(self, schedule_id: ScheduleId, limit: int = _RECENT_TICKS) -> Read[ScheduleDetails | None]:
        rows = yield Query("get_schedules", (self._project, [schedule_id]))
        if not rows:
            return None
        revisions = yield Query("revisions", ([rows[0][0]],))
        schedule, ruling, error = self._ruled(rows[0], [row[1:] for row in revisions])
        ticks = [ledger_row_of(row) for row in (yield Query("latest_ticks", (schedule.uid, limit)))]
        found = yield from self._runs.get([tick.record.run_id for tick in ticks if tick.record.run_id is not None])
        pause = yield from last_project_pause(self._project)
        return ScheduleDetails(schedule, error, ruling, ticks, found.runs, pause)

    def _ruled(self, row: Row, revisions: Rows) -> tuple[Schedule, list[Revision], RowUnreadable | None]:
        """Return a schedule with its revisions. If a row cannot be read: no revisions, and the error."""
        try:
            return schedule_of(self._project, row), [revision_of(one) for one in revisions], None
        except RowUnreadable as error:
            stored = repair_schedules(self._project, [row], {row[0]: revisions})
            return stored.shown[0], [], error.place_in(row[0], row[1])

    def schedules(self, job_id: JobId | None, after: ScheduleId | None, limit: int) -> Read[list[Schedule]]:
        if job_id is None:
            rows = yield Query("list_schedules", (self._project, after or "", limit))
        else:
            rows = yield Query("list_schedules_of_job", (self._project, job_id, after or "", limit))
        return (yield from self.read_schedules(rows))

    def schedule_page(self, job_id: JobId | None, after: ScheduleId | None, limit: int) -> Read[ScheduleList]:
        schedules = yield from self.schedules(job_id, after, limit)
        return ScheduleList(schedules, (yield from last_project_pause(self._project)))

    def _all_schedules(self, job_id: JobId) -> Read[list[Schedule]]:
        found: list[Schedule] = []
        while page := (yield from self.schedules(job_id, found[-1].id if found else None, _SCHEDULES)):
            found += page
            if len(page) < _SCHEDULES:
                break
        return found

    def schedules_by_target(self, job_ids: Collection[str]) -> Read[dict[str, list[Schedule]]]:
        """Return the schedules that start these jobs or workflows, by target. Unreadable ones are omitted."""
        rows = (yield Query("schedules_of_targets", (self._project, list(job_ids)))) if job_ids else ()
        schedules = yield from self.read_schedules(rows)
        by_target: dict[str, list[Schedule]] = {}
        for schedule in schedules:
            by_target.setdefault(schedule.revision.spec.target, []).append(schedule)
        return by_target

    def read_schedules(self, rows: Rows) -> Read[list[Schedule]]:
        """Decode schedules. An unreadable row is repaired from its current revision."""
        try:
            return [schedule_of(self._project, row) for row in rows]
        except RowUnreadable:
            pass
        found = yield Query("revisions", ([row[0] for row in rows],))
        revisions = {uid: [row[1:] for row in group] for uid, group in groupby(found, key=lambda row: row[0])}
        return repair_schedules(self._project, rows, revisions).shown

    # -- workflows

    def workflow(
        self, workflow_id: str, number: int | None, reference: RunReference | None
    ) -> Read[WorkflowDetails | None]:
        rows = yield Query("newest_versions", (self._project, [workflow_id]))
        if not rows:
            return None
        newest = version_of(rows[0])
        found = None if reference is None else (yield from self._runs.find(reference))
        asked = found.run if isinstance(found, FoundRun) else found
        latest = (yield from self._runs.latest([JobId(workflow_id)])).get(JobId(workflow_id))
        execution = yield from self._shown_execution(latest if reference is None else asked)
        if reference is not None and execution is not None:
            number = execution.execution.version
        version = newest if number is None else (yield from self._version(workflow_id, number))
        paused = frozenset(row[0] for row in (yield Query("paused_steps", (self._project, workflow_id))))
        schedules = yield from self._all_schedules(JobId(workflow_id))
        blockers = yield from self._runs.blockers([*execution.waiting.values()] if execution is not None else [])
        return WorkflowDetails(newest, version, latest, asked, execution, paused, schedules, blockers)

    def _shown_execution(self, run: Run | Matches | None) -> Read[ExecutionDetails | None]:
        if not isinstance(run, Run) or run.parent_id is not None:
            return None
        found = yield from self._runs.executions([run.id])
        return found[0] if found else None

    def _version(self, workflow_id: str, number: int) -> Read[WorkflowVersion | None]:
        found = (yield from self._runs.versions([(workflow_id, number)])).get((workflow_id, number))
        if isinstance(found, RowUnreadable):
            raise found
        return found

    def versions(
        self, workflow_id: str, before: int | None, limit: int
    ) -> Read[dict[int, WorkflowVersion | RowUnreadable]]:
        last = _NO_VERSION if before is None else max(0, min(before, _NO_VERSION))
        rows = yield Query("versions_before", (self._project, workflow_id, last, limit))
        return {row[1]: _or_error(version_of, row) for row in rows}

    def workflows(self, after: str | None, limit: int) -> Read[list[WorkflowSummary]]:
        workflow_ids = [row[0] for row in (yield Query("page_workflows", (self._project, after or "", limit)))]
        rows = (yield Query("newest_versions", (self._project, workflow_ids))) if workflow_ids else ()
        versions: dict[str, WorkflowVersion | RowUnreadable] = {row[0]: _or_error(version_of, row) for row in rows}
        latest = yield from self._runs.latest([JobId(name) for name in workflow_ids])
        schedules = yield from self.schedules_by_target(workflow_ids)
        pause = yield from last_project_pause(self._project)
        return [
            WorkflowSummary(versions[name], latest.get(JobId(name)), schedules.get(name, ()), pause)
            for name in workflow_ids
            if name in versions
        ]

    # -- all

    def overview(self, limits: OverviewLimits) -> Read[OverviewDetails]:
        active = yield from self._runs.active(None, None, limits.rows)
        return OverviewDetails(
            depth=(yield from self._runs.depth(limits.counted)),
            executions=(yield from self._runs.records(active)),
            running=(yield from self._newest(BEGUN, limits.rows)),
            queued=(yield from self._newest([Status.QUEUED], limits.rows)),
            failures=(yield from self._newest([Status.FAILED, Status.TIMEOUT], limits.failures)),
            upcoming=(yield from self.read_schedules((yield Query("upcoming_schedules", (limits.rows,))))),
            workers=(yield from self._runs.workers()),
            project_pause=(yield from last_project_pause(self._project)),
        )

    def _newest(self, statuses: Collection[Status], limit: int) -> Read[list[Run]]:
        found: list[Run] = []
        for status in statuses:
            found += yield from self._runs.page(RunFilter(status=status, limit=limit, roots=True))
        return sorted(found, key=lambda run: run.id, reverse=True)[:limit]


def _or_error(make: Callable[[Row], T], row: Row) -> T | RowUnreadable:
    try:
        return make(row)
    except RowUnreadable as error:
        return error
