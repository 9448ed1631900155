"""Queries about schedules."""

import msgspec

from foliot.domain.ids import JobId, ScheduleId
from foliot.ports.clock import Clock
from foliot.ports.pages import ScheduleDetails
from foliot.ports.storage import Storage
from foliot.service.paging import PAGE, each_of
from foliot.service.queries.actions import ActionQueries
from foliot.service.queries.schedule_view import (
    ScheduleView,
    TickView,
    view_listed_schedule,
    view_ruled_schedule,
    view_tick,
)
from foliot.service.references import References


class SchedulePage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one schedule."""

    schedule: ScheduleView
    ticks: list[TickView]
    """The latest ticks, newest first."""


class ScheduleQueries:
    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._queries = storage.queries
        self._actions = ActionQueries(storage.audit)
        self._references = References(storage)
        self._clock = clock

    async def page(self, schedule_id: str) -> SchedulePage:
        found = await self._queries.schedule(ScheduleId(schedule_id))
        if found is None:
            raise await self._references.no_schedule(schedule_id)
        return await self.page_of(found)

    async def page_of(self, details: ScheduleDetails) -> SchedulePage:
        if details.error is not None:
            raise details.error
        schedule = view_ruled_schedule(details.schedule, details.revisions, self._clock.now(), details.project_pause)
        [shown] = await self._actions.with_pausers([schedule])
        return SchedulePage(schedule=shown, ticks=view_ticks(details))

    async def ticks(self, schedule_id: str, limit: int = 100) -> list[TickView]:
        """Return the newest rows of the ledger of a schedule, newest first, each with the status of its run."""
        found = await self._queries.schedule(ScheduleId(schedule_id), ticks=limit)
        if found is None:
            raise await self._references.no_schedule(schedule_id)
        return view_ticks(found)

    async def listed(
        self, *, job_id: str | None = None, after: str | None = None, limit: int = 100
    ) -> list[ScheduleView]:
        """Return schedules by id, with their next fire times; with `job_id` those that start this job or workflow."""
        found = await self._queries.schedules(
            job_id=None if job_id is None else JobId(job_id),
            after=None if after is None else ScheduleId(after),
            limit=limit,
        )
        now = self._clock.now()
        listed = [view_listed_schedule(schedule, now, found.project_pause) for schedule in found.schedules]
        return await self._actions.with_pausers(listed)

    async def all(self, job_id: str | None = None) -> list[ScheduleView]:
        """Return all schedules, or all of one job, read page by page. The job must exist."""
        pages = each_of(
            lambda after: self.listed(job_id=job_id, after=after, limit=PAGE),
            lambda schedule: schedule.schedule_id,
            full=PAGE,
        )
        found = [schedule async for schedule in pages]
        if not found and job_id is not None and await self._queries.job(JobId(job_id)) is None:
            raise await self._references.no_job(job_id)
        return found


def view_ticks(details: ScheduleDetails) -> list[TickView]:
    runs = details.runs
    return [
        view_tick(details.schedule.id, tick, None if tick.record.run_id is None else runs.get(tick.record.run_id))
        for tick in details.ticks
    ]
