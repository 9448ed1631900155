"""Executions of workflows."""

from http import HTTPStatus
from typing import Annotated, Final

import msgspec

from foliot.domain.access.role import Permission
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.paging import PageQuery, page, text_cursor
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import Answered, Page
from foliot.service.queries.executions import ExecutionPage
from foliot.service.queries.run_view import RunView

_NOT_FOUND: Final = (HTTPStatus.NOT_FOUND,)
_NOT_OPEN: Final = (*_NOT_FOUND, HTTPStatus.CONFLICT)
"""An execution does not exist, or is in a state in which this is not possible."""


class ExecutionsQuery(PageQuery, frozen=True, kw_only=True):
    workflow_id: str | None = None


class AnswerBody(Parameters, frozen=True, kw_only=True):
    by: Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")] | None = None
    """The name of the person who answers; by default who makes the request, who is recorded in any case."""


class RerunBody(Parameters, frozen=True, kw_only=True):
    steps: list[str] = msgspec.field(default_factory=list)
    """The steps to begin at; by default the failed ones."""
    same_version: bool = False
    """Use the version of the execution instead of the newest one."""


@ROUTES.get(
    "/api/executions",
    permission=Permission.READ,
    summary="List open executions, oldest first. Ended ones are in the list of runs.",
    errors=_NOT_FOUND,
)
async def list_executions(call: Call, query: ExecutionsQuery) -> Page[ExecutionPage]:
    found = await call.services.queries.workflows.active(
        workflow_id=query.workflow_id, after=text_cursor(query.cursor), limit=query.limit + 1
    )
    return page(found, query.limit, lambda one: one.execution.id)


@ROUTES.get(
    "/api/executions/{execution_id}",
    permission=Permission.READ,
    summary="Return an execution with its steps.",
    errors=_NOT_OPEN,
)
async def get_execution(call: Call, execution_id: str) -> ExecutionPage:
    found = await call.services.queries.workflows.execution(execution_id)
    if found is None or found.execution.id != execution_id:
        raise await call.services.workflows.no_execution(execution_id)
    return found


@ROUTES.post(
    "/api/executions/{execution_id}/rerun",
    permission=Permission.OPERATE,
    summary="Start a new execution that repeats steps of an ended one, and all steps after them.",
    status=HTTPStatus.ACCEPTED,
    errors=_NOT_OPEN,
    examples=({},),
)
async def rerun_execution(call: Call, execution_id: str, body: RerunBody) -> RunView:
    run_id = await call.services.workflows.rerun(execution_id, *body.steps, same_version=body.same_version)
    return await call.services.queries.runs.get(run_id)


@ROUTES.post(
    "/api/executions/{execution_id}/steps/{step}/approve",
    permission=Permission.OPERATE,
    summary="Approve a step that waits for a person.",
    errors=_NOT_OPEN,
)
async def approve_step(call: Call, execution_id: str, step: str, body: AnswerBody) -> Answered:
    await call.services.workflows.approve(execution_id, step, by=body.by or call.actor)
    return Answered(execution_id=execution_id, step=step, answer="approved")


@ROUTES.post(
    "/api/executions/{execution_id}/steps/{step}/reject",
    permission=Permission.OPERATE,
    summary="Reject a step that waits for a person: it fails.",
    errors=_NOT_OPEN,
)
async def reject_step(call: Call, execution_id: str, step: str, body: AnswerBody) -> Answered:
    await call.services.workflows.reject(execution_id, step, by=body.by or call.actor)
    return Answered(execution_id=execution_id, step=step, answer="rejected")


@ROUTES.post(
    "/api/executions/{execution_id}/steps/{step}/mark",
    permission=Permission.OPERATE,
    summary="Count a step as a success.",
    errors=_NOT_OPEN,
)
async def mark_step(call: Call, execution_id: str, step: str) -> Answered:
    continued = await call.services.workflows.mark_step(execution_id, step)
    return Answered(execution_id=continued, step=step, answer="marked")
