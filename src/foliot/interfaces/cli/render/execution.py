"""An execution and its steps, as text and as a JSON document."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from foliot.domain.run.run import Status
from foliot.domain.workflow.conditions import Result
from foliot.interfaces.cli.render.explanation import STEP_REASONS, explain
from foliot.service.queries.documents import as_json
from foliot.service.queries.execution_view import StepView
from foliot.service.queries.executions import ExecutionPage

PENDING: Final = "pending"
_STATUS_OF_RESULT: Final = {
    Result.SUCCESS: Status.SUCCESS,
    Result.FAILURE: Status.FAILED,
    Result.SKIPPED: Status.SKIPPED,
}


def execution_document(page: ExecutionPage) -> dict[str, Any]:
    runs = {step.name: step.run_id for step in page.execution.steps}
    steps = [
        {**as_json(step), "why": why_step(page, step), "deciders": {name: runs[name] for name in step.blockers}}
        for step in page.execution.steps
    ]
    return {**as_json(page.execution), "steps": steps}


def step_rows(page: ExecutionPage) -> list[Sequence[object]]:
    return [
        (step.name, step_state(step), step.run_id or "-", why_step(page, step) or "-") for step in page.execution.steps
    ]


def step_states(page: ExecutionPage) -> dict[str, str]:
    return {step.name: step_state(step) for step in page.execution.steps}


def step_waits(page: ExecutionPage) -> Mapping[str, str]:
    """Return what each step waits for whose run has not started."""
    return {name: explain(explanation) for name, explanation in page.waits.items()}


def why_step(page: ExecutionPage, step: StepView) -> str:
    """Return why a step has its state, or an empty text if its result needs none."""
    explanation = page.why_steps[step.name]
    return "" if explanation is None else explain(explanation)


def step_state(step: StepView) -> str:
    """Return the result of a step, with the reason or a different status of its run, and the steps that recovered it;
    without a result, return the status of its run."""
    if step.result is None:
        return step.status or PENDING
    reason = step.reason if step.reason in STEP_REASONS else ""
    if step.status and step.status != _STATUS_OF_RESULT[Result(step.result)]:
        reason = reason or step.status
    recovered = f"recovered by {', '.join(step.recovered_by)}" if step.recovered_by else ""
    details = ", ".join(filter(None, (reason, recovered)))
    return f"{step.result} ({details})" if details else step.result
