"""What follows from the end of a step: the next one, a retry, an escalation, or the end of the chain."""

from collections.abc import Sequence
from typing import Any, Final

from foliot.domain.chain.bounds import BoundedChain
from foliot.domain.chain.decision import POSSIBLE, Decision, Report, read_report
from foliot.domain.chain.refusal import Refusal, RefusalCode
from foliot.domain.chain.spec import ACTION, ESCALATE, MONITOR, SCOUT, VERIFY
from foliot.domain.chain.state import ChainOutcome, ChainState, ChainStep
from foliot.domain.instant import Instant, Millis
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.domain.tree.kind import ChildEnd

MOST_REASON: Final = 1_000
_LOST: Final = frozenset({Reason.LEASE_LOST, Reason.RESTART})
_DECIDING: Final = frozenset({Status.SUCCESS, Status.PARTIAL})
_MOST_QUOTED: Final = 64
_PASSING: Final = frozenset({Reason.TIMEOUT, Reason.CONNECTION})
"""Reasons of failures after which a retry may help, whatever the exit code."""


class Flow(BoundedChain):
    """Applies the rules to one chain."""

    def end_step(self, step: ChainStep, end: ChildEnd) -> None:
        chain = self.chain
        step.status, step.started_at, step.finished_at = end.status, end.started_at, self.now
        if chain.state is ChainState.ARMED and step.depth > 0 and end.started_at is not None:
            chain.move(ChainState.ACTIVE, f"{step.key} began", max(end.started_at, chain.armed_at or end.started_at))
        report = read_report(end.output)
        self.spend(step, report.tokens, report.usd)
        decision = self._decision(step, report, end)
        if decision is not None and not step.has_decided:
            step.decision, step.reason = decision, report.reason[:MOST_REASON]
        if chain.closing is not None or not (chain.is_armed or step.stage == SCOUT):
            return
        if chain.escalation is not None and step.stage != ESCALATE:
            return  # a person has been told, and decides what follows
        if decision is None:
            if not (step.is_cancelled or self.is_over):
                self._failed(step, end, _failure(step, report, end))
        else:
            self._decided(step, decision, report)

    def _decision(self, step: ChainStep, report: Report, end: ChildEnd) -> Decision | None:
        if step.has_decided:
            return step.decision
        if end.status not in _DECIDING:
            return None
        possible = POSSIBLE.get(step.stage, POSSIBLE[""])
        if report.decision is not None:
            return next((one for one in possible if one == report.decision), None)
        codes = self.stage(step.stage).codes(step.stage)
        return codes.get(end.exit_code or 0)

    def _decided(self, step: ChainStep, decision: Decision, report: Report) -> None:
        why = step.verdict
        match decision:
            case Decision.QUIET:
                pass
            case Decision.TRIGGER:
                self._triggered(report, why)
            case Decision.DONE:
                self._done(step, why)
            case Decision.GOOD:
                self._good(step, why)
            case Decision.MONITOR:
                self._monitor(step, why, good=0)
            case Decision.RETRY:
                self._retry(ACTION, step, why)
            case Decision.ESCALATE:
                self.escalate(why, step)
            case Decision.CLOSE:
                self.close(ChainOutcome.RESOLVED, why)

    def _triggered(self, report: Report, why: str) -> None:
        if not self.chain.is_armed:  # a request of the scout has armed it
            self.arm(report, why)

    def _done(self, step: ChainStep, why: str) -> None:
        if step.stage == ACTION and VERIFY in self.spec.stages:
            self.plan(VERIFY, depth=step.depth + 1, parent=step.key, cause=why)
        elif step.stage == ESCALATE:
            self.close(ChainOutcome.ESCALATED, step.cause)

    def _good(self, step: ChainStep, why: str) -> None:
        good = self.chain.good + 1
        is_window_open = self.chain.deadline is not None and self.now < self.chain.deadline
        if is_window_open or good < self.spec.good_checks:
            self._monitor(step, why, good=good)
        else:
            self.close(ChainOutcome.RESOLVED, why)

    def _monitor(self, step: ChainStep, why: str, *, good: int) -> None:
        self.chain.good = good
        if good and self.chain.state is ChainState.ACTIVE:
            self.chain.move(ChainState.COOLING_DOWN, why, self.now)
        due_at = Instant(self.now + monitor_delay(self.spec.intervals, self.now, self.chain.deadline))
        if self.chain.expires_at is not None and due_at >= self.chain.expires_at:
            self.close(ChainOutcome.RESOLVED, f"{why}; the next check would be after the expiry")
            return
        depth = step.depth if step.stage == MONITOR else step.depth + 1
        self.plan(MONITOR, depth=depth, parent=step.key, cause=why, due_at=due_at)

    def _failed(self, step: ChainStep, end: ChildEnd, why: str) -> None:
        if step.stage == SCOUT:
            self.refusal = Refusal(RefusalCode.SCOUT_FAILED, why, "Look at its log.")
        elif step.stage == ESCALATE:
            self.close(ChainOutcome.ESCALATED, f"{step.cause}; {why}")
        elif self.body.is_imperative:
            self.close(ChainOutcome.FAILED, why)
        elif end.reason in _LOST and step.stage == ACTION and VERIFY in self.spec.stages:
            # It may have been executed: verifying finds out, repeating it might do it twice.
            self.plan(VERIFY, depth=step.depth + 1, parent=step.key, cause=f"{step.key} was lost")
        elif self._is_transient(step, end):
            self._retry(step.stage, step, why)
        else:
            self.escalate(why, step)

    def _is_transient(self, step: ChainStep, end: ChildEnd) -> bool:
        stage = self.stage(step.stage)
        if end.reason in _PASSING or (end.reason in _LOST and step.stage != ACTION):
            return True
        error = (end.error or "").casefold()
        return end.exit_code in stage.transient_codes or any(
            pattern.casefold() in error for pattern in stage.transient_patterns
        )

    def _retry(self, stage: str, step: ChainStep, why: str) -> None:
        self.chain.good = 0
        retries = self.chain.retries.get(stage, 0)
        if retries >= self.spec.limits.max_retries:
            self.escalate(f"{why}; {retries} retries of {stage} are used up", step)
            return
        repeated = self.chain.latest((stage,)) or step
        due_at = Instant(self.now + self.stage(stage).retry_delay(retries))
        if self.chain.expires_at is not None and due_at >= self.chain.expires_at:
            self.close(ChainOutcome.EXPIRED, f"{why}; a retry would be after the expiry")
            return
        self.chain.retries[stage] = retries + 1
        self.plan(stage, depth=repeated.depth, parent=step.key, cause=why, due_at=due_at)


def _failure(step: ChainStep, report: Report, end: ChildEnd) -> str:
    """Return why a step that decided nothing has failed."""
    if end.status not in _DECIDING:
        return f"{step.key} ended as {end.status}" + (f": {end.error}" if end.error else "")
    if report.decision is None:
        return f"{step.key} ended with exit code {end.exit_code or 0}, which decides nothing"
    possible = ", ".join(sorted(POSSIBLE.get(step.stage, POSSIBLE[""])))
    who = f"{'an' if step.stage[0] in 'aeiou' else 'a'} {step.stage}"
    return f'{step.key} decided "{report.decision[:_MOST_QUOTED]}", which {who} cannot; it can decide: {possible}'


def monitor_delay(intervals: Sequence[Any], now: Instant, deadline: Instant | None) -> Millis:
    """Return how long after now the next check is: the shorter, the closer the deadline. Without one, the longest."""
    left = None if deadline is None else deadline - now
    for interval in intervals:
        if left is not None and interval.within is not None and left <= interval.within:
            return Millis(interval.every)
    return Millis(intervals[-1].every)
