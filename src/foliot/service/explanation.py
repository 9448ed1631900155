"""Why a run, an execution or a step is where it is: values with a closed `code`, ids and moments, and no words.

Whoever shows an explanation makes the words. `service.explain` decides which one holds.
"""

from datetime import datetime

import msgspec

from foliot.domain.run.run import Status
from foliot.domain.workflow.spec import Edge


class _Explanation(msgspec.Struct, frozen=True, kw_only=True, tag_field="code"):
    """The tag is the code."""


# -- runs


class Unreadable(_Explanation, frozen=True, kw_only=True, tag="unreadable"):
    """Something other than Foliot has written the row of the run."""

    run_id: str
    job_id: str
    is_over: bool


class Due(_Explanation, frozen=True, kw_only=True, tag="due"):
    due_at: datetime


class RetryDue(_Explanation, frozen=True, kw_only=True, tag="retry_due"):
    attempt: int
    """The one that did not succeed."""
    due_at: datetime


class WaitsForGate(_Explanation, frozen=True, kw_only=True, tag="waits_for_gate"):
    due_at: datetime
    until: datetime | None
    """The gate decides at this moment at the latest. None: it decides as soon as the run is due."""
    depends_on: tuple[str, ...]


class NoWorker(_Explanation, frozen=True, kw_only=True, tag="no_worker"):
    queue: str


class WaitsForLimit(_Explanation, frozen=True, kw_only=True, tag="waits_for_limit"):
    option: str | None
    """The option of the job that sets a limit: max_concurrent or concurrency_key."""
    value: int | str | None
    holders: tuple[str, ...]
    """Runs that have the places, newest first."""


class NoFreeSlot(_Explanation, frozen=True, kw_only=True, tag="no_free_slot"):
    slots: int
    """Of all workers of its queue."""


class WaitsForTurn(_Explanation, frozen=True, kw_only=True, tag="waits_for_turn"):
    pass


class WaitsForAnswer(_Explanation, frozen=True, kw_only=True, tag="waits_for_answer"):
    execution_id: str
    step: str


class Running(_Explanation, frozen=True, kw_only=True, tag="running"):
    attempt: int
    worker: str | None
    """The name of the worker, or its id if the worker is gone."""
    started_at: datetime | None


class CancelRequested(_Explanation, frozen=True, kw_only=True, tag="cancel_requested"):
    pass


class Succeeded(_Explanation, frozen=True, kw_only=True, tag="succeeded"):
    attempt: int
    reason: str | None
    duration: float | None


class Ended(_Explanation, frozen=True, kw_only=True, tag="ended"):
    """The run is over and no success."""

    status: Status
    reason: str | None
    attempts: int
    has_no_retries: bool
    """The first attempt failed, and the job asks for no other."""


RunExplanation = (
    Unreadable
    | Due
    | RetryDue
    | WaitsForGate
    | NoWorker
    | WaitsForLimit
    | NoFreeSlot
    | WaitsForTurn
    | WaitsForAnswer
    | Running
    | CancelRequested
    | Succeeded
    | Ended
)

# -- executions


class StepsEnding(_Explanation, frozen=True, kw_only=True, tag="steps_ending"):
    """The execution is being cancelled."""


class ExecutionUnreadable(_Explanation, frozen=True, kw_only=True, tag="execution_unreadable"):
    """The execution does not go on."""

    error: str


class InProgress(_Explanation, frozen=True, kw_only=True, tag="in_progress"):
    resolved: int
    total: int
    under_way: tuple[str, ...]


class ExecutionEnded(_Explanation, frozen=True, kw_only=True, tag="execution_ended"):
    total: int
    results: dict[str, int]
    failed: tuple[str, ...]


ExecutionExplanation = StepsEnding | ExecutionUnreadable | InProgress | ExecutionEnded

# -- steps


class StepReason(_Explanation, frozen=True, kw_only=True, tag="step_reason"):
    """The step has its result for this reason: paused, removed, overlap and so on."""

    reason: str


class BlockingStep(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    result: str | None
    run_id: str | None
    edge: Edge
    """What the blocked step wanted of it."""
    is_output_wrong: bool
    """The result is one that the edge accepts, but the output does not pass its test."""


class Blocked(_Explanation, frozen=True, kw_only=True, tag="blocked"):
    steps: tuple[BlockingStep, ...]


class ExecutionTimedOut(_Explanation, frozen=True, kw_only=True, tag="execution_timed_out"):
    pass


class StepRunEnded(_Explanation, frozen=True, kw_only=True, tag="step_run_ended"):
    cause: str | None
    error: str | None


class WaitsForSteps(_Explanation, frozen=True, kw_only=True, tag="waits_for_steps"):
    steps: tuple[str, ...]


StepExplanation = StepReason | Blocked | ExecutionTimedOut | StepRunEnded | WaitsForSteps | RunExplanation
Explanation = ExecutionExplanation | StepExplanation
