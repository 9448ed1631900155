"""Queries about jobs."""

import msgspec

from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.errors import RowUnreadable
from foliot.ports.clock import Clock
from foliot.ports.pages import JobDetails, JobSummary
from foliot.ports.storage import Storage
from foliot.service.paging import PAGE, each_of
from foliot.service.queries.actions import ActionQueries
from foliot.service.queries.job_view import JobView, view_job, view_unreadable_job
from foliot.service.queries.run_view import RunView, view_run
from foliot.service.queries.schedule_view import ScheduleView, TickView, view_listed_schedule
from foliot.service.queries.ticks import view_tick_page
from foliot.service.references import References


class JobPage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one job."""

    job: JobView
    schedules: list[ScheduleView]
    runs: list[RunView]
    """The latest runs, newest first."""
    gate: Gate | None
    dependencies: dict[str, RunView]
    """The latest run of each job that the gate depends on."""
    ticks: list[TickView]
    """The latest ticks of its schedules, newest first."""


class JobListItem(msgspec.Struct, frozen=True, kw_only=True):
    job: JobView
    schedules: list[ScheduleView]


class JobQueries:
    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._queries = storage.queries
        self._actions = ActionQueries(storage.audit)
        self._references = References(storage)
        self._clock = clock

    async def page(self, job_id: str) -> JobPage:
        found = await self._queries.job(JobId(job_id))
        if found is None:
            raise await self._references.no_job(job_id)
        return await self.page_of(found)

    async def page_of(self, details: JobDetails) -> JobPage:
        now = self._clock.now()
        schedules = [view_listed_schedule(schedule, now, details.project_pause) for schedule in details.schedules]
        return JobPage(
            job=await self._actions.with_pauser(view_job(details.job, details.runs[0] if details.runs else None)),
            schedules=await self._actions.with_pausers(schedules),
            runs=[view_run(run) for run in details.runs],
            gate=details.job.spec.gate,
            dependencies={job_id: view_run(run) for job_id, run in details.latest.items()},
            ticks=view_tick_page(details.ticks),
        )

    async def listed(self, *, after: str | None = None, limit: int = 100) -> list[JobListItem]:
        """Return jobs by id, those after `after`, each with its latest run and its schedules."""
        found = await self._queries.jobs(after=None if after is None else JobId(after), limit=limit)
        now = self._clock.now()
        return [_listed(summary, now) for summary in found]

    async def all(self) -> list[JobListItem]:
        """Return all jobs, read page by page."""
        pages = each_of(lambda after: self.listed(after=after, limit=PAGE), lambda listed: listed.job.id, full=PAGE)
        return [listed async for listed in pages]


def _listed(summary: JobSummary, now: Instant) -> JobListItem:
    job = summary.job
    if isinstance(job, RowUnreadable):
        return JobListItem(job=view_unreadable_job(job), schedules=[])
    schedules = [view_listed_schedule(one, now, summary.project_pause) for one in summary.schedules]
    return JobListItem(job=view_job(job, summary.latest), schedules=schedules)
