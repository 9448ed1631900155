"""Explanations of the state of a run, an execution or a step: values with a fixed `code`, ids and times, without text.

`service.why` builds them; each interface writes its own text for them.
"""

from datetime import datetime

import msgspec

from foliot.domain.run.run import Status
from foliot.domain.workflow.spec import Edge


class _Explanation(msgspec.Struct, frozen=True, kw_only=True, tag_field="code"):
    """The tag is the code."""


# -- runs


class Unreadable(_Explanation, frozen=True, kw_only=True, tag="unreadable"):
    """The row of the run cannot be read, because Foliot did not write it."""

    run_id: str
    job_id: str
    is_over: bool


class Due(_Explanation, frozen=True, kw_only=True, tag="due"):
    due_at: datetime


class RetryDue(_Explanation, frozen=True, kw_only=True, tag="retry_due"):
    attempt: int
    """The attempt that did not succeed."""
    due_at: datetime


class WaitsForGate(_Explanation, frozen=True, kw_only=True, tag="waits_for_gate"):
    due_at: datetime
    until: datetime | None
    """The latest time at which the gate decides. None: it decides as soon as the run is due."""
    depends_on: tuple[str, ...]


class NoWorker(_Explanation, frozen=True, kw_only=True, tag="no_worker"):
    queue: str
    needs: tuple[str, ...] = ()
    """The labels that its worker needs, and `executor=...`."""


class Unfit(msgspec.Struct, frozen=True, kw_only=True):
    """Why a living worker does not get a run."""

    worker: str
    pool: str = ""
    """The enrolment or token of a remote worker."""
    missing: tuple[str, ...]
    """Labels that it lacks, and `executor=...` or `kind=...`."""
    is_paused: bool = False
    is_draining: bool = False


class NoFittingWorker(_Explanation, frozen=True, kw_only=True, tag="no_fitting_worker"):
    """Workers of its queue are alive, but none of them may have it now."""

    queue: str
    needs: tuple[str, ...]
    workers: tuple[Unfit, ...]


class WaitsForLimit(_Explanation, frozen=True, kw_only=True, tag="waits_for_limit"):
    option: str | None
    """The option of the job that sets a limit: max_concurrent or concurrency_key."""
    value: int | str | None
    holders: tuple[str, ...]
    """The runs that hold the places, newest first."""


class NoFreeSlot(_Explanation, frozen=True, kw_only=True, tag="no_free_slot"):
    slots: int
    """The slots of all workers of its queue."""


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
    """The run has ended without success."""

    status: Status
    reason: str | None
    attempts: int
    has_no_retries: bool
    """The first attempt failed, and the job has no retries."""


RunExplanation = (
    Unreadable
    | Due
    | RetryDue
    | WaitsForGate
    | NoWorker
    | NoFittingWorker
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
    """The execution cannot continue: a row of it is missing or cannot be read."""

    error: str


class InProgress(_Explanation, frozen=True, kw_only=True, tag="in_progress"):
    resolved: int
    total: int
    under_way: tuple[str, ...]


class ExecutionEnded(_Explanation, frozen=True, kw_only=True, tag="execution_ended"):
    total: int
    results: dict[str, int]
    failed: tuple[str, ...]
    """The failed steps that were not recovered."""
    recovered: dict[str, tuple[str, ...]]
    """Each failed step that was recovered, with the steps that did."""


ExecutionExplanation = StepsEnding | ExecutionUnreadable | InProgress | ExecutionEnded

# -- fanouts


class FanoutRunning(_Explanation, frozen=True, kw_only=True, tag="fanout_running"):
    total: int
    ended: int
    running: int
    concurrency: int
    is_reducing: bool
    """All items have ended, and the reducer has not."""


class FanoutEnding(_Explanation, frozen=True, kw_only=True, tag="fanout_ending"):
    """The fanout was cancelled or ran out of time, and its running items are ending."""

    running: int


class FanoutEnded(_Explanation, frozen=True, kw_only=True, tag="fanout_ended"):
    total: int
    counts: dict[str, int]
    """How many items ended how, without zeros."""
    reason: str | None
    """Why the fanout ended as it did. None: it succeeded."""


FanoutExplanation = FanoutRunning | FanoutEnding | FanoutEnded

# -- chains


class OpenStep(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    status: str | None
    begins_at: datetime
    """When it is due, or has begun."""
    cause: str


class ChainInProgress(_Explanation, frozen=True, kw_only=True, tag="chain_in_progress"):
    chain_id: str | None
    """None: the scout has not decided."""
    chain_state: str
    steps: tuple[OpenStep, ...]
    expires_at: datetime | None


class ChainEnded(_Explanation, frozen=True, kw_only=True, tag="chain_ended"):
    chain_id: str | None
    """None: no chain was armed."""
    outcome: str | None
    cause: str | None
    reason: str | None


ChainExplanation = ChainInProgress | ChainEnded

# -- steps


class StepReason(_Explanation, frozen=True, kw_only=True, tag="step_reason"):
    """The reason of the step's result: paused, removed, overlap and so on."""

    reason: str


class BlockingStep(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    result: str | None
    run_id: str | None
    edge: Edge
    """The condition of the blocked step."""
    is_output_wrong: bool
    """The edge accepts the result, but the output does not pass its test."""


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
Explanation = ExecutionExplanation | FanoutExplanation | ChainExplanation | StepExplanation
