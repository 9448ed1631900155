"""A run: one job's passage from due to done.

    create --> SCHEDULED --release--> QUEUED --claim--> RUNNING --finish--> SUCCESS | PARTIAL | FAILED | TIMEOUT
                  ^  ^                  |                |   |
                  |  +----- sweep ------+                |   +--cancel--> CANCELLING --finish--> CANCELLED | ...
                  +------ retry, lost, given back -------+
    cancel of what does not run yet: CANCELLED at once.        A gate that declines: SKIPPED or FAILED.
    mark of what does not run yet: SUCCESS at once, by hand.   An answer to a question: as it says.

Only SCHEDULED and the terminal statuses are stored on the run; QUEUED means that it stands in the queue of
what may start (or waits there for a limit), RUNNING that a worker holds a lease on it, or that it is a tree whose
children are under way.

`verdict_of` decides what one ended attempt means for its run. Two budgets are kept apart: tries that failed count
against the job's retries, tries whose worker vanished against its `lost_budget`, because the job may be what killed
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
    Lost,
    Outcome,
    Reason,
    Success,
    TimedOut,
)
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
"""Of a run that has started and is not over."""

MOVES: Final[Mapping[Status, frozenset[Status]]] = {
    Status.SCHEDULED: frozenset({Status.QUEUED, Status.CANCELLED, Status.SKIPPED, Status.SUCCESS, Status.FAILED}),
    Status.QUEUED: frozenset(
        {Status.RUNNING, Status.CANCELLED, Status.SCHEDULED, Status.SKIPPED, Status.SUCCESS, Status.FAILED}
    ),
    # Skipped after it ran is only an execution, and only one all of whose steps were skipped.
    Status.RUNNING: TERMINAL | {Status.SCHEDULED, Status.CANCELLING},
    Status.CANCELLING: TERMINAL - {Status.SKIPPED},
    **{final: frozenset() for final in TERMINAL},
}

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
    """Accept every spelling that the ancestors use; one canonical spelling comes back."""
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
"""One step of priority is worth this much waiting."""


def rank(due_at: Instant, priority: int) -> int:
    """The place in the queue: a virtual due time. Lower comes first.

    A priority is a head start, not a class of its own, so nothing starves: a run of priority 0 that has waited
    five minutes goes before a fresh one of priority 4.
    """
    return due_at - priority * PRIORITY_STEP


class Tick(NamedTuple):
    """Which planned moment of which schedule a run was made for."""

    uid: ScheduleUid
    schedule_id: ScheduleId
    scheduled_for: Instant
    key: str


class NewRun(Struct, frozen=True, gc=False):
    """A run to be created. `options` hold what its job says at that moment, and `overrides` what was given for it."""

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
    """The tree that this run is a child of: the one that is notified of its end."""
    root_id: RunId | None = None
    """The outermost tree: what is shown and removed together."""
    child_key: str | None = None
    """What it is to its parent: the name of a step, for example."""
    definition_id: DefinitionId | None = None
    """What it does, if that is not what its job says at the moment."""
    exempt: tuple[str, ...] = ()
    """Limits that an ancestor holds: a child that asked for them would wait for ever."""
    is_gated: bool = False
    """It may start only after its job's gate has been asked."""
    scheduled_for: Instant | None = None
    """The planned moment, where a launcher names it and no tick of ours does; of a step, that of its execution."""

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The places that it needs, keys ascending."""
        needed = self.options.limits(self.job_id)
        return tuple(limit for limit in needed if limit.key not in self.exempt) if self.exempt else needed


class Run(NamedTuple):
    """A run as people see it. `attempt` is the number of tries begun, those given back not counted."""

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
    """What it is to its parent: the name of a step, for example."""
    scheduled_for: Instant | None = None
    """The planned moment that it was made for, with a tick of ours or without."""
    unreadable: RowUnreadable | None = None
    """What is wrong with its row, if something other than Foliot has written it. The rest of the run is what can be
    told of it: it may be shown and ended, and nobody goes by it otherwise."""


class AttemptRecord(NamedTuple):
    """One finished try. The status of one that cannot be read is `unreadable`, and its error says why."""

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
    """The run is over."""

    status: Status
    reason: Reason | None = None
    error: str | None = None
    exit_code: int | None = None
    output: bytes | None = None
    was_lost: bool = False


class Again(NamedTuple):
    """The run is tried again, `delay` after its end was saved. `status` says how the attempt ended."""

    delay: Millis
    status: Status
    reason: Reason
    error: str | None = None
    exit_code: int | None = None
    was_lost: bool = False


class GivenBack(NamedTuple):
    """We stopped the worker, the job did nothing wrong: the attempt is not counted."""


Verdict = Ended | Again | GivenBack

SUCCEEDED: Final = Ended(Status.SUCCESS)


class Attempted(Protocol):
    """A run one of whose attempts has ended: the number of that attempt, and how many were lost before."""

    @property
    def run_id(self) -> RunId: ...

    @property
    def attempt(self) -> int: ...

    @property
    def lost(self) -> int: ...


def verdict_of(run: Attempted, outcome: Outcome, options: Options) -> Verdict:
    """Decide what one ended attempt means for its run. Secrets in errors are masked here, before anything is stored."""
    if outcome is DONE:
        return SUCCEEDED
    match outcome:
        case Success(output=output, exit_code=exit_code):
            return Ended(Status.SUCCESS, output=output, exit_code=exit_code)
        case Cancelled():
            return Ended(Status.CANCELLED, Reason.CANCELLED)
        case Interrupted() if options.delivery is Delivery.AT_MOST_ONCE:
            return Ended(Status.FAILED, Reason.RESTART, "the worker was stopped, and the job asks for at most one try")
        case Interrupted():
            return GivenBack()
        case Lost():
            return _verdict_of_lost(run, options)
        case TimedOut(error=error):
            return _retry_or_end(run, options, Ended(Status.TIMEOUT, Reason.TIMEOUT, public_error(error)))
        case Failure(error=error, reason=reason, exit_code=exit_code, retryable=retryable):
            ended = Ended(Status.FAILED, reason, public_error(error), exit_code)
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
        error = f"the worker vanished {lost} times while running this" if lost > 1 else "the worker vanished"
        return Ended(Status.FAILED, Reason.LEASE_LOST, error, was_lost=True)
    return Again(Millis(0), Status.FAILED, Reason.LEASE_LOST, "the worker vanished", was_lost=True)


def heed_cancel(verdict: Verdict) -> Verdict:
    """Cancel beats retry: an attempt that ended while a cancel was pending is not tried again."""
    match verdict:
        case Ended():
            return verdict
        case Again(error=error, exit_code=exit_code, was_lost=was_lost):
            return Ended(Status.CANCELLED, Reason.CANCELLED, error, exit_code, was_lost=was_lost)
        case GivenBack():
            return Ended(Status.CANCELLED, Reason.CANCELLED)
