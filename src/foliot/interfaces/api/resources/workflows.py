"""Workflows: graphs of steps."""

from http import HTTPStatus
from typing import Any, Final

from foliot.domain.access.role import Permission
from foliot.domain.ids import RunId
from foliot.errors import InvalidInput, NotFound
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.paging import PageQuery, number_cursor, page, text_cursor
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.jobs import ForceQuery
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import Deleted, Page, PausedStep
from foliot.service.commands.run_request import RunRequest
from foliot.service.commands.workflows import DeployedWorkflow
from foliot.service.queries.run_view import RunView
from foliot.service.queries.workflows import ListedVersion, ListedWorkflow, WorkflowPage

Document = dict[str, Any]
"""A workflow with the keys of [[workflows]] in a configuration file."""
_LARGEST: Final = 16 << 20
_EXAMPLE: Final = {
    "id": "etl",
    "steps": [{"name": "extract", "command": "true"}, {"name": "load", "command": "true", "after": ["extract"]}],
}


class WorkflowQuery(Parameters, frozen=True, kw_only=True):
    version: int | None = None
    execution: str | None = None
    """Show this execution instead of the newest."""


class StartBody(Parameters, frozen=True, kw_only=True):
    params: dict[str, Any] | None = None
    version: int | None = None
    """By default the newest one."""
    user_id: str | None = None
    idempotency_key: str | None = None
    """A second start with the same key returns the execution of the first."""


@ROUTES.get("/api/workflows", permission=Permission.READ, summary="List workflows by id.")
async def list_workflows(call: Call, query: PageQuery) -> Page[ListedWorkflow]:
    found = await call.services.queries.workflows.listed(after=text_cursor(query.cursor), limit=query.limit + 1)
    return page(found, query.limit, lambda workflow: workflow.id)


@ROUTES.post(
    "/api/workflows",
    permission=Permission.EDIT,
    summary="Deploy a workflow as its newest version, with its schedules.",
    status=HTTPStatus.CREATED,
    errors=(HTTPStatus.CONFLICT,),
    examples=(_EXAMPLE,),
    max_body=_LARGEST,
)
async def deploy_workflow(call: Call, body: Document) -> DeployedWorkflow:
    return await call.services.workflows.deploy(body)


@ROUTES.get(
    "/api/workflows/{workflow_id}",
    permission=Permission.READ,
    summary="Return a workflow: its steps, its document, and its newest or a given execution.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def get_workflow(call: Call, workflow_id: str, query: WorkflowQuery) -> WorkflowPage:
    found = await call.services.queries.workflows.page(workflow_id, version=query.version, execution=query.execution)
    call.set_etag(found.version)
    return found


@ROUTES.get(
    "/api/workflows/{workflow_id}/versions",
    permission=Permission.READ,
    summary="List the versions of a workflow, newest first.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def list_versions(call: Call, workflow_id: str, query: PageQuery) -> Page[ListedVersion]:
    before = number_cursor(query.cursor)
    found = await call.services.queries.workflows.versions(workflow_id, before=before, limit=query.limit + 1)
    return page(found, query.limit, lambda one: one.version)


@ROUTES.put(
    "/api/workflows/{workflow_id}",
    permission=Permission.EDIT,
    summary="Deploy a workflow with this id.",
    errors=(HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED),
    examples=({"steps": [{"name": "only", "command": "true"}]},),
    max_body=_LARGEST,
)
async def put_workflow(call: Call, workflow_id: str, body: Document) -> DeployedWorkflow:
    if body.get("id", workflow_id) != workflow_id:
        raise InvalidInput("the id of the body is another one", hint="Leave it out of the body.", field="id")
    if call.if_match is not None:
        call.check_revision("workflow", workflow_id, await _version(call, workflow_id))
    return await call.services.workflows.deploy({**body, "id": workflow_id})


@ROUTES.delete(
    "/api/workflows/{workflow_id}",
    permission=Permission.EDIT,
    summary="Delete a workflow with its schedules. Its history is kept.",
    errors=(HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED),
)
async def delete_workflow(call: Call, workflow_id: str, query: ForceQuery) -> Deleted:
    try:
        if call.if_match is not None:
            call.check_revision("workflow", workflow_id, await _version(call, workflow_id))
        schedules = await call.services.workflows.delete(workflow_id, force=query.force)
    except NotFound:
        return Deleted(deleted=False)
    return Deleted(deleted=True, schedules=[*schedules])


@ROUTES.post(
    "/api/workflows/{workflow_id}/start",
    permission=Permission.OPERATE,
    summary="Start an execution of a workflow.",
    status=HTTPStatus.ACCEPTED,
    errors=(HTTPStatus.NOT_FOUND,),
    examples=({},),
    job_parameter="workflow_id",
)
async def start_workflow(call: Call, workflow_id: str, body: StartBody) -> RunView:
    run_id = await call.services.workflows.start(
        workflow_id,
        body.params,
        version=body.version,
        user_id=body.user_id,
        idempotency_key=body.idempotency_key,
        request=RunRequest(
            dedupe_key=body.idempotency_key, run_id=None if call.resource_id is None else RunId(call.resource_id)
        ),
    )
    return await call.services.queries.runs.get(run_id)


@ROUTES.post(
    "/api/workflows/{workflow_id}/steps/{step}/pause",
    permission=Permission.OPERATE,
    summary="Pause a step: executions skip it.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def pause_step(call: Call, workflow_id: str, step: str) -> PausedStep:
    await call.services.workflows.pause_step(workflow_id, step)
    return PausedStep(workflow_id=workflow_id, step=step, paused=True)


@ROUTES.post(
    "/api/workflows/{workflow_id}/steps/{step}/resume",
    permission=Permission.OPERATE,
    summary="Resume a paused step.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def resume_step(call: Call, workflow_id: str, step: str) -> PausedStep:
    await call.services.workflows.resume_step(workflow_id, step)
    return PausedStep(workflow_id=workflow_id, step=step, paused=False)


async def _version(call: Call, workflow_id: str) -> int:
    try:
        return (await call.services.workflows.record(workflow_id)).version
    except NotFound:
        return 0
