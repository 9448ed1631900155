"""Views of executions and their steps."""

from datetime import datetime
from typing import Any

import msgspec

from foliot.domain.instant import to_datetime
from foliot.domain.run.run import Run
from foliot.domain.workflow.execution import Execution, StepRecord, recovered_steps
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.pages import ExecutionDetails
from foliot.service.queries.run_view import key_of


class StepView(msgspec.Struct, frozen=True, kw_only=True):
    """A step of an execution."""

    name: str
    """The name of the step."""
    result: str | None
    """Its result: success, failure or skipped. None while it is pending."""
    status: str | None
    """The status of its run, or None while it has no run."""
    run_id: str | None
    """The id of its run, or None while it has no run."""
    reason: str
    """Why it has its result, if neither its run nor its blockers explain it; otherwise empty."""
    blockers: list[str]
    """The steps whose results prevented it from running."""
    cause: str | None = None
    """The reason of its run: exception, exit_code, timeout and so on."""
    error: str | None = None
    """The error of its run."""
    recovered_by: list[str] = []
    """The steps with `recovers` whose success makes up for its failure."""


class ExecutionView(msgspec.Struct, frozen=True, kw_only=True):
    """One execution of a workflow with its steps, as it was when it was read."""

    id: str
    """The id of the execution."""
    workflow_id: str
    """The id of its workflow."""
    version: int
    """The version of the workflow."""
    status: str
    """Its status, one of those of a run."""
    params: dict[str, Any]
    """The parameters it was started with."""
    scheduled_for: datetime | None
    """The planned time, or None if it was not planned."""
    started_at: datetime | None
    """When it started."""
    finished_at: datetime | None
    """When it ended, or None."""
    user_id: str | None
    """The user it was started for."""
    idempotency_key: str | None
    """The key of its tick, or the key given to the launcher."""
    rerun_of: str | None
    """The execution that it repeats, or None."""
    rerun_version: int | None
    """The version of the execution that it repeats, or None."""
    error: str | None
    """Why it failed; while it is open, which row of it cannot be read."""
    steps: list[StepView]
    """Its steps, in the order of the workflow."""

    @property
    def results(self) -> dict[str, str | None]:
        """The result of each step."""
        return {step.name: step.result for step in self.steps}


def view_execution(details: ExecutionDetails) -> ExecutionView:
    """Build the view of an execution."""
    execution, run, start_input = details.execution, details.run, details.start_input
    known = details.version.spec.steps if isinstance(details.version, WorkflowVersion) else ()
    recovered = recovered_steps(known, details.steps)
    return ExecutionView(
        id=execution.run_id,
        workflow_id=execution.workflow_id,
        version=execution.version,
        status=run.status,
        params=dict(execution.params),
        scheduled_for=None if execution.planned is None else to_datetime(execution.planned),
        started_at=to_datetime(execution.opened_at),
        finished_at=None if run.finished_at is None else to_datetime(run.finished_at),
        user_id=start_input.user_id,
        idempotency_key=key_of(run, start_input),
        rerun_of=start_input.rerun_of,
        rerun_version=start_input.rerun_version,
        error=_unreadable(execution, run) or run.error,
        steps=[_view_step(step, recovered.get(step.name, [])) for step in details.steps],
    )


def _unreadable(execution: Execution, run: Run) -> str | None:
    """Return which row of it cannot be read. If the execution has failed, its own error is more useful than that of its
    parameters."""
    error = run.unreadable or (None if run.error else execution.error)
    return None if error is None else error.message


def _view_step(step: StepRecord, recovered_by: list[str]) -> StepView:
    return StepView(
        name=step.name,
        result=step.state.result,
        status=step.status,
        run_id=step.state.run_id,
        reason=step.state.reason,
        blockers=list(step.state.blockers),
        cause=step.cause,
        error=step.error,
        recovered_by=recovered_by,
    )
