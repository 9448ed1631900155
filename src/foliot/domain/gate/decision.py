"""What a gate decides about what it sees."""

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
    """What a gate sees of one dependency."""

    end: End | None
    is_expected: bool = False
    """A run of it is due, or has begun and is not over."""


class Verdict(StrEnum):
    """What a dependency counts as."""

    MET = "met"
    MISSING = "missing"
    FAILED = "failed"


class Gated(NamedTuple):
    """A due run that waits for its gate. `planned`: its tick's moment, or when it was first due; a step has no tick, it
    is due when the steps before it let it start."""

    run_id: RunId
    job_id: JobId
    planned: Instant
    due_at: Instant
    gate: Gate | None = None
    """What it must look at. None: its job has no gate any more, or has been deleted, and it may start."""
    error: str | None = None
    """Why its gate could not be read."""


class Postponed(NamedTuple):
    """The gate looks again at `until`."""

    run_id: RunId
    until: Instant


class Passed(NamedTuple):
    """The gate has decided: `decision.action` says what becomes of the run."""

    run_id: RunId
    decision: "Decision"


class Decision(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a gate has decided and why: stored with its run."""

    action: Action
    reason: Reason | None = None
    verdicts: dict[JobId, Verdict] = {}
    deciders: dict[JobId, RunId] = {}
    """The run of each dependency that was looked at."""
    until: Instant | None = None
    """Up to when ends of runs were looked at, where the next window begins there."""
    trouble: str | None = None
    """Why the gate could not be asked."""

    @property
    def explanation(self) -> str:
        if self.trouble is not None:
            return self.trouble
        if self.reason is Reason.COOLDOWN:
            return "declined a short while ago and does not look again before its cooldown is over"
        blamed = [f"{job} ({verdict})" for job, verdict in self.verdicts.items() if verdict is not Verdict.MET]
        return f"not met: {', '.join(blamed[:20])}" if blamed else "every dependency is met"


def window_of(gate: Gate, planned: Instant, last_success: Instant | None) -> Instant:
    """From when on the end of a run counts. The moment itself does not, so that two windows in a row share nothing.

    `last_success` is up to when the gate of its last success has looked: what ended while that one ran still counts.
    """
    match gate.window_kind:
        case WindowKind.LAST_SUCCESS if last_success is not None:
            return last_success
        case WindowKind.LOCAL_DAY:
            return Instant(_midnight(planned, gate.timezone) - 1)
        case _:
            return Instant(planned - gate.window)


def waits(gate: Gate, sights: Mapping[JobId, DependencyState], planned: Instant, now: Instant) -> bool:
    """Whether it is worth looking again: a dependency that is not met is expected, and there is time."""
    return now < planned + gate.wait and any(
        sight.is_expected and verdict_on(gate, sight) is not Verdict.MET for sight in sights.values()
    )


def decide(gate: Gate, sights: Mapping[JobId, DependencyState]) -> Decision:
    """What the gate does about what it sees."""
    verdicts = {job: verdict_on(gate, sights[job]) for job in gate.depends_on}
    wanted = [
        (action, reason)
        for verdict, action, reason in (
            (Verdict.FAILED, gate.on_dep_fail, Reason.DEP_FAILED),
            (Verdict.MISSING, gate.on_missing, Reason.DEP_MISSING),
        )
        if verdict in verdicts.values()
    ]
    action, reason = _strongest(wanted)
    deciders = {job: sight.end.run_id for job, sight in sights.items() if sight.end is not None}
    return Decision(action=action, reason=reason, verdicts=verdicts, deciders=deciders)


def verdict_on(gate: Gate, sight: DependencyState) -> Verdict:
    match sight.end:
        case None | End(status=Status.SKIPPED):
            return Verdict.MISSING
        case End(status=Status.SUCCESS):
            return Verdict.MET
        case End(status=Status.PARTIAL) if gate.partial_counts_as == "success":
            return Verdict.MET
    return Verdict.FAILED


def cooling(gate: Gate, declined_at: Instant | None, planned: Instant) -> bool:
    """Whether the gate has declined so recently that it does not look again."""
    return bool(gate.cooldown) and declined_at is not None and planned < declined_at + gate.cooldown


def _strongest(wanted: Sequence[tuple[Action, Reason]]) -> tuple[Action, Reason | None]:
    for action in (Action.FAIL, Action.SKIP):
        for asked, reason in wanted:
            if asked is action:
                return action, reason
    return Action.RUN, None


def _midnight(planned: Instant, timezone: str) -> Instant:
    """When the local day of a moment began: its first instant, also where the clock jumps over midnight."""
    begun = cron.compile("0 0 * * *", timezone).previous_epoch(planned // SECOND + 1)
    return Instant((begun or 0) * SECOND)
