"""Jobs: definitions of work."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final

import msgspec

from foliot.domain.access.role import Permission
from foliot.domain.ids import RunId
from foliot.domain.input.job import job_options
from foliot.domain.job.state import JobState
from foliot.domain.workflow.spec import HIDDEN_SOURCES
from foliot.errors import NotFound
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.paging import Cursor, PageQuery, cursor_after, page, text_cursor
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import Deleted, JobDetail, ListedJob, Page, Paused
from foliot.service.commands.run_request import RunRequest
from foliot.service.queries.history import JobHistory
from foliot.service.queries.job_row_view import JobFacets, JobRow
from foliot.service.queries.job_view import JobView
from foliot.service.queries.jobs import JobPage
from foliot.service.queries.run_view import RunView
from foliot.service.queries.schedule_view import ScheduleView

Document = dict[str, Any]
"""A job with the keys of [[jobs]] in a configuration file."""
Text = Annotated[str, msgspec.Meta(max_length=200)]
_EXAMPLE: Final = {"id": "backup", "schedule": "0 3 * * *", "timezone": "Europe/Berlin", "command": "true"}


class ForceQuery(Parameters, frozen=True, kw_only=True):
    force: bool = False
    """Delete it even if a file or an application defined it, and may define it again."""


class JobsQuery(PageQuery, frozen=True, kw_only=True):
    all: bool = False
    """Also the jobs of the steps of workflows, and those of Foliot itself."""


class JobRowsQuery(Parameters, frozen=True, kw_only=True):
    search: Text | None = None
    """A part of the id, the name or a tag, in any case."""
    tag: Text | None = None
    kind: Text | None = None
    """Such as shell, http, workflow, fanout or chain."""
    state: JobState | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=200, description="How many items the page has at most.")] = 50
    cursor: Cursor | None = None


class HistoryQuery(Parameters, frozen=True, kw_only=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=500, description="How many runs are read.")] = 90


class RunBody(Parameters, frozen=True, kw_only=True):
    """A run to start. Everything is optional."""

    payload: Any = None
    """The input of the run; the parameters of a workflow."""
    run_at: datetime | None = None
    delay: float | str | None = None
    """Seconds, or text such as "90s"."""
    dedupe_key: str | None = None
    """A run with the same key is not created again: the answer is the run that has it."""
    dedupe: str = "forever"
    """How long the key counts: `forever`, or `active` while its run has not ended."""
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    """Options for this run only, such as `priority` or `timeout`."""


@ROUTES.get("/api/jobs", permission=Permission.READ, summary="List jobs by id.")
async def list_jobs(call: Call, query: JobsQuery) -> Page[ListedJob]:
    found = await call.services.queries.jobs.listed(after=text_cursor(query.cursor), limit=query.limit + 1)
    whole = page([_listed(one.job, one.schedules) for one in found], query.limit, lambda job: job.id)
    shown = [job for job in whole.items if query.all or job.source not in HIDDEN_SOURCES]
    return Page(items=shown, next=whole.next)


@ROUTES.get(
    "/api/job-rows",
    permission=Permission.READ,
    summary="List jobs by id, each with its schedules, its latest run and the strip of its newest and next ticks.",
)
async def list_job_rows(call: Call, query: JobRowsQuery) -> Page[JobRow]:
    found, following = await call.services.queries.job_rows.page(
        search=query.search,
        tag=query.tag,
        kind=query.kind,
        state=query.state,
        after=text_cursor(query.cursor),
        limit=query.limit,
    )
    return Page(items=found, next=None if following is None else cursor_after(following))


@ROUTES.get(
    "/api/job-rows/facets",
    permission=Permission.READ,
    summary="Count jobs by state, kind and tag.",
)
async def get_job_facets(call: Call) -> JobFacets:
    return await call.services.queries.job_rows.facets()


@ROUTES.post(
    "/api/jobs",
    permission=Permission.EDIT,
    summary="Create or replace a job. Without an id it gets one.",
    status=HTTPStatus.CREATED,
    errors=(HTTPStatus.CONFLICT,),
    examples=(_EXAMPLE,),
)
async def create_job(call: Call, body: Document) -> JobDetail:
    if call.resource_id is not None:
        body = {"id": call.resource_id, **body}
    stored = await call.services.job_documents.put(body, revision=call.expected_revision)
    return await _detail(call, stored.job.id, stored.warnings)


@ROUTES.get("/api/jobs/{job_id}", permission=Permission.READ, summary="Return a job.", errors=(HTTPStatus.NOT_FOUND,))
async def get_job(call: Call, job_id: str) -> JobDetail:
    return await _detail(call, job_id)


@ROUTES.put(
    "/api/jobs/{job_id}",
    permission=Permission.EDIT,
    summary="Create or replace a job with this id.",
    errors=(HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED),
    examples=({"schedule": "@hourly", "command": "true"},),
)
async def put_job(call: Call, job_id: str, body: Document) -> JobDetail:
    stored = await call.services.job_documents.put(body, job_id, revision=call.expected_revision)
    call.status = HTTPStatus.CREATED if stored.is_new else HTTPStatus.OK
    return await _detail(call, job_id, stored.warnings)


@ROUTES.delete(
    "/api/jobs/{job_id}",
    permission=Permission.EDIT,
    summary="Delete a job with its schedules. Its history is kept.",
    errors=(HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED),
)
async def delete_job(call: Call, job_id: str, query: ForceQuery) -> Deleted:
    try:
        if call.if_match is not None:
            call.check_revision("job", job_id, (await call.services.jobs.record(job_id)).revision)
        schedules = await call.services.jobs.delete(job_id, force=query.force)
    except NotFound:
        return Deleted(deleted=False)
    return Deleted(deleted=True, schedules=[*schedules])


@ROUTES.post(
    "/api/jobs/{job_id}/run",
    permission=Permission.OPERATE,
    summary="Start a run of a job, or an execution of a workflow.",
    status=HTTPStatus.ACCEPTED,
    errors=(HTTPStatus.NOT_FOUND,),
    examples=({"payload": {"day": "2026-01-01"}}, {}),
    job_parameter="job_id",
)
async def run_job(call: Call, job_id: str, body: RunBody) -> RunView:
    run_id = await call.services.workflows.trigger(job_id, run_request(call, body))
    return await call.services.queries.runs.get(run_id)


@ROUTES.post(
    "/api/jobs/{job_id}/pause",
    permission=Permission.OPERATE,
    summary="Pause a job with all its schedules. A job of a file can be paused too.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def pause_job(call: Call, job_id: str) -> Paused:
    return Paused(paused=True, schedules=[*await call.services.jobs.pause(job_id)])


@ROUTES.post(
    "/api/jobs/{job_id}/resume",
    permission=Permission.OPERATE,
    summary="Resume a job with all its schedules.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def resume_job(call: Call, job_id: str) -> Paused:
    return Paused(paused=False, schedules=[*await call.services.jobs.resume(job_id)])


@ROUTES.get(
    "/api/jobs/{job_id}/page",
    permission=Permission.READ,
    summary="Return everything about a job: schedules, latest runs and ticks, gate.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def get_job_page(call: Call, job_id: str) -> JobPage:
    return await call.services.queries.jobs.page(job_id)


@ROUTES.get(
    "/api/jobs/{job_id}/row",
    permission=Permission.READ,
    summary="Return a job as the list of rows has it, with the strip of its newest and next ticks.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def get_job_row(call: Call, job_id: str) -> JobRow:
    return await call.services.queries.job_rows.get(job_id)


@ROUTES.get(
    "/api/jobs/{job_id}/history",
    permission=Permission.READ,
    summary="Return the newest runs of a job, with the usual duration and the usual delay of the start.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def get_history(call: Call, job_id: str, query: HistoryQuery) -> JobHistory:
    return await call.services.queries.history.of_job(job_id, limit=query.limit)


@ROUTES.get(
    "/api/jobs/{job_id}/runs",
    permission=Permission.READ,
    summary="List the runs of a job, newest first.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def list_runs_of_job(call: Call, job_id: str, query: PageQuery) -> Page[RunView]:
    found = await call.services.queries.runs.newest(job=job_id, before=text_cursor(query.cursor), limit=query.limit + 1)
    return page(found, query.limit, lambda run: run.id)


def run_request(call: Call, body: RunBody) -> RunRequest:
    return RunRequest(
        run_id=None if call.resource_id is None else RunId(call.resource_id),
        payload=body.payload,
        run_at=body.run_at,
        delay=body.delay,
        dedupe_key=body.dedupe_key,
        dedupe=body.dedupe,
        options=job_options(**body.options),
    )


async def _detail(call: Call, job_id: str, warnings: list[str] | None = None) -> JobDetail:
    found = await call.services.queries.jobs.page(job_id)
    document = await call.services.job_documents.public(job_id)
    call.set_etag(found.job.revision)
    fields = msgspec.structs.asdict(found.job)
    return JobDetail(**fields, schedules=found.schedules, document=document, warnings=warnings or [])


def _listed(job: JobView, schedules: list[ScheduleView]) -> ListedJob:
    return ListedJob(**msgspec.structs.asdict(job), schedules=schedules)
