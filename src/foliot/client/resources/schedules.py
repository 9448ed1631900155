"""Schedules by HTTP."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Unpack

from foliot.client.request import Request, build_path, encode_body, given_only
from foliot.client.resources.base import PAGE, Resource, each_item
from foliot.domain.input.typed import UpsertOptions
from foliot.service.answers import Deleted, Page, Paused, Resumed, Upserted
from foliot.service.queries.ledger_page import LedgerPage
from foliot.service.queries.pause_view import PauseView
from foliot.service.queries.schedule_view import ScheduleView, TickView


class AsyncSchedules(Resource):
    """Reads, stores, pauses and deletes schedules."""

    async def get(self, schedule_id: str) -> ScheduleView:
        """Return a schedule with its next five fire times."""
        return await self._get(ScheduleView, "schedules", schedule_id)

    async def page(
        self, *, limit: int = PAGE, cursor: str | None = None, job_id: str | None = None
    ) -> Page[ScheduleView]:
        """Return some schedules by id, of one job or of all."""
        return await self._get(Page[ScheduleView], "schedules", limit=limit, cursor=cursor, job_id=job_id)

    async def each(self, *, job_id: str | None = None) -> AsyncIterator[ScheduleView]:
        """Yield all schedules by id, and read them page by page."""
        async for schedule in each_item(lambda cursor: self.page(cursor=cursor, job_id=job_id)):
            yield schedule

    async def ticks(
        self,
        schedule_id: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = PAGE,
        cursor: str | None = None,
    ) -> Page[TickView]:
        """Return some ticks of a schedule, newest first."""
        return await self._get(
            Page[TickView], "schedules", schedule_id, "ticks", since=since, until=until, limit=limit, cursor=cursor
        )

    async def ledger(
        self,
        schedule_id: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 1_000,
    ) -> LedgerPage:
        """Return the ticks of a schedule in an interval, by default the last 21 days, with counts per outcome."""
        return await self._get(LedgerPage, "schedules", schedule_id, "ledger", since=since, until=until, limit=limit)

    async def upsert(
        self, schedule_id: str | None = None, *, revision: int | None = None, **options: Unpack[UpsertOptions]
    ) -> Upserted:
        """Create or change a schedule. Without an id it gets one. With `revision`, only if that is its revision."""
        body = given_only(schedule_id=schedule_id, **options)
        path = build_path("schedules", "upsert")
        request: Request[Upserted] = Request(
            method="POST", path=path, kind=Upserted, body=encode_body(body), revision=revision, is_keyed=True
        )
        return await self._transport.send(request)

    async def pause(self, schedule_id: str, paused: bool = True) -> ScheduleView:
        """Pause a schedule, or resume it."""
        return await self._post(ScheduleView, "schedules", schedule_id, "pause", body={"paused": paused})

    async def resume(self, schedule_id: str) -> ScheduleView:
        """Resume a schedule."""
        return await self._post(ScheduleView, "schedules", schedule_id, "resume")

    async def pause_named(self, name: str, paused: bool = True) -> Paused:
        """Pause or resume the job with a name and all its schedules, else the schedule with this name."""
        return await self._post(Paused, "pause", body={"name": name, "paused": paused})

    async def pause_all(self, until: datetime | None = None, note: str = "") -> PauseView:
        """Pause all schedules, also those that are created meanwhile."""
        return await self._post(PauseView, "schedules", "pause-all", body=given_only(until=until, note=note))

    async def resume_all(self) -> Resumed:
        """End the pause of all schedules."""
        return await self._post(Resumed, "schedules", "resume-all")

    async def delete(self, schedule_id: str, *, force: bool = False, revision: int | None = None) -> Deleted:
        """Delete a schedule; its ticks and runs are kept. `force`: also if a file defines it."""
        return await self._delete(Deleted, "schedules", schedule_id, force=force, revision=revision)
