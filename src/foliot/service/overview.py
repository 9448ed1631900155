"""What there is, what runs and what comes: bounded looks, however much is stored."""

from collections.abc import Sequence
from typing import Final

from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.run import BEGUN, Run, Status
from foliot.domain.schedule import Schedule
from foliot.domain.timetable import Timetable
from foliot.domain.workflow.start import NOTHING, Told
from foliot.errors import RowUnreadable
from foliot.ports.clock import Clock
from foliot.ports.runs import Depth, RunFilter
from foliot.ports.storage import Storage
from foliot.service.paging import job_id_of, page_of_jobs
from foliot.service.views import (
    JobView,
    RunView,
    ScheduleView,
    TickView,
    WorkerView,
    preview_of,
    view_job,
    view_run,
    view_schedule,
    view_tick,
    view_unreadable_job,
    view_worker,
)

MOST_COUNTED: Final = 10_000
"""A count that says this may stand for more."""


class Overview:
    """Tells what is going on."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def jobs(self, *, after: str | None = None, limit: int = 100) -> list[JobView]:
        """Jobs by id, each with its latest run."""
        jobs = await page_of_jobs(self._storage, None if after is None else JobId(after), limit)
        latest = await self._storage.runs.latest([job_id_of(job) for job in jobs])
        return [
            view_unreadable_job(job) if isinstance(job, RowUnreadable) else view_job(job, latest.get(job.id))
            for job in jobs
        ]

    async def schedules(
        self, *, job_id: str | None = None, after: str | None = None, limit: int = 100
    ) -> list[ScheduleView]:
        """Schedules by id, each with its next fire times."""
        page = await self._storage.schedules.page(
            job_id=None if job_id is None else JobId(job_id),
            after=None if after is None else ScheduleId(after),
            limit=limit,
        )
        return self._views(page)

    async def upcoming(self, limit: int = 20) -> list[ScheduleView]:
        """The schedules that will fire next, in that order. One that cannot be read will not."""
        coming = self._views(await self._storage.schedules.upcoming(limit))
        return [schedule for schedule in coming if not schedule.unreadable]

    async def run(self, run: Run) -> RunView:
        """A run, with for whom and under which key it was started."""
        return view_run(run, await told_of(self._storage, run.id))

    async def running(self, limit: int = 100) -> list[RunView]:
        """Runs under way, newest first."""
        return await self.newest(*BEGUN, limit=limit)

    async def newest(self, *statuses: Status, limit: int) -> list[RunView]:
        """Runs of these statuses, newest first."""
        pages = [await self._storage.runs.page(RunFilter(status=status, limit=limit)) for status in statuses]
        found = [run for page in pages for run in page]
        return [view_run(run) for run in sorted(found, key=lambda run: run.id, reverse=True)[:limit]]

    async def ticks(self, schedule: Schedule, limit: int = 100) -> list[TickView]:
        """The newest rows of a schedule's ledger, newest first, each with where its run stands."""
        ticks = await self._storage.schedules.latest_ticks(schedule.uid, limit=limit)
        runs = await self._storage.runs.get([tick.run_id for tick, *_ in ticks if tick.run_id is not None])
        return [
            view_tick(schedule.id, tick, None if tick.record.run_id is None else runs.get(tick.record.run_id))
            for tick in ticks
        ]

    async def depth(self, limit: int = MOST_COUNTED) -> Depth:
        """How many runs are running, queued and scheduled, each counted up to `limit`."""
        return await self._storage.runs.depth(limit)

    async def workers(self) -> list[WorkerView]:
        return [view_worker(state) for state in await self._storage.workers.all()]

    def _views(self, schedules: Sequence[Schedule]) -> list[ScheduleView]:
        now = self._clock.now()
        return [view_schedule(schedule, _preview(schedule, now)) for schedule in schedules]


async def told_of(storage: Storage, run_id: RunId) -> Told:
    """What is told of the beginning of a run."""
    try:
        return Told.read(await storage.runs.overrides(run_id))
    except RowUnreadable:
        return NOTHING


def _preview(schedule: Schedule, now: Instant) -> Sequence[Instant]:
    """The next fire times by the current rule: none while paused, and none of a schedule that has had its last, or
    cannot be read."""
    if schedule.paused_at is not None or not schedule.enabled or schedule.is_unreadable:
        return ()
    return preview_of(Timetable(schedule.id, (schedule.revision,)), max(now, schedule.settled_until))
