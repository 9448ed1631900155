"""The page of an execution: the execution, its steps, and why each is where it is."""

import msgspec

from foliot.ports.queries import Blockers, ExecutionDetails
from foliot.service.explain import Course
from foliot.service.explanation import ExecutionExplanation, RunExplanation, StepExplanation
from foliot.service.queries.execution_view import ExecutionView, view_execution


class ExecutionPage(msgspec.Struct, frozen=True, kw_only=True):
    execution: ExecutionView
    why: ExecutionExplanation
    why_steps: dict[str, StepExplanation | None]
    """By step; None where the result alone tells."""
    waits: dict[str, RunExplanation]
    """What the steps wait for whose runs have not begun; without those that wait for a person."""


def execution_page(details: ExecutionDetails, blockers: Blockers) -> ExecutionPage:
    course = Course(details, blockers)
    return ExecutionPage(
        execution=view_execution(details),
        why=course.explain(),
        why_steps=course.explain_steps(),
        waits=course.waits,
    )
