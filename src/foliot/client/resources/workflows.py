"""Workflows and their executions by HTTP."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from foliot.client.request import given_only
from foliot.client.resources.base import PAGE, Resource, each_item
from foliot.service.answers import Answered, Deleted, FoundExecution, Page, PausedStep
from foliot.service.commands.workflows import DeployedWorkflow
from foliot.service.queries.executions import ExecutionPage
from foliot.service.queries.run_view import RunView
from foliot.service.queries.workflows import ListedWorkflow, WorkflowPage


class AsyncWorkflows(Resource):
    """Deploys, starts, reads and deletes workflows."""

    async def get(self, workflow_id: str, *, version: int | None = None, execution: str | None = None) -> WorkflowPage:
        """Return a workflow: its steps, its document, and its newest or a given execution."""
        return await self._get(WorkflowPage, "workflows", workflow_id, version=version, execution=execution)

    async def page(self, *, limit: int = PAGE, cursor: str | None = None) -> Page[ListedWorkflow]:
        """Return some workflows by id."""
        return await self._get(Page[ListedWorkflow], "workflows", limit=limit, cursor=cursor)

    async def each(self) -> AsyncIterator[ListedWorkflow]:
        """Yield all workflows by id, and read them page by page."""
        async for workflow in each_item(lambda cursor: self.page(cursor=cursor)):
            yield workflow

    async def deploy(self, document: Mapping[str, Any]) -> DeployedWorkflow:
        """Deploy a workflow as its newest version, with its schedules. A document that is the same changes nothing."""
        return await self._post(DeployedWorkflow, "workflows", body=document)

    async def start(
        self,
        workflow_id: str,
        params: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        user_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> RunView:
        """Start an execution. A second start with the same `idempotency_key` returns the execution of the first."""
        body = given_only(params=params, version=version, user_id=user_id, idempotency_key=idempotency_key)
        return await self._post(RunView, "workflows", workflow_id, "start", body=body)

    async def delete(self, workflow_id: str, *, force: bool = False) -> Deleted:
        """Delete a workflow with its schedules; its history is kept. `force`: also if a file defines it."""
        return await self._delete(Deleted, "workflows", workflow_id, force=force)

    async def pause_step(self, workflow_id: str, step: str) -> PausedStep:
        """Pause a step: executions skip it."""
        return await self._post(PausedStep, "workflows", workflow_id, "steps", step, "pause")

    async def resume_step(self, workflow_id: str, step: str) -> PausedStep:
        """Resume a paused step."""
        return await self._post(PausedStep, "workflows", workflow_id, "steps", step, "resume")


class AsyncExecutions(Resource):
    """Reads executions, answers their approvals, and repeats them."""

    async def get(self, execution_id: str) -> ExecutionPage:
        """Return an execution with its steps and why each is in its state."""
        return await self._get(ExecutionPage, "executions", execution_id)

    async def page(
        self, *, limit: int = PAGE, cursor: str | None = None, workflow_id: str | None = None
    ) -> Page[ExecutionPage]:
        """Return some open executions, oldest first. Ended ones are in the list of runs."""
        return await self._get(Page[ExecutionPage], "executions", limit=limit, cursor=cursor, workflow_id=workflow_id)

    async def each(self, *, workflow_id: str | None = None) -> AsyncIterator[ExecutionPage]:
        """Yield all open executions, oldest first, and read them page by page."""
        async for execution in each_item(lambda cursor: self.page(cursor=cursor, workflow_id=workflow_id)):
            yield execution

    async def find(self, name: str) -> str:
        """Return the id of an execution, given by its id, a part of it, `@last` or `WORKFLOW@last`."""
        return (await self._get(FoundExecution, "find", "execution", name=name)).execution_id

    async def approve(self, execution_id: str, step: str, *, by: str | None = None) -> Answered:
        """Approve a step that waits for a person. `by` is the name of the person."""
        return await self._post(Answered, "executions", execution_id, "steps", step, "approve", body=given_only(by=by))

    async def reject(self, execution_id: str, step: str, *, by: str | None = None) -> Answered:
        """Reject a step that waits for a person: it fails. `by` is the name of the person."""
        return await self._post(Answered, "executions", execution_id, "steps", step, "reject", body=given_only(by=by))

    async def mark_step(self, execution_id: str, step: str) -> Answered:
        """Count a step as a success."""
        return await self._post(Answered, "executions", execution_id, "steps", step, "mark")

    async def rerun(self, execution_id: str, *steps: str, same_version: bool = False) -> RunView:
        """Start a new execution that repeats steps of an ended one, by default the failed ones, and all steps after
        them."""
        body = {"steps": list(steps), "same_version": same_version}
        return await self._post(RunView, "executions", execution_id, "rerun", body=body)
