"""What is to be saved about ended attempts, sorted by what it makes of their runs."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.gate.decision import Decision
from foliot.domain.gate.spec import Action
from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.lease import Claim, Finish
from foliot.domain.outcome import Reason
from foliot.domain.run import Again, Ended, GivenBack, Status, Verdict, heed_cancel
from foliot.errors import RowUnreadable


class Held(NamedTuple):
    """A lease as it stands in the database."""

    run_id: RunId
    worker_id: WorkerId
    cancel_at: Instant | None


class Sorted(NamedTuple):
    """Each list belongs to one way of writing; `unknown` names leases that are not there (any more)."""

    ended: list[tuple[Claim, Ended]]
    again: list[tuple[Claim, Again]]
    given_back: list[Claim]
    unknown: list[Finish]

    @property
    def fenced(self) -> list[Claim]:
        """Everything whose lease was current."""
        return [claim for claim, _ in self.ended] + [claim for claim, _ in self.again] + self.given_back


def sort_finishes(finishes: Sequence[Finish], leases: Mapping[Token, Held]) -> Sorted:
    """Compare each finish with the lease it names, once: a second finish of one token is unknown."""
    ended, again, given_back, unknown = result = Sorted([], [], [], [])
    current = dict(leases)
    for finish in finishes:
        claim, verdict = finish.claim, finish.verdict
        held = current.pop(claim.token, None)
        if held is None or held.run_id != claim.run_id or held.worker_id != claim.worker_id:
            unknown.append(finish)
            continue
        if held.cancel_at is not None:
            verdict = heed_cancel(verdict)
        if isinstance(verdict, Ended):
            ended.append((claim, verdict))
        elif isinstance(verdict, Again):
            again.append((claim, verdict))
        else:
            given_back.append(claim)
    return result


def refused(finish: Finish) -> Finish:
    """What is saved in place of a finish that no row can hold: the run must end, or it would be repeated for ever."""
    error = "the outcome of the attempt could not be stored: its exit code or its output is out of range"
    return Finish(finish.claim, Ended(Status.FAILED, Reason.OUTPUT, error))


def end_unreadable(claim: Claim, error: RowUnreadable) -> Finish:
    """What becomes of a run that cannot be read when its turn has come: nobody can carry it out, so it ends."""
    return Finish(claim, Ended(Status.FAILED, Reason.LAUNCH_FAILED, str(error)))


def unopened(claim: Claim) -> Finish:
    """What is saved in place of the beginning of an execution that no row can hold."""
    error = "the execution could not be stored: a parameter or a step of it is out of range"
    return Finish(claim, Ended(Status.FAILED, Reason.PAYLOAD, error))


def declined(decision: Decision) -> Ended | None:
    """How a run ends that its gate keeps from starting. None: it may start."""
    if decision.action is Action.RUN:
        return None
    status = Status.SKIPPED if decision.action is Action.SKIP else Status.FAILED
    return Ended(status, decision.reason, decision.explanation)


def is_repeated(verdict: Verdict, status: str, reason: str | None) -> bool:
    """Whether a stored ending (of the same run and token) is what saving `verdict` had left behind.

    The token alone does not tell: an attempt that was declared lost has the token of the worker that comes back
    too late with an outcome of its own.
    """
    was_cancelled = (status, reason) == (Status.CANCELLED, Reason.CANCELLED)
    was_refused = (status, reason) == (Status.FAILED, Reason.OUTPUT)
    match verdict:
        case Ended():
            return was_refused or (status, reason) == (verdict.status, verdict.reason)
        case Again():
            return was_cancelled or was_refused or (status, reason) == (verdict.status, verdict.reason)
        case GivenBack():
            return was_cancelled
