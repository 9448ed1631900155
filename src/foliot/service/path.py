"""The path of a tick and its run: values for each stage, with ids and times, without text.

One stage *binds*: it decides the state now, for example the gate that a run waits for.

    tick -> policy -> due -> gate -> limit -> worker -> attempt -> ... -> exit          a run of a job
    trigger -> ...                                                                      a run without a tick
    step -> ...                                                                         the run of a step
    tick -> policy -> worker -> steps -> exit                                           an execution
    tick -> policy -> worker -> items -> exit                                           a fanout
    tick -> policy -> worker -> chain -> exit                                           a chain
    chain_step -> ...                                                                   a step of a chain

`service.explain_path` builds them; each interface writes its own text for them.
"""

from datetime import datetime
from enum import StrEnum

import msgspec

from foliot.domain.gate.decision import Decision
from foliot.domain.run.run import Status
from foliot.domain.schedule.tick import TickOutcome, TickReason
from foliot.service.explanation import ChainExplanation, ExecutionExplanation, FanoutExplanation, StepExplanation, Unfit
from foliot.service.queries.pause_view import PauseView


class StageState(StrEnum):
    """How far the tick or the run has come at a stage."""

    PASSED = "passed"
    BINDS = "binds"
    """This stage decides its state now."""


class ChangeKind(StrEnum):
    """What can change the state at the stage that binds."""

    NEVER = "never"
    """It is final."""
    AT_TIME = "at_time"
    DECIDED = "decided"
    """A scheduler that is alive decides it."""
    SCHEDULER_STARTS = "scheduler_starts"
    RESUMED = "resumed"
    GATE_DECIDES = "gate_decides"
    RUN_ENDS = "run_ends"
    WORKER_STARTS = "worker_starts"
    SLOT_FREES = "slot_frees"
    ATTEMPT_ENDS = "attempt_ends"
    STEPS_END = "steps_end"
    ITEMS_END = "items_end"
    CHAIN_GOES_ON = "chain_goes_on"
    """A step of the chain ends, or the chain expires."""
    ANSWERED = "answered"
    REPAIRED = "repaired"
    """A row cannot be read, and must be repaired."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What can change the state, and when."""

    kind: ChangeKind
    at: datetime | None = None
    """When it changes, or until when at the latest. None: not known."""
    waits_for: tuple[str, ...] = ()
    """Ids of runs, names of jobs or steps."""


class _Stage(msgspec.Struct, frozen=True, kw_only=True, tag_field="stage"):
    """The tag is the name of the stage."""

    state: StageState = StageState.PASSED


class NotPlanned(StrEnum):
    """Why a time has no tick."""

    NO_FIRE_TIME = "no_fire_time"
    """The rule that applied then has no such time."""
    BEFORE_SCHEDULE = "before_schedule"
    PRUNED = "pruned"
    """Retention has removed the ticks of that time."""


class TickStage(_Stage, frozen=True, kw_only=True, tag="tick"):
    schedule_id: str
    scheduled_for: datetime
    until: datetime
    """The last planned time of the row; equal to `scheduled_for` for a single tick."""
    count: int
    fire_at: datetime | None
    """The planned time with its jitter. None: it was not computed yet."""
    decided_at: datetime | None
    """None: it is not decided."""
    revision: int
    """The revision of the schedule that applies to the time."""
    revision_since: datetime | None
    schedule_type: str
    schedule_expr: str
    """The rule of that revision."""
    timezone: str
    next_run_at: datetime | None
    """The next planned time of the schedule now."""
    not_planned: NotPlanned | None = None
    nearest: tuple[datetime, ...] = ()
    """The planned times before and after, if this is not one."""


class TriggerStage(_Stage, frozen=True, kw_only=True, tag="trigger"):
    """The run was not created by a schedule."""

    trigger: str
    created_at: datetime
    user_id: str | None
    rerun_of: str | None


class PolicyStage(_Stage, frozen=True, kw_only=True, tag="policy"):
    """What the policies of the schedule decided about the tick."""

    outcome: TickOutcome
    reason: TickReason
    overlap: str
    catchup: str
    catchup_max_age: float | None
    """Seconds."""
    late: float
    """Seconds from the time at which it should have fired to the decision."""
    in_flight: tuple[str, ...] = ()
    """Runs that had not ended when an overlap was decided."""
    into: datetime | None = None
    """The planned time whose run also covers this one."""
    into_run: str | None = None
    paused_since: datetime | None = None
    paused_until: datetime | None = None
    all_paused: PauseView | None = None
    """The pause of all schedules that includes the time."""


class PausedStage(_Stage, frozen=True, kw_only=True, tag="paused"):
    """The schedule is paused, and the tick is not decided: it will be skipped unless the schedule is resumed."""

    since: datetime
    all_paused: PauseView | None = None
    """The pause of all schedules; None if the schedule is paused by itself."""
    after_failures: bool = False
    """Whether the schedules of the job were paused because of `pause_after_failures`."""


class EdgeState(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    result: str | None
    run_id: str | None
    required: str


class StepStage(_Stage, frozen=True, kw_only=True, tag="step"):
    """The run is a step of an execution."""

    execution_id: str
    workflow_id: str
    version: int
    step: str
    after: tuple[EdgeState, ...]
    """The steps that it follows, with their results."""


class DueStage(_Stage, frozen=True, kw_only=True, tag="due"):
    due_at: datetime


class GateStage(_Stage, frozen=True, kw_only=True, tag="gate"):
    decision: Decision | None
    """What was decided, as it was stored. None: it waits."""
    depends_on: tuple[str, ...] = ()
    until: datetime | None = None
    """The latest time at which a waiting gate decides."""


class LimitStage(_Stage, frozen=True, kw_only=True, tag="limit"):
    option: str | None
    value: int | str | None
    holders: tuple[str, ...] = ()


class WorkerStage(_Stage, frozen=True, kw_only=True, tag="worker"):
    queue: str
    workers: int
    """Living workers of the queue now."""
    slots: int
    running: int
    """Slots in use."""
    waited: float | None = None
    """Seconds from the due time to the start of the first attempt. None: no attempt has started."""
    unfit: tuple[Unfit, ...] = ()
    """Living workers of the queue that may not have the run, if there are no others."""
    needs: tuple[str, ...] = ()
    """What the run needs of its worker, if none may have it: labels, and `executor=...`."""


class AttemptStage(_Stage, frozen=True, kw_only=True, tag="attempt"):
    number: int
    worker: str | None
    started_at: datetime | None
    finished_at: datetime | None
    status: str
    reason: str | None
    exit_code: int | None
    error: str | None
    retry_at: datetime | None = None
    """When the next attempt started, or is due."""


class StepLine(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    result: str | None
    status: str | None
    run_id: str | None
    recovered_by: tuple[str, ...]
    why: StepExplanation | None


class StepsStage(_Stage, frozen=True, kw_only=True, tag="steps"):
    workflow_id: str
    version: int
    why: ExecutionExplanation
    steps: tuple[StepLine, ...]
    deadline: datetime | None


class ItemsStage(_Stage, frozen=True, kw_only=True, tag="items"):
    """The items of a fanout."""

    why: FanoutExplanation
    deadline: datetime | None


class ChainStage(_Stage, frozen=True, kw_only=True, tag="chain"):
    why: ChainExplanation


class ChainStepStage(_Stage, frozen=True, kw_only=True, tag="chain_step"):
    """The run is a step of a chain."""

    chain_id: str
    """Empty: the scout, before a chain is armed."""
    class_id: str
    chain_run: str
    step: str
    depth: int
    attempt: int
    cause: str
    """Why it was created."""
    decision: str | None


class ExitStage(_Stage, frozen=True, kw_only=True, tag="exit"):
    status: Status
    reason: str | None
    finished_at: datetime | None
    attempts: int
    lost: int
    retries: int | None
    """The retries of the job now. None: the job does not exist, or the run is an execution."""
    error: str | None
    unreadable: bool = False


Stage = (
    TickStage
    | TriggerStage
    | PolicyStage
    | PausedStage
    | StepStage
    | DueStage
    | GateStage
    | LimitStage
    | WorkerStage
    | AttemptStage
    | StepsStage
    | ItemsStage
    | ChainStage
    | ChainStepStage
    | ExitStage
)


class ExplainedPath(msgspec.Struct, frozen=True, kw_only=True):
    at: datetime
    run_id: str | None
    job_id: str | None
    status: Status | None
    """The status of the run. None: there is no run."""
    stages: list[Stage]
    """In order; exactly one binds."""
    change: Change
    """What can change the state at the stage that binds."""

    @property
    def binding(self) -> Stage:
        return next(stage for stage in self.stages if stage.state is StageState.BINDS)
