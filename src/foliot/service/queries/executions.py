"""The page of an execution: the execution, its steps, and an explanation of each."""

import msgspec

from foliot.ports.pages import Blockers, ExecutionDetails
from foliot.service.explanation import ExecutionExplanation, RunExplanation, StepExplanation
from foliot.service.queries.execution_view import ExecutionView, view_execution
from foliot.service.why import ExecutionExplainer


class ExecutionPage(msgspec.Struct, frozen=True, kw_only=True):
    execution: ExecutionView
    why: ExecutionExplanation
    why_steps: dict[str, StepExplanation | None]
    """By step; None if the result of the step needs no explanation."""
    waits: dict[str, RunExplanation]
    """Explanations of the steps whose runs have not begun, without those that wait for a person."""


def execution_page(details: ExecutionDetails, blockers: Blockers) -> ExecutionPage:
    explainer = ExecutionExplainer(details, blockers)
    return ExecutionPage(
        execution=view_execution(details),
        why=explainer.explain(),
        why_steps=explainer.explain_steps(),
        waits=explainer.waits,
    )
