"""Schedules: when a job or a workflow runs."""

from datetime import datetime
from http import HTTPStatus
from typing import Any

from foliot.domain.access.role import Permission
from foliot.errors import InvalidSchedule, NotFound
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.paging import PageQuery, page, text_cursor
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.jobs import ForceQuery
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import Deleted, Page, Paused, Resumed, Upserted
from foliot.service.queries.pause_view import PauseView
from foliot.service.queries.run_view import RunView
from foliot.service.queries.schedule_view import ScheduleView
from foliot.service.queries.schedules import SchedulePage


class SchedulesQuery(PageQuery, frozen=True, kw_only=True):
    job_id: str | None = None
    """Those that start this job or workflow."""


class PauseBody(Parameters, frozen=True, kw_only=True):
    schedule_id: str
    paused: bool = True


class PauseNamedBody(Parameters, frozen=True, kw_only=True):
    name: str
    """A job or a schedule."""
    paused: bool = True


class PausedBody(Parameters, frozen=True, kw_only=True):
    paused: bool = True


class PauseAllBody(Parameters, frozen=True, kw_only=True):
    until: datetime | None = None
    """Ticks fire again from this time on. Without it: when the schedules are resumed."""
    note: str = ""


@ROUTES.get("/api/schedules", permission=Permission.READ, summary="List schedules by id.")
async def list_schedules(call: Call, query: SchedulesQuery) -> Page[ScheduleView]:
    found = await call.services.queries.schedules.listed(
        job_id=query.job_id, after=text_cursor(query.cursor), limit=query.limit + 1
    )
    return page(found, query.limit, lambda schedule: schedule.schedule_id)


@ROUTES.post(
    "/api/schedules/upsert",
    permission=Permission.EDIT,
    summary="Create or change a schedule. Without a schedule_id it gets one.",
    errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED),
    examples=({"schedule_id": "nightly", "job_id": "backup", "cron": "0 3 * * *", "timezone": "Europe/Berlin"},),
)
async def upsert_schedule(call: Call, body: dict[str, Any]) -> Upserted:
    if "expected_revision" in body:
        raise InvalidSchedule(
            "option 'expected_revision' does not exist", hint="Use the header If-Match.", field="expected_revision"
        )
    if call.resource_id is not None:
        body = {"schedule_id": call.resource_id, **body}
    upserted = await call.services.schedules.upsert(**body, expected_revision=call.expected_revision)
    return Upserted(schedule_id=upserted.schedule_id, next_run_at=upserted.next_run_at)


@ROUTES.post(
    "/api/schedules/pause",
    permission=Permission.OPERATE,
    summary="Pause or resume a schedule.",
    errors=(HTTPStatus.NOT_FOUND,),
    examples=({"schedule_id": "nightly", "paused": True},),
)
async def pause_named_schedule(call: Call, body: PauseBody) -> ScheduleView:
    return await _paused(call, body.schedule_id, body.paused)


@ROUTES.post(
    "/api/pause",
    permission=Permission.OPERATE,
    summary="Pause or resume the job with a name and all its schedules, else the schedule with this name.",
    errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    examples=({"name": "backup", "paused": True},),
)
async def pause_named(call: Call, body: PauseNamedBody) -> Paused:
    return Paused(paused=body.paused, schedules=[*await call.services.schedules.pause_named(body.name, body.paused)])


@ROUTES.post(
    "/api/schedules/pause-all",
    permission=Permission.OPERATE,
    summary="Pause all schedules, also those that are created meanwhile.",
    examples=({"note": "maintenance"},),
)
async def pause_all_schedules(call: Call, body: PauseAllBody) -> PauseView:
    return await call.services.schedules.pause_all(body.until, body.note, by=call.actor)


@ROUTES.post("/api/schedules/resume-all", permission=Permission.OPERATE, summary="End the pause of all schedules.")
async def resume_all_schedules(call: Call) -> Resumed:
    return Resumed(ended=await call.services.schedules.resume_all())


@ROUTES.get(
    "/api/schedules/{schedule_id}",
    permission=Permission.READ,
    summary="Return a schedule with its next five fire times.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def get_schedule(call: Call, schedule_id: str) -> ScheduleView:
    found = (await call.services.queries.schedules.page(schedule_id)).schedule
    call.set_etag(found.revision)
    return found


@ROUTES.get(
    "/api/schedules/{schedule_id}/page",
    permission=Permission.READ,
    summary="Return a schedule with its latest ticks.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def get_schedule_page(call: Call, schedule_id: str) -> SchedulePage:
    return await call.services.queries.schedules.page(schedule_id)


@ROUTES.delete(
    "/api/schedules/{schedule_id}",
    permission=Permission.EDIT,
    summary="Delete a schedule. Its ticks and runs are kept.",
    errors=(HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED),
)
async def delete_schedule(call: Call, schedule_id: str, query: ForceQuery) -> Deleted:
    try:
        if call.if_match is not None:
            record = await call.services.schedules.record(schedule_id)
            call.check_revision("schedule", schedule_id, record.revision.number)
        await call.services.schedules.delete(schedule_id, force=query.force)
    except NotFound:
        return Deleted(deleted=False)
    return Deleted(deleted=True, schedules=[schedule_id])


@ROUTES.post(
    "/api/schedules/{schedule_id}/pause",
    permission=Permission.OPERATE,
    summary="Pause a schedule; with paused false, resume it.",
    errors=(HTTPStatus.NOT_FOUND,),
    examples=({},),
)
async def pause_schedule(call: Call, schedule_id: str, body: PausedBody) -> ScheduleView:
    return await _paused(call, schedule_id, body.paused)


@ROUTES.post(
    "/api/schedules/{schedule_id}/resume",
    permission=Permission.OPERATE,
    summary="Resume a schedule.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def resume_schedule(call: Call, schedule_id: str) -> ScheduleView:
    return await _paused(call, schedule_id, False)


@ROUTES.get(
    "/api/schedules/{schedule_id}/runs",
    permission=Permission.READ,
    summary="List the runs of a schedule, newest first.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def list_runs_of_schedule(call: Call, schedule_id: str, query: PageQuery) -> Page[RunView]:
    found = await call.services.queries.runs.newest(
        schedule=schedule_id, before=text_cursor(query.cursor), limit=query.limit + 1
    )
    return page(found, query.limit, lambda run: run.id)


async def _paused(call: Call, schedule_id: str, paused: bool) -> ScheduleView:
    await call.services.schedules.pause(schedule_id, paused)
    return (await call.services.queries.schedules.page(schedule_id)).schedule
