"""A run: one execution of a job, and its states.

    create --> SCHEDULED --release--> QUEUED --claim--> RUNNING --finish--> SUCCESS | PARTIAL | FAILED | TIMEOUT
                  ^                     ^                |   |
                  |                     +-- given back --+   +--cancel--> CANCELLING --finish--> CANCELLED | ...
                  +--------- retry, lost ----------------+
    cancel before it runs: CANCELLED immediately.        a gate that declines: SKIPPED or FAILED.
    mark before it runs: SUCCESS immediately.            an approval: SUCCESS or FAILED, by the answer.
    launched by the application's executor: RUNNING until it reports SUCCESS or FAILED.

Only SCHEDULED and the terminal statuses are stored on the run. QUEUED means that the run is in the queue of runs that
may start (or waits there for a limit). RUNNING means that a worker, or the application's executor, holds a lease on it,
or that it is a tree whose children have not ended.

`verdict_of` decides what one ended attempt means for its run. There are two separate budgets: failed attempts count
against the job's retries, attempts whose worker was lost against its `lost_budget`, because the job may be what killed
the worker.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple, Protocol

from msgspec import Struct

from foliot.domain.ids import DefinitionId, JobId, RunId, ScheduleId, ScheduleUid, Token, WorkerId
from foliot.domain.instant import MINUTE, Instant, Millis
from foliot.domain.job.job import Delivery, Options
from foliot.domain.run.limits import Limit
from foliot.domain.run.outcome import (
    DONE,
    Cancelled,
    Failure,
    Interrupted,
    Launched,
    Lost,
    Outcome,
    Reason,
    Success,
    TimedOut,
)
from foliot.domain.run.progress import SavedProgress
from foliot.domain.secrets import public_error
from foliot.errors import InvalidInput, RowUnreadable, suggest


class Status(StrEnum):
    SCHEDULED = "scheduled"
    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCESS = "success"
    PARTIAL = "partial"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"

    @property
    def is_terminal(self) -> bool:
        return self in TERMINAL


TERMINAL: Final = frozenset(
    {Status.SUCCESS, Status.PARTIAL, Status.FAILED, Status.TIMEOUT, Status.CANCELLED, Status.SKIPPED}
)

BEGUN: Final = (Status.RUNNING, Status.CANCELLING)
"""The statuses of a run that has started and has not ended."""

MOVES: Final[Mapping[Status, frozenset[Status]]] = {
    Status.SCHEDULED: frozenset({Status.QUEUED, Status.CANCELLED, Status.SKIPPED, Status.SUCCESS, Status.FAILED}),
    Status.QUEUED: frozenset(
        {Status.RUNNING, Status.CANCELLED, Status.SCHEDULED, Status.SKIPPED, Status.SUCCESS, Status.FAILED}
    ),
    # Only a workflow execution is skipped after it has started: when all its steps were skipped.
    Status.RUNNING: TERMINAL | {Status.SCHEDULED, Status.CANCELLING},
    Status.CANCELLING: TERMINAL - {Status.SKIPPED},
    **{final: frozenset() for final in TERMINAL},
}
"""Which statuses may follow each one; the simulation checks it. A run that is given back, or that was lost and is due
at once, goes through SCHEDULED to QUEUED in one transaction."""

_SPELLINGS: Final = {
    "pending": Status.SCHEDULED,
    "enqueued": Status.QUEUED,
    "started": Status.RUNNING,
    "canceling": Status.CANCELLING,
    "succeeded": Status.SUCCESS,
    "fail": Status.FAILED,
    "failure": Status.FAILED,
    "timed_out": Status.TIMEOUT,
    "canceled": Status.CANCELLED,
}


def parse_status(text: str) -> Status:
    """Return the status named by `text`. Accepts the spellings of other schedulers."""
    word = str(text).strip().casefold()
    if word in _SPELLINGS:
        return _SPELLINGS[word]
    try:
        return Status(word)
    except ValueError:
        raise InvalidInput(
            f"status {word[:32]!a} does not exist",
            hint=suggest(word, Status, otherwise=f"Use one of: {', '.join(Status)}."),
            field="status",
        ) from None


PRIORITY_STEP: Final = MINUTE
"""One step of priority equals this much waiting time."""


def rank(due_at: Instant, priority: int) -> int:
    """Return the rank in the queue: a virtual due time. Lower comes first.

    A priority only moves a run forward in time, so no run starves: a run of priority 0 that has waited five minutes
    starts before a new run of priority 4.
    """
    return due_at - priority * PRIORITY_STEP


class Tick(NamedTuple):
    """The schedule and the planned moment that a run was created for."""

    uid: ScheduleUid
    schedule_id: ScheduleId
    scheduled_for: Instant
    key: str


class NewRun(Struct, frozen=True, gc=False):
    """A run to create. `options` are the options of its job at that time, `overrides` those of this run alone."""

    id: RunId
    job_id: JobId
    due_at: Instant
    payload: bytes | None = None
    options: Options = Options()
    overrides: bytes | None = None
    trigger: str = "api"
    tick: Tick | None = None
    dedupe_key: str | None = None
    dedupe_scope: str = "forever"
    dedupe_for: int | None = None
    parent_id: RunId | None = None
    """The tree that this run is a child of, which gets a note when the run ends."""
    root_id: RunId | None = None
    """The outermost tree. All runs with one root are shown and removed together."""
    child_key: str | None = None
    """Its key in the parent, for example the name of a step."""
    definition_id: DefinitionId | None = None
    """The definition to execute, if it is not the current one of the job."""
    exempt: tuple[str, ...] = ()
    """Limits that an ancestor holds. A child that needed them would wait forever."""
    shares: tuple[Limit, ...] = ()
    """Limits that it shares with other children of its parent, beside those of its options."""
    is_gated: bool = False
    """The run may start only after its job's gate has decided."""
    scheduled_for: Instant | None = None
    """The planned moment, if the caller of a launcher gave it instead of a tick. For a step, that of its execution."""
    job_revision: int | None = None
    """The revision of the job that the run was made from: it is created only if that is the current one. None: it is
    created in any case."""

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits that the run needs a place in, keys ascending."""
        needed = self.options.limits(self.job_id)
        if self.shares:
            needed = tuple(sorted((*needed, *self.shares)))
        return tuple(limit for limit in needed if limit.key not in self.exempt) if self.exempt else needed


class Run(NamedTuple):
    """A run as it is shown. `attempt` is the number of attempts started, without those given back."""

    id: RunId
    project: str
    job_id: JobId
    status: Status
    reason: str | None
    queue: str
    priority: int
    trigger: str
    tick: Tick | None
    payload: Any
    output: Any
    due_at: Instant
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None
    attempt: int
    lost: int
    exit_code: int | None
    error: str | None
    worker_id: WorkerId | None
    token: Token | None
    parent_id: RunId | None = None
    """The tree that this run is a child of."""
    root_id: RunId | None = None
    """The outermost tree."""
    child_key: str | None = None
    """Its key in the parent, for example the name of a step."""
    scheduled_for: Instant | None = None
    """The planned moment, from a tick or from the caller of a launcher."""
    unreadable: RowUnreadable | None = None
    """Why its row cannot be read, if another program has changed it. The other fields are those that could be read. Use
    them only to show or to end the run."""
    progress: SavedProgress | None = None
    """What its running attempt has reported."""
    tree: str | None = None
    """The kind of tree that it is or will be opened as, such as graph or fanout. None: no tree, or not known."""
    needs: tuple[str, ...] = ()
    """What its worker must have (`domain.run.lane`)."""


class AttemptRecord(NamedTuple):
    """One finished attempt. If its row cannot be read, the status is `unreadable` and `error` is the cause."""

    run_id: RunId
    number: int
    token: Token
    worker_id: WorkerId
    started_at: Instant
    finished_at: Instant
    status: str
    reason: str | None
    exit_code: int | None
    error: str | None


class Ended(NamedTuple):
    """The run has ended."""

    status: Status
    reason: Reason | None = None
    error: str | None = None
    exit_code: int | None = None
    output: bytes | None = None
    was_lost: bool = False


class Again(NamedTuple):
    """The run is retried, `delay` after the end of the attempt was saved. `status` is how the attempt ended."""

    delay: Millis
    status: Status
    reason: Reason
    error: str | None = None
    exit_code: int | None = None
    was_lost: bool = False


class GivenBack(NamedTuple):
    """The worker was stopped, and the job is not the cause: the attempt does not count."""


class HandedOver(NamedTuple):
    """The executor of the application has the run until it reports the end. `timeout` is counted from the start of the
    attempt; None: the run waits for the report for ever."""

    executor_run_id: str
    timeout: Millis | None


Verdict = Ended | Again | GivenBack | HandedOver

SUCCEEDED: Final = Ended(Status.SUCCESS)


class Attempted(Protocol):
    """A run whose attempt number `attempt` has ended. `lost` is the number of earlier attempts that were lost."""

    @property
    def run_id(self) -> RunId: ...

    @property
    def attempt(self) -> int: ...

    @property
    def lost(self) -> int: ...


def verdict_of(run: Attempted, outcome: Outcome, options: Options) -> Verdict:
    """Return what one ended attempt means for its run. Masks secrets in errors before anything is stored."""
    if outcome is DONE:
        return SUCCEEDED
    match outcome:
        case Success(output=output, exit_code=exit_code):
            return Ended(Status.SUCCESS, output=output, exit_code=exit_code)
        case Cancelled():
            return Ended(Status.CANCELLED, Reason.CANCELLED)
        case Interrupted() if options.delivery is Delivery.AT_MOST_ONCE:
            return Ended(Status.FAILED, Reason.RESTART, "the worker was stopped, and the job allows only one attempt")
        case Interrupted():
            return GivenBack()
        case Lost():
            return _verdict_of_lost(run, options)
        case Launched(executor_run_id=executor_run_id):
            return HandedOver(executor_run_id, options.timeout)
        case TimedOut(error=error):
            return _retry_or_end(run, options, Ended(Status.TIMEOUT, Reason.TIMEOUT, public_error(error)))
        case Failure(error=error, reason=reason, exit_code=exit_code, retryable=retryable, output=output):
            ended = Ended(Status.FAILED, reason, public_error(error), exit_code, output)
            return _retry_or_end(run, options, ended) if retryable else ended


def _retry_or_end(run: Attempted, options: Options, ended: Ended) -> Verdict:
    failures = run.attempt - run.lost
    if failures > options.retry.retries:
        return ended
    delay = options.retry.delay(failures, key=run.run_id)
    reason = ended.reason or Reason.EXCEPTION
    return Again(delay, ended.status, reason, ended.error, ended.exit_code)


def _verdict_of_lost(run: Attempted, options: Options) -> Verdict:
    lost = run.lost + 1
    if lost > options.lost_budget:
        error = f"the worker was lost {lost} times while it executed this run" if lost > 1 else "the worker was lost"
        return Ended(Status.FAILED, Reason.LEASE_LOST, error, was_lost=True)
    return Again(Millis(0), Status.FAILED, Reason.LEASE_LOST, "the worker was lost", was_lost=True)


def apply_cancel(verdict: Verdict) -> Verdict:
    """Return the verdict on an attempt that ended while a cancellation was pending: it is not retried."""
    match verdict:
        case Ended() | HandedOver():
            return verdict
        case Again(error=error, exit_code=exit_code, was_lost=was_lost):
            return Ended(Status.CANCELLED, Reason.CANCELLED, error, exit_code, was_lost=was_lost)
        case GivenBack():
            return Ended(Status.CANCELLED, Reason.CANCELLED)


def without_retry(verdict: Verdict) -> Verdict:
    """Return the verdict on an attempt that the executor had. It is not retried: executors have their own retries."""
    if isinstance(verdict, Again):
        return Ended(verdict.status, verdict.reason, verdict.error, verdict.exit_code, was_lost=verdict.was_lost)
    return verdict
