"""One chain under its limits: arming it, creating its steps, what they spend, closing it.

It works on the chain and on the state of its class, both as they were read, and collects what to save. Nothing of it
is saved unless both are unchanged.
"""

from collections.abc import Mapping
from typing import Any, Final

from foliot.domain.alert import Alert, AlertKind
from foliot.domain.chain.class_state import (
    BreakerState,
    ClassState,
    breaker_refusal,
    budget_refusal,
    recent,
)
from foliot.domain.chain.decision import Report, read_deadline
from foliot.domain.chain.refusal import (
    Refusal,
    RefusalCode,
    closed,
    deadline_refusal,
    expired,
    rate_violation,
    slot_refusal,
    violation,
)
from foliot.domain.chain.spec import ACTION, ESCALATE, MONITOR, SCOUT, SHORTEST_DELAY, VERIFY, Stage
from foliot.domain.chain.state import Chain, ChainOutcome, ChainState, ChainStep, Closing, chain_id
from foliot.domain.chain.step import ChainBody, step_run
from foliot.domain.ids import IdSource, RunId
from foliot.domain.instant import Instant, Millis
from foliot.domain.job.job import JobSpec
from foliot.domain.run.run import NewRun, Status
from foliot.domain.tree.tree import Tree

DEFAULT_SLOT: Final = "main"
MOST_TOKENS: Final = 10**15
MOST_USD: Final = 1e12
"""Larger reports count as these, which every database can store."""
_FAILURES: Final = frozenset({ChainOutcome.FAILED, ChainOutcome.ESCALATED})


class BoundedChain:
    """A chain, its class, and what a decision changes of both."""

    def __init__(
        self,
        tree: Tree,
        body: ChainBody,
        chain: Chain,
        class_state: ClassState,
        now: Instant,
        ids: IdSource,
        begun: frozenset[RunId] = frozenset(),
    ) -> None:
        self.tree = tree
        self.body = body
        self.spec = body.spec
        self.chain = chain
        self.class_state = class_state
        self.now = now
        self.ids = ids
        self.begun = begun
        """The open steps that have begun."""
        self.runs: list[NewRun] = []
        self.cancels: list[RunId] = []
        self.alerts: list[Alert] = []
        self.wakes: list[RunId] = []
        """Other chains of the class that are to be settled, because the breaker has opened."""
        self.refusal: Refusal | None = None
        """Why the chain was not armed."""

    # -- the beginning

    def scout(self) -> None:
        self._add(SCOUT, depth=0, cause="the run began", due_at=self.now)

    def arm(self, report: Report, cause: str, *, delay: Millis | None = None) -> Refusal | None:
        """Arm the chain and plan its action, `delay` from now or at its usual one. Return why not."""
        slot, deadline = report.slot or DEFAULT_SLOT, read_deadline(report.deadline)
        if deadline is None and report.deadline is not None:
            self.chain.refuse(*deadline_refusal(report.deadline)[:2], self.now)
        due_at = None if delay is None else Instant(self.now + delay)
        refusal = slot_refusal(slot) or self._late_refusal(due_at, deadline)
        refusal = refusal or self.class_state.refusal_to_arm(self.body.class_id, self.spec.limits, slot, self.now)
        if refusal is None:
            refusal = self._budget_refusal()
        if refusal is not None:
            self.refusal = refusal
            return refusal
        self._arm(slot, deadline, report.data, cause)
        scout = self.chain.latest((SCOUT,))
        self.plan(ACTION, depth=1, parent=None if scout is None else scout.key, cause=cause, due_at=due_at)
        return None

    def _arm(self, slot: str, deadline: Instant | None, data: Any, cause: str) -> None:
        chain, now = self.chain, self.now
        deadline, expires = self.deadline_and_expiry(deadline)
        chain.id, chain.slot = chain_id(self.body.class_id, now, slot), slot
        chain.armed_at, chain.deadline, chain.expires_at, chain.data = now, deadline, expires, data
        chain.move(ChainState.ARMED, cause, now)
        self.class_state.arm(chain.id, slot, self.tree.run_id, now)
        self.alerts.append(Alert(AlertKind.CHAIN_ARMED, self.body.class_id, {"chain": chain.id, "cause": cause}))

    def deadline_and_expiry(self, deadline: Instant | None) -> tuple[Instant | None, Instant]:
        """Return the deadline and the expiry of a chain that is armed now."""
        if deadline is None and self.spec.window is not None:
            deadline = Instant(self.now + self.spec.window)
        expires = Instant(self.now + self.spec.limits.lifetime)
        if deadline is not None:
            expires = max(min(expires, Instant(deadline + self.spec.grace)), Instant(self.now + SHORTEST_DELAY))
        return deadline, expires

    def _late_refusal(self, due_at: Instant | None, deadline: Instant | None) -> Refusal | None:
        """Return why the action cannot begin when a request wants it to."""
        _, expires = self.deadline_and_expiry(deadline)
        return None if due_at is None or due_at < expires else expired(due_at, expires)

    def arm_imperative(self, origin: RunId) -> Refusal | None:
        """Arm the chain of a run that asked for a follow-up. The caller creates its first step."""
        refusal = self.class_state.refusal_to_arm(self.body.class_id, self.spec.limits, origin, self.now)
        if refusal is None:
            self._arm(origin, None, None, f"run {origin} asked for a follow-up")
        return refusal

    @property
    def is_over(self) -> bool:
        """Whether the chain is stopped, or has expired."""
        return self.tree.cancel_at is not None or self.tree.is_overdue(self.now)

    def note_begun(self) -> None:
        """Move an armed chain to active if its first step has begun."""
        begun = [step for step in self.chain.open_steps if step.depth > 0 and step.run_id in self.begun]
        if self.chain.state is ChainState.ARMED and begun:
            self.chain.move(ChainState.ACTIVE, f"{begun[0].key} began", self.now)

    # -- creating steps

    def plan(self, stage: str, *, depth: int, parent: str | None, cause: str, due_at: Instant | None = None) -> None:
        """Create a step that follows from the rules. If a limit forbids it, a person must act."""
        if self.chain.escalation is not None or any(step.stage == stage for step in self.chain.open_steps):
            return  # a person has been told, or a request of the step has created it
        if due_at is None:
            due_at = Instant(self.now + self.stage(stage).delay_of(stage))
        refusal = self.refusal_to_spawn(depth, due_at)
        if refusal is None:
            self._add(stage, depth=depth, cause=cause, due_at=due_at, parent=parent)
            return
        self.chain.refuse(refusal.code, refusal.message, self.now, parent or "")
        if refusal.code is RefusalCode.EXPIRED:
            self.close(ChainOutcome.EXPIRED, refusal.message)
            return
        if refusal.code is RefusalCode.BUDGET:
            self._budget_alert(refusal)
        self.escalate(f"{cause}; {refusal.message}", self.chain.step(parent))

    def refusal_to_spawn(self, depth: int, due_at: Instant) -> Refusal | None:
        """Return why the chain may not create a step."""
        chain, limits = self.chain, self.spec.limits
        if self.tree.cancel_at is not None or chain.closing is not None or not chain.is_armed:
            return closed(chain.id, is_closing=chain.is_armed)
        if chain.escalation is not None:
            message = f"chain {chain.id} has escalated: {chain.escalation}"
            return Refusal(RefusalCode.CHAIN_CLOSED, message, "A person decides what follows.")
        if self.class_state.opened is not None and self._is_broken():
            return breaker_refusal(self.body.class_id, self.class_state.opened)
        if chain.expires_at is not None and due_at >= chain.expires_at:
            return expired(due_at, chain.expires_at)
        if depth > limits.max_depth:
            return violation(RefusalCode.MAX_DEPTH, f"depth {depth} is above max_depth = {limits.max_depth}")
        if chain.children >= limits.max_children:
            return violation(RefusalCode.MAX_CHILDREN, f"the chain has {chain.children} steps, which is max_children")
        return self._budget_refusal()

    def rate_refusal(self) -> Refusal | None:
        """Return why a request is one too many. Steps that follow from the rules have the delays of the class."""
        limits, now = self.spec.limits, self.now
        if len(recent(self.chain.spawned, Millis(limits.spawn_window), now)) >= limits.spawns:
            return rate_violation(RefusalCode.SPAWN_RATE, "the chain", limits.spawns, limits.spawn_window)
        if len(recent(self.class_state.spawned, Millis(limits.class_window), now)) >= limits.class_spawns:
            return rate_violation(RefusalCode.CLASS_SPAWN_RATE, "the class", limits.class_spawns, limits.class_window)
        return None

    def _budget_refusal(self) -> Refusal | None:
        return budget_refusal(self.spec, self.class_state, self.chain.tokens, self.chain.usd, self.now)

    def _add(
        self,
        stage: str,
        *,
        depth: int,
        cause: str,
        due_at: Instant,
        parent: str | None = None,
        window: str = "",
        payload: Any = None,
        job: JobSpec | None = None,
    ) -> ChainStep:
        step = ChainStep(
            key=self.chain.next_key(stage),
            stage=stage,
            depth=depth,
            attempt=self.chain.attempt(stage),
            run_id=RunId(self.ids.make(self.now)),
            due_at=due_at,
            cause=cause,
            parent=parent,
            window=window,
        )
        self.chain.steps = [*self.chain.steps, step]
        self.runs.append(step_run(self.tree, self.body, self.chain, step, payload, job))
        return step

    def spawn(
        self,
        stage: str,
        step: ChainStep | None,
        due_at: Instant,
        *,
        window: str = "",
        payload: Any = None,
        job: JobSpec | None = None,
    ) -> ChainStep | Refusal:
        """Create a step that a running step, or the origin of an imperative chain, asks for. `job`: the registered job
        that it runs, if it is no stage."""
        depth = 1 if step is None else step.depth + 1
        refusal = self.refusal_to_spawn(depth, due_at) or self.rate_refusal()
        if refusal is not None:
            self.record_refusal(refusal, step)
            return refusal
        lately = recent(self.chain.spawned, Millis(self.spec.limits.spawn_window), self.now)
        self.chain.spawned = [*lately, self.now]
        self.class_state.spawn(self.spec.limits, self.now)
        parent = None if step is None else step.key
        cause = f"{parent or 'the run'} asked for it"
        about: dict[str, Any] = {"parent": parent, "window": window, "payload": payload, "job": job}
        return self._add(stage, depth=depth, cause=cause, due_at=due_at, **about)

    def record_refusal(self, refusal: Refusal, step: ChainStep | None) -> None:
        """Record a refused request. A violation opens the breaker, which ends the chain."""
        self.chain.refuse(refusal.code, refusal.message, self.now, "" if step is None else step.key)
        if refusal.code is RefusalCode.BUDGET:
            self._budget_alert(refusal)
            self.escalate(refusal.message, step)
        if not refusal.is_violation or self.class_state.breaker(self.now) is BreakerState.OPEN:
            return
        runs = [one.run_id for one in self.chain.steps if one.started_at is not None or one is step]
        cause = f"{refusal.code}: {refusal.message}"
        self._open_breaker(cause, tuple(runs))
        if self.chain.is_armed:
            self.close(ChainOutcome.FAILED, cause)

    def _open_breaker(self, cause: str, runs: tuple[RunId, ...]) -> None:
        self.alerts.append(self.class_state.open_breaker(self.body.class_id, self.spec.breaker, cause, runs, self.now))
        self.wakes += [one.run_id for one in self.class_state.active if one.run_id != self.tree.run_id]

    # -- spending

    def spend(self, step: ChainStep, tokens: int, usd: float) -> None:
        tokens, usd = min(max(tokens, 0), MOST_TOKENS), min(max(usd, 0.0), MOST_USD)
        if tokens or usd:
            step.tokens += tokens
            step.usd += usd
            self.chain.tokens = min(self.chain.tokens + tokens, MOST_TOKENS)
            self.chain.usd = min(self.chain.usd + usd, MOST_USD)
            self.class_state.spend(tokens, usd, self.now)

    def _budget_alert(self, refusal: Refusal) -> None:
        """Raise the alert, once for each chain: the refusal has been recorded."""
        if sum(one.code == refusal.code for one in self.chain.refused) > 1:
            return
        facts = {"chain": self.chain.id, "problem": refusal.message}
        self.alerts.append(Alert(AlertKind.BUDGET_USED, self.body.class_id, facts))

    # -- the end

    def escalate(self, cause: str, step: ChainStep | None) -> None:
        """Alert people once, run the stage for that if there is one, and close."""
        if self.chain.closing is not None or self.chain.escalation is not None or not self.chain.is_armed:
            return
        self.chain.escalation = cause
        facts = {"chain": self.chain.id, "cause": cause, "runs": [one.run_id for one in self.chain.steps[-3:]]}
        self.alerts.append(Alert(AlertKind.CHAIN_ESCALATED, self.body.class_id, facts))
        asked_for = self.chain.latest((ESCALATE,))
        if ESCALATE not in self.spec.stages or (asked_for is not None and asked_for.status is not None):
            self.close(ChainOutcome.ESCALATED, cause)
            return
        self._cancel(cancel_running=False)
        if asked_for is None:
            # The one step that no limit forbids: it is the last one, and a person must learn of the incident.
            depth = 1 if step is None else step.depth + 1
            self._add(ESCALATE, depth=depth, cause=cause, due_at=self.now, parent=None if step is None else step.key)

    def close(self, outcome: ChainOutcome, cause: str, *, cancel_running: bool = False) -> None:
        """Close the chain: cancel steps that have not begun, and end when no step is left.

        A running step may finish, unless `cancel_running`.
        """
        if self.chain.closing is None:
            self.chain.closing = Closing(outcome=outcome, cause=cause)
        self._cancel(cancel_running=cancel_running)

    def _cancel(self, *, cancel_running: bool) -> None:
        created = {run.id for run in self.runs}
        is_escalated = self.chain.escalation is not None
        for step in self.chain.open_steps:
            if is_escalated and step.stage == ESCALATE and not cancel_running:
                continue  # a person must learn of the incident
            if step.run_id in created:
                # Planned in this decision: it is not created at all.
                self.runs = [run for run in self.runs if run.id != step.run_id]
                step.status, step.finished_at = Status.CANCELLED, self.now
            elif cancel_running or step.run_id not in self.begun:
                self.cancels.append(step.run_id)
                step.is_cancelled = True

    def expire(self) -> None:
        self.close(ChainOutcome.EXPIRED, "the chain has expired", cancel_running=True)

    def stop(self) -> None:
        self.close(ChainOutcome.STOPPED, "it was stopped", cancel_running=True)

    def _is_broken(self) -> bool:
        """Whether the breaker is open, and this chain is not the one that is tried after the cooldown."""
        active = self.class_state.find(self.tree.run_id)
        if self.class_state.breaker(self.now) is BreakerState.CLOSED:
            return False
        return active is None or not active.is_probe or self.class_state.breaker(self.now) is BreakerState.OPEN

    def settle(self) -> None:
        """Apply what concerns the chain as a whole, after all steps: the breaker, and the end."""
        chain = self.chain
        is_live = chain.is_armed and chain.closing is None
        if is_live and chain.escalation is None and self._is_broken() and self.class_state.opened is not None:
            self.close(ChainOutcome.BREAKER_OPEN, f"the breaker opened: {self.class_state.opened.cause}")
        if chain.is_armed and chain.closing is None and not chain.open_steps:
            if chain.escalation is None:
                self.close(ChainOutcome.RESOLVED, "no step is left")
            else:
                self.close(ChainOutcome.ESCALATED, chain.escalation)
        if chain.closing is not None and chain.is_armed and not chain.open_steps:
            self._finish(chain.closing)

    def _finish(self, closing: Closing) -> None:
        chain = self.chain
        is_failure = closing.outcome in _FAILURES or (
            closing.outcome is ChainOutcome.EXPIRED and chain.state is ChainState.ACTIVE
        )
        chain.outcome = closing.outcome
        chain.move(ChainState.CLOSED, closing.cause, self.now)
        active = self.class_state.find(self.tree.run_id)
        if active is None:
            return
        was_open = self.class_state.breaker(self.now) is BreakerState.OPEN
        alert = self.class_state.end(
            self.body.class_id,
            self.spec.breaker,
            active,
            closing.outcome,
            is_failure=is_failure,
            cause=closing.cause,
            now=self.now,
        )
        if alert is not None:
            self.alerts.append(alert)
        if not was_open and self.class_state.breaker(self.now) is BreakerState.OPEN:
            self.wakes += [one.run_id for one in self.class_state.active]

    def stage(self, name: str) -> Stage:
        """Return the definition of a stage. Without a monitor of its own, a class monitors with verify."""
        stages: Mapping[str, Stage] = self.spec.stages
        return stages.get(name) or (stages.get(VERIFY) if name == MONITOR else None) or Stage()
