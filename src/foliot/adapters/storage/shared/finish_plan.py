"""Decides what ended attempts mean for their runs, from the stored rows; a worker reports only the outcome."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeGuard

from msgspec import Struct

from foliot.domain.gate.decision import Decision
from foliot.domain.gate.spec import Action
from foliot.domain.ids import JobId, RunId, ScheduleUid, Token, WorkerId
from foliot.domain.instant import Instant, later
from foliot.domain.job.job import Options
from foliot.domain.run.lease import APP_EXECUTOR, Claim, Finish
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
from foliot.domain.run.run import (
    SUCCEEDED,
    Again,
    Ended,
    GivenBack,
    HandedOver,
    Status,
    apply_cancel,
    verdict_of,
    without_retry,
)
from foliot.errors import RowUnreadable

UNKNOWN_OPTIONS: Final = Options(max_lost=0)
"""The options of a run whose own options cannot be read. Its number of retries is not known, so it has none."""
_FAILED: Final = (Status.FAILED, Status.TIMEOUT)


_AFTER_LAUNCH: Final = frozenset(
    {
        (Status.RUNNING, None),
        (Status.SUCCESS, None),
        (Status.FAILED, Reason.EXECUTOR_FAILED),
        (Status.TIMEOUT, Reason.TIMEOUT),
    }
)
"""States of a run that the executor has, or whose end it has reported."""


class LeasedRun(Struct, frozen=True, gc=False):
    """The stored columns of a leased run."""

    job_id: JobId
    lost: int
    queue: str
    priority: int
    due_at: Instant
    has_limits: bool
    schedule_uid: ScheduleUid | None
    parent_id: RunId | None
    options: Options = Options()

    @property
    def has_places(self) -> bool:
        """Whether the run may hold a place in a limit, or the overlap key of its schedule."""
        return self.has_limits or self.schedule_uid is not None


_BARE: Final = LeasedRun(JobId(""), 0, "", 0, Instant(0), False, None, None)


class Lease(Struct, frozen=True, gc=False):
    """A stored lease. `run` is read only if it is needed: a plain success of a bare run needs none of it."""

    token: Token
    run_id: RunId
    worker_id: WorkerId
    attempt: int
    started_at: Instant
    cancel_at: Instant | None
    is_bare: bool
    """The run has no parent, no limit and no schedule, so its end affects no other row."""
    run: LeasedRun = _BARE

    @property
    def lost(self) -> int:
        return self.run.lost

    def is_of(self, finish: Finish) -> bool:
        return self.run_id == finish.run_id and self.worker_id == finish.worker_id


class FinishPlan(NamedTuple):
    """Ended attempts by how they are saved; `unknown` are finishes without a current lease."""

    ended: list[tuple[Lease, Ended]]
    again: list[tuple[Lease, Again]]
    given_back: list[Lease]
    unknown: list[Finish]
    handed_over: list[tuple[Lease, HandedOver]]

    @property
    def failed(self) -> list[RunId]:
        """The runs that have failed."""
        return [lease.run_id for lease, verdict in self.ended if verdict.status in _FAILED]

    @property
    def fenced(self) -> list[Lease]:
        """Every lease that was current and now ends."""
        return [lease for lease, _ in self.ended] + [lease for lease, _ in self.again] + self.given_back


def is_plain(outcome: Outcome) -> TypeGuard[Success]:
    """Whether the attempt succeeded without an output, so that only the status is stored."""
    return type(outcome) is Success and outcome.output is None


def needs_run(finish: Finish, lease: Lease) -> bool:
    """Whether the row of the run is needed to decide what the outcome means."""
    return not (lease.is_bare and isinstance(finish.outcome, Success))


def plan_finishes(finishes: Sequence[Finish], leases: Mapping[Token, Lease]) -> FinishPlan:
    """Compare each finish with the lease it names. A second finish of the same token is unknown."""
    ended, again, given_back, unknown, handed_over = plan = FinishPlan([], [], [], [], [])
    current = dict(leases)
    for finish in finishes:
        lease = current.pop(finish.token, None)
        if lease is None or not lease.is_of(finish):
            unknown.append(finish)
            continue
        if finish.outcome is DONE:
            ended.append((lease, SUCCEEDED))
            continue
        verdict = verdict_of(lease, finish.outcome, lease.run.options)
        if lease.worker_id == APP_EXECUTOR:
            verdict = without_retry(verdict)
        if lease.cancel_at is not None:
            verdict = apply_cancel(verdict)
        match verdict:
            case Ended():
                ended.append((lease, verdict))
            case Again():
                again.append((lease, verdict))
            case HandedOver():
                handed_over.append((lease, verdict))
            case GivenBack():
                given_back.append(lease)
    return plan


def plan_giving_back(leases: Sequence[Lease]) -> FinishPlan:
    """Undo leases whose claim never reached the worker. A run whose cancellation was requested ends."""
    cancelled = [(lease, apply_cancel(GivenBack())) for lease in leases if lease.cancel_at is not None]
    ended = [(lease, verdict) for lease, verdict in cancelled if isinstance(verdict, Ended)]
    return FinishPlan(ended, [], [lease for lease in leases if lease.cancel_at is None], [], [])


def report_by(lease: Lease, verdict: HandedOver) -> Instant | None:
    """Return when the run ends as timed out if the executor has not reported its end. None: never."""
    return None if verdict.timeout is None else later(lease.started_at, verdict.timeout)


def unstorable_outcome(finish: Finish) -> Finish:
    """Return the failure to save if no row can hold the outcome. Without it the run would be repeated for ever."""
    error = "the outcome of the attempt could not be stored: its exit code or its output is out of range"
    return Finish(finish.run_id, finish.worker_id, finish.token, Failure(error, Reason.OUTPUT, retryable=False))


def end_unreadable(run_id: RunId, worker_id: WorkerId, token: Token, error: RowUnreadable) -> Finish:
    """Return the failure of a claimed run whose row cannot be read: no worker can execute it."""
    return Finish(run_id, worker_id, token, Failure(str(error), Reason.LAUNCH_FAILED, retryable=False))


def unstorable_tree(claim: Claim) -> Finish:
    """Return the failure to save if no row can hold the tree."""
    error = "the execution could not be stored: a parameter or a step of it is out of range"
    return Finish(claim.run_id, claim.worker_id, claim.token, Failure(error, Reason.PAYLOAD, retryable=False))


def gate_ending(decision: Decision) -> Ended | None:
    """Return how the run ends if its gate does not let it start. None: the run may start."""
    if decision.action is Action.RUN:
        return None
    status = Status.SKIPPED if decision.action is Action.SKIP else Status.FAILED
    return Ended(status, decision.reason, decision.explanation)


def is_repeated(outcome: Outcome, status: str, reason: str | None) -> bool:
    """Whether a stored ending (of the same run and token) is the result of saving `outcome` before.

    The token alone is not enough: a lost attempt has the same token as the worker that reports its own outcome too
    late.
    """
    saved = (status, reason)
    was_cancelled = saved == (Status.CANCELLED, Reason.CANCELLED)
    was_refused = saved == (Status.FAILED, Reason.OUTPUT)
    match outcome:
        case Success():
            return was_refused or saved == (SUCCEEDED.status, None)
        case Failure(reason=cause, retryable=retryable):
            return (retryable and was_cancelled) or was_refused or saved == (Status.FAILED, cause)
        case TimedOut():
            return was_cancelled or was_refused or saved == (Status.TIMEOUT, Reason.TIMEOUT)
        case Cancelled():
            return was_cancelled or was_refused
        case Lost():
            return was_cancelled or saved == (Status.FAILED, Reason.LEASE_LOST)
        case Launched():
            return was_cancelled or was_refused or saved in _AFTER_LAUNCH
        case Interrupted():
            return was_cancelled or saved == (Status.FAILED, Reason.RESTART)
