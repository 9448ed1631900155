"""The decision of a gate about the states of its dependencies."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from foliot.domain import cron
from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import SECOND, Instant
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status


class End(NamedTuple):
    """The latest terminal run of a job inside the window."""

    run_id: RunId
    status: Status
    finished_at: Instant


class DependencyState(NamedTuple):
    """The state of one dependency of a gate."""

    end: End | None
    is_expected: bool = False
    """Whether a run of it is due, or has started and not ended."""


class Verdict(StrEnum):
    """What a dependency counts as."""

    MET = "met"
    MISSING = "missing"
    FAILED = "failed"


class Gated(NamedTuple):
    """A due run that waits for its gate. `planned`: the moment of its tick, or when it was first due. A step has no
    tick and is due when its parents have resolved."""

    run_id: RunId
    job_id: JobId
    planned: Instant
    due_at: Instant
    gate: Gate | None = None
    """The gate. None: the job no longer has one, or has been deleted, and the run may start."""
    error: str | None = None
    """Why its gate could not be read."""


class Postponed(NamedTuple):
    """The gate waits and is checked again at `until`."""

    run_id: RunId
    until: Instant


class Decided(NamedTuple):
    """The gate has decided: `decision.action` is what becomes of the run."""

    run_id: RunId
    decision: "Decision"


class Decision(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The decision of a gate with its reasons. Stored with the run."""

    action: Action
    reason: Reason | None = None
    verdicts: dict[JobId, Verdict] = {}
    deciders: dict[JobId, RunId] = {}
    """The run of each dependency that decided."""
    until: Instant | None = None
    """The end of the window, if the next window begins there."""
    trouble: str | None = None
    """Why the gate could not be checked."""

    @property
    def explanation(self) -> str:
        if self.trouble is not None:
            return self.trouble
        if self.reason is Reason.COOLDOWN:
            return "the gate declined recently and its cooldown has not ended"
        unmet = [f"{job} ({verdict})" for job, verdict in self.verdicts.items() if verdict is not Verdict.MET]
        return f"not met: {', '.join(unmet[:20])}" if unmet else "every dependency is met"


def window_of(gate: Gate, planned: Instant, last_success: Instant | None) -> Instant:
    """Return the start of the window. It is exclusive, so that two successive windows share no moment.

    `last_success` is the end of the window of the gate's last success: runs that ended while that one ran still count.
    """
    match gate.window_kind:
        case WindowKind.LAST_SUCCESS if last_success is not None:
            return last_success
        case WindowKind.LOCAL_DAY:
            return Instant(_midnight(planned, gate.timezone) - 1)
        case _:
            return Instant(planned - gate.window)


def waits(gate: Gate, states: Mapping[JobId, DependencyState], planned: Instant, now: Instant) -> bool:
    """Return whether the gate waits: an unmet dependency is expected, and `wait` has not passed."""
    return now < planned + gate.wait and any(
        state.is_expected and verdict_on(gate, state) is not Verdict.MET for state in states.values()
    )


def decide(gate: Gate, states: Mapping[JobId, DependencyState]) -> Decision:
    """Return the decision of the gate."""
    verdicts = {job: verdict_on(gate, states[job]) for job in gate.depends_on}
    candidates = [
        (action, reason)
        for verdict, action, reason in (
            (Verdict.FAILED, gate.on_dep_fail, Reason.DEP_FAILED),
            (Verdict.MISSING, gate.on_missing, Reason.DEP_MISSING),
        )
        if verdict in verdicts.values()
    ]
    action, reason = _strongest(candidates)
    deciders = {job: state.end.run_id for job, state in states.items() if state.end is not None}
    return Decision(action=action, reason=reason, verdicts=verdicts, deciders=deciders)


def verdict_on(gate: Gate, state: DependencyState) -> Verdict:
    """Return what a dependency counts as."""
    match state.end:
        case None | End(status=Status.SKIPPED):
            return Verdict.MISSING
        case End(status=Status.SUCCESS):
            return Verdict.MET
        case End(status=Status.PARTIAL) if gate.partial_counts_as == "success":
            return Verdict.MET
    return Verdict.FAILED


def cooling(gate: Gate, declined_at: Instant | None, planned: Instant) -> bool:
    """Return whether the gate is in its cooldown after it declined."""
    return bool(gate.cooldown) and declined_at is not None and planned < declined_at + gate.cooldown


def _strongest(candidates: Sequence[tuple[Action, Reason]]) -> tuple[Action, Reason | None]:
    for action in (Action.FAIL, Action.SKIP):
        for candidate, reason in candidates:
            if candidate is action:
                return action, reason
    return Action.RUN, None


def _midnight(planned: Instant, timezone: str) -> Instant:
    """Return the start of the local day of a moment: its first instant, also if the clock change skips midnight."""
    begun = cron.compile("0 0 * * *", timezone).previous_epoch(planned // SECOND + 1)
    return Instant((begun or 0) * SECOND)
