"""Runs: executions of jobs."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from starlette.responses import Response

from foliot.domain.access.role import Permission
from foliot.domain.fanout.item_status import ItemStatus
from foliot.domain.fanout.result import ItemResult
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.run import Status
from foliot.domain.tree.run_kind import RunKind
from foliot.errors import NotFound
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.errors import ApiError
from foliot.interfaces.api.paging import LARGEST, PageQuery, cursor_after, number_cursor, page, text_cursor
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import Cancelled, ItemPage, MarkedRun, Page, UnservedQueue
from foliot.service.commands.cancels import CancelledRuns
from foliot.service.path import ExplainedPath
from foliot.service.queries.fanout_view import ItemView
from foliot.service.queries.fanouts import MAX_PATTERN
from foliot.service.queries.run_view import AttemptView, RunView
from foliot.service.queries.runs import RunPage

_NOT_FOUND: Final = (HTTPStatus.NOT_FOUND,)
_STATUS: Final = "|".join(Status)
Statuses = Annotated[str, msgspec.Meta(pattern=f"^({_STATUS})(,({_STATUS}))*$", max_length=200)]


class RunsQuery(PageQuery, frozen=True, kw_only=True):
    job_id: str | None = None
    schedule_id: str | None = None
    status: Status | None = None
    parent_run_id: str | None = None
    """The children of this run, a reducer included."""
    root_run_id: str | None = None
    """All runs below this run."""
    kind: RunKind | None = None
    failed: bool = False
    """Those that failed or timed out."""
    since: datetime | None = None
    """Those created then or later."""
    until: datetime | None = None
    """Those created then or earlier."""
    statuses: Statuses | None = None
    """Several, separated by commas, in place of `status`."""
    tag: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    """Those of jobs with this tag. Like a kind, it is looked for in the newest 10,000 runs of the other filters."""
    search: Annotated[str, msgspec.Meta(pattern="^[0-9A-Za-z]{1,26}$")] | None = None
    """The beginning of the id."""
    children: bool = False
    """Also steps, items and reducers, which are left out unless another filter asks for them."""


class ItemsQuery(PageQuery, frozen=True, kw_only=True):
    after: Annotated[int, msgspec.Meta(ge=0, le=LARGEST)] | None = None
    """The items after this index. A cursor has precedence."""
    failed: bool = False
    """Those that failed, timed out or were cancelled."""
    status: ItemStatus | None = None
    """Those with this status, in place of `failed`."""
    pattern: Annotated[str, msgspec.Meta(max_length=MAX_PATTERN)] | None = None
    """Those whose text matches, with the wildcards * ? and [...]."""


class ItemQuery(Parameters, frozen=True, kw_only=True):
    item: str
    """A number is an index, if there is one."""


class ResultsQuery(PageQuery, frozen=True, kw_only=True):
    failed: bool = False
    """Those of items that failed, timed out or were cancelled."""


class OutputQuery(Parameters, frozen=True, kw_only=True):
    attempt: int | None = None
    """By default the last one."""


class CancelAllBody(Parameters, frozen=True, kw_only=True):
    job_id: str | None = None
    """Those of this job or workflow. By default of all."""
    status: Status | None = None
    """Those that are scheduled, queued or running when the request arrives. By default all of them."""
    confirm: bool = False
    """Without it, nothing is changed, and the error says how many runs it would cancel."""


class RetryBody(Parameters, frozen=True, kw_only=True):
    failed: bool = False
    """Of a fanout: repeat only the items that failed, timed out or were cancelled."""


@ROUTES.get("/api/runs", permission=Permission.READ, summary="List runs, newest first.", errors=_NOT_FOUND)
async def list_runs(call: Call, query: RunsQuery) -> Page[RunView]:
    found = await call.services.queries.runs.newest(
        job=query.job_id,
        schedule=query.schedule_id,
        status=query.status,
        root=query.root_run_id,
        failed=query.failed,
        since=query.since,
        until=query.until,
        statuses=[] if query.statuses is None else [Status(word) for word in query.statuses.split(",")],
        tag=query.tag,
        search=query.search or "",
        kind=query.kind,
        parent=query.parent_run_id,
        children=query.children,
        before=text_cursor(query.cursor),
        limit=query.limit + 1,
    )
    return page(found, query.limit, lambda run: run.id)


@ROUTES.get("/api/runs/{run_id}", permission=Permission.READ, summary="Return a run.", errors=_NOT_FOUND)
async def get_run(call: Call, run_id: str) -> RunView:
    return await call.services.queries.runs.get(run_id)


@ROUTES.get(
    "/api/runs/{run_id}/page",
    permission=Permission.READ,
    summary="Return everything about a run: why it is in its state, attempts, execution, fanout.",
    errors=_NOT_FOUND,
)
async def get_run_page(call: Call, run_id: str) -> RunPage:
    return await call.services.queries.runs.page(run_id)


@ROUTES.get(
    "/api/runs/{run_id}/unserved-queue",
    permission=Permission.READ,
    summary="Return the queue of a run, if no worker of that queue is alive.",
    errors=_NOT_FOUND,
)
async def get_unserved_queue(call: Call, run_id: str) -> UnservedQueue:
    return UnservedQueue(queue=await call.services.queries.runs.unserved_queue(run_id))


@ROUTES.get(
    "/api/runs/{run_id}/explain",
    permission=Permission.READ,
    summary="Explain a run stage by stage, from its tick to its end.",
    errors=_NOT_FOUND,
)
async def explain_run(call: Call, run_id: str) -> ExplainedPath:
    return await call.services.queries.explained.run(run_id)


@ROUTES.get(
    "/api/runs/{run_id}/attempts",
    permission=Permission.READ,
    summary="List the finished attempts of a run, in order.",
    errors=_NOT_FOUND,
)
async def list_attempts(call: Call, run_id: str) -> Page[AttemptView]:
    return Page(items=await call.services.queries.runs.attempts(run_id), next=None)


@ROUTES.get(
    "/api/runs/{run_id}/children",
    permission=Permission.READ,
    summary="List the children of a run in the order of their creation.",
    errors=_NOT_FOUND,
)
async def list_children(call: Call, run_id: str, query: PageQuery) -> Page[RunView]:
    found = await call.services.queries.runs.children(run_id, after=text_cursor(query.cursor), limit=query.limit + 1)
    return page(found, query.limit, lambda run: run.id)


@ROUTES.get(
    "/api/runs/{run_id}/tree",
    permission=Permission.READ,
    summary="List all runs below a run, newest first.",
    errors=_NOT_FOUND,
)
async def list_tree(call: Call, run_id: str, query: PageQuery) -> Page[RunView]:
    found = await call.services.queries.runs.newest(
        root=run_id, before=text_cursor(query.cursor), limit=query.limit + 1
    )
    return page(found, query.limit, lambda run: run.id)


@ROUTES.get(
    "/api/runs/{run_id}/items",
    permission=Permission.READ,
    summary="List the items of a fanout, in their order, with their runs.",
    errors=_NOT_FOUND,
)
async def list_items(call: Call, run_id: str, query: ItemsQuery) -> ItemPage:
    found = await call.services.queries.fanouts.items(
        run_id,
        after=query.after if query.cursor is None else number_cursor(query.cursor),
        failed=query.failed,
        status=query.status,
        pattern=query.pattern,
        limit=query.limit,
    )
    following = found.next_after
    return ItemPage(
        items=found.items, next=None if following is None else cursor_after(following), next_after=following
    )


@ROUTES.get(
    "/api/runs/{run_id}/item",
    permission=Permission.READ,
    summary="Return an item of a fanout, given by its index or its exact text.",
    errors=_NOT_FOUND,
)
async def get_item(call: Call, run_id: str, query: ItemQuery) -> ItemView:
    return await call.services.queries.fanouts.item(run_id, query.item)


@ROUTES.get(
    "/api/runs/{run_id}/results",
    permission=Permission.READ,
    summary="List the results of the items of a fanout that have ended, in their order, with their outputs.",
    errors=_NOT_FOUND,
)
async def list_results(call: Call, run_id: str, query: ResultsQuery) -> Page[ItemResult]:
    found = await call.services.queries.fanouts.results(
        run_id, after=number_cursor(query.cursor), failed=query.failed, limit=query.limit
    )
    # A page may end early, so only an empty one is known to be the last.
    return Page(items=found, next=cursor_after(found[-1].index) if found else None)


@ROUTES.get(
    "/api/runs/{run_id}/output",
    permission=Permission.READ,
    summary="Return every byte of the standard output of an attempt.",
    errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.GONE),
    media_type="application/octet-stream",
)
async def get_output(call: Call, run_id: str, query: OutputQuery) -> Response:
    content = await call.services.runs.output(run_id, query.attempt)
    headers = {"Content-Disposition": f'attachment; filename="{run_id}.out"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


@ROUTES.post(
    "/api/runs/{run_id}/cancel",
    permission=Permission.OPERATE,
    summary="Cancel a run: at once if it has not started, otherwise by a request to its worker.",
    errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def cancel_run(call: Call, run_id: str) -> Cancelled:
    answer = await call.services.runs.cancel(run_id)
    if answer is CancelAnswer.NOT_FOUND:
        raise NotFound("run", run_id)
    run = await call.services.queries.runs.get(run_id)
    if answer is CancelAnswer.TERMINAL:
        hint = "A run that has ended stays as it is."
        raise ApiError(HTTPStatus.CONFLICT, "terminal", f"run {run_id} has ended: {run.status}", hint=hint)
    call.status = HTTPStatus.OK if answer is CancelAnswer.CANCELLED else HTTPStatus.ACCEPTED
    return Cancelled(run_id=run_id, phase=_phase(call, answer, run), status=run.status)


@ROUTES.post(
    "/api/runs/cancel-all",
    permission=Permission.OPERATE,
    summary="Cancel the runs of a job, or of all jobs, that have not ended: at most 1,000 in one request.",
    errors=_NOT_FOUND,
    examples=({"job_id": "backup", "status": "queued", "confirm": True},),
)
async def cancel_all_runs(call: Call, body: CancelAllBody) -> CancelledRuns:
    return await call.services.runs.cancel_all(body.job_id, status=body.status, confirm=body.confirm)


@ROUTES.post(
    "/api/runs/{run_id}/retry",
    permission=Permission.OPERATE,
    summary="Start a new run with the payload and the options of a run that has ended.",
    status=HTTPStatus.ACCEPTED,
    errors=(*_NOT_FOUND, HTTPStatus.CONFLICT),
    examples=({},),
)
async def retry_run(call: Call, run_id: str, body: RetryBody) -> RunView:
    runs = call.services.runs
    return await call.services.queries.runs.get(await (runs.retry_failed if body.failed else runs.retry)(run_id))


@ROUTES.post(
    "/api/runs/{run_id}/mark",
    permission=Permission.OPERATE,
    summary="Count a run as a success.",
    errors=(*_NOT_FOUND, HTTPStatus.CONFLICT),
)
async def mark_run(call: Call, run_id: str) -> MarkedRun:
    marked = await call.services.runs.mark(run_id)
    return MarkedRun(run_id=run_id, answer=marked.answer, success_id=marked.run_id)


def _phase(call: Call, answer: CancelAnswer, run: RunView) -> str:
    if answer is CancelAnswer.CANCELLED:
        return "queued"
    if answer is CancelAnswer.PENDING:
        return "already_pending"
    is_local = run.worker_id is not None and call.context.is_local(run.worker_id)
    return "local_signalled" if is_local else "awaiting_worker"
