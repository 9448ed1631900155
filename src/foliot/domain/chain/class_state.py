"""What all chains of a class share: which are active, the breaker, the steps of the last minute, the spending of a day.

It is stored as one document per class and is compared and set: a decision that was based on an older version is made
again. So two scouts cannot both take the last place, and two failures cannot both be the second.
"""

from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct

from foliot.domain.alert import Alert, AlertKind
from foliot.domain.chain.refusal import Refusal, RefusalCode
from foliot.domain.chain.spec import BreakerRule, ChainSpec, Limits
from foliot.domain.chain.state import ChainOutcome
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant, Millis, to_datetime, to_iso

JOB_CLASS: Final = "job:"
"""What the names of classes of follow-ups begin with."""
_KEPT_RUNS: Final = 3
"""How many runs an alert names."""


class ActiveChain(Struct, frozen=True, kw_only=True, omit_defaults=True):
    chain_id: str
    slot: str
    run_id: RunId
    is_probe: bool = False
    """Armed after a cooldown: its end decides whether the breaker closes."""


class ChainFailure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    at: Instant
    chain_id: str
    run_id: RunId
    signature: str


class Opened(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The breaker is open until `until`; then one chain may be armed."""

    at: Instant
    until: Instant
    cause: str
    run_ids: tuple[RunId, ...] = ()


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class ClassState(Struct, kw_only=True, omit_defaults=True):
    """The stored document. `is_stopped`: a person has stopped the class."""

    active: list[ActiveChain] = []
    failures: list[ChainFailure] = []
    """Failed chains in a row, the latest ones."""
    opened: Opened | None = None
    is_stopped: bool = False
    spawned: list[Instant] = []
    day: str = ""
    tokens: int = 0
    usd: float = 0.0

    def encode(self) -> bytes:
        return msgspec.json.encode(self)

    # -- the breaker

    def breaker(self, now: Instant) -> BreakerState:
        if self.opened is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if now < self.opened.until else BreakerState.HALF_OPEN

    def open_breaker(
        self, class_id: str, rule: BreakerRule, cause: str, run_ids: tuple[RunId, ...], now: Instant
    ) -> Alert:
        until = Instant(now + rule.cooldown)
        self.opened = Opened(at=now, until=until, cause=cause, run_ids=run_ids[-_KEPT_RUNS:])
        self.failures = []
        facts = {"signature": cause, "runs": list(self.opened.run_ids), "resume_at": to_iso(until)}
        return Alert(AlertKind.BREAKER_OPENED, class_id, facts)

    def end(
        self,
        class_id: str,
        rule: BreakerRule,
        ended: ActiveChain,
        outcome: ChainOutcome,
        *,
        is_failure: bool,
        cause: str,
        now: Instant,
    ) -> Alert | None:
        """Remove a closed chain and count it. Return the alert if the breaker opens or closes."""
        self.active = [one for one in self.active if one.run_id != ended.run_id]
        if outcome is ChainOutcome.RESOLVED:
            self.failures = []
            if ended.is_probe and self.breaker(now) is BreakerState.HALF_OPEN:
                self.opened = None
                return Alert(AlertKind.BREAKER_CLOSED, class_id, {"chain": ended.chain_id})
            return None
        if not is_failure or self.breaker(now) is BreakerState.OPEN:
            return None
        failure = ChainFailure(at=now, chain_id=ended.chain_id, run_id=ended.run_id, signature=f"{outcome}: {cause}")
        self.failures = [*self.failures, failure][-rule.failures :]
        runs = tuple(one.run_id for one in self.failures)
        if ended.is_probe and self.breaker(now) is BreakerState.HALF_OPEN:
            return self.open_breaker(class_id, rule, failure.signature, runs, now)
        is_due = len(self.failures) == rule.failures and now - self.failures[0].at <= rule.window
        return self.open_breaker(class_id, rule, failure.signature, runs, now) if is_due else None

    # -- arming

    def refusal_to_arm(self, class_id: str, limits: Limits, slot: str, now: Instant) -> Refusal | None:
        same = next((one for one in self.active if one.slot == slot), None)
        if same is not None:
            return Refusal(
                RefusalCode.DUPLICATE, f"chain {same.chain_id} is not closed yet", "It handles this incident."
            )
        if self.is_stopped:
            hint = f"Start it again with: foliot chains resume {class_id}"
            return Refusal(RefusalCode.CLASS_STOPPED, f"the class {class_id} is stopped", hint)
        breaker = self.breaker(now)
        if self.opened is not None and breaker is BreakerState.OPEN:
            return breaker_refusal(class_id, self.opened)
        if breaker is BreakerState.HALF_OPEN and any(one.is_probe for one in self.active):
            hint = "It must be resolved first. Then the breaker closes."
            return Refusal(
                RefusalCode.BREAKER_HALF_OPEN, f"one chain of {class_id} is being tried after the cooldown", hint
            )
        if len(self.active) >= limits.max_concurrent:
            hint = "Wait until one is closed, or raise max_concurrent of the class."
            message = f"{len(self.active)} chains of {class_id} are active, which is max_concurrent"
            return Refusal(RefusalCode.MAX_CONCURRENT, message, hint)
        return None

    def arm(self, chain_id: str, slot: str, run_id: RunId, now: Instant) -> None:
        is_probe = self.breaker(now) is BreakerState.HALF_OPEN
        self.active = [*self.active, ActiveChain(chain_id=chain_id, slot=slot, run_id=run_id, is_probe=is_probe)]

    def find(self, run_id: RunId) -> ActiveChain | None:
        return next((one for one in self.active if one.run_id == run_id), None)

    # -- rates and budgets

    def spawn(self, limits: Limits, now: Instant) -> None:
        self.spawned = [*recent(self.spawned, Millis(limits.class_window), now), now]

    def spend(self, tokens: int, usd: float, now: Instant) -> None:
        day = f"{to_datetime(now):%Y-%m-%d}"
        if day != self.day:
            self.day, self.tokens, self.usd = day, 0, 0.0
        self.tokens += tokens
        self.usd += usd

    def spent(self, now: Instant) -> tuple[int, float]:
        """Return tokens and dollars of today."""
        return (self.tokens, self.usd) if self.day == f"{to_datetime(now):%Y-%m-%d}" else (0, 0.0)


_STATE: Final = msgspec.json.Decoder(ClassState)


def read_class(body: bytes | None) -> ClassState:
    return ClassState() if body is None else _STATE.decode(body)


def class_key(class_id: str) -> str:
    """Return the key of the state of a class."""
    return f"chain:{class_id}"


def job_class(job_id: str) -> str:
    """Return the class of the chains that runs of a job start by themselves, so that one job never blocks another."""
    return f"{JOB_CLASS}{job_id}"


def recent(moments: list[Instant], window: Millis, now: Instant) -> list[Instant]:
    return [moment for moment in moments if now - moment < window]


def breaker_refusal(class_id: str, opened: Opened) -> Refusal:
    message = f"the breaker of {class_id} is open until {to_iso(opened.until)}: {opened.cause}"
    hint = f"Wait until then, or close it with: foliot chains reset {class_id} --reason TEXT"
    return Refusal(RefusalCode.BREAKER_OPEN, message, hint)


def budget_refusal(spec: ChainSpec, state: ClassState, tokens: int, usd: float, now: Instant) -> Refusal | None:
    """Return why a chain that has spent this much may not create another step."""
    limits = spec.limits
    today = state.spent(now)
    used: tuple[tuple[str, float, float | None], ...] = (
        ("tokens", tokens, limits.tokens),
        ("usd", usd, limits.usd),
        ("daily_tokens", today[0], limits.daily_tokens),
        ("daily_usd", today[1], limits.daily_usd),
    )
    for name, spent, budget in used:
        if budget is not None and spent >= budget:
            hint = f"Raise {name} of the class if the steps need more."
            return Refusal(RefusalCode.BUDGET, f"the budget {name} = {budget:g} is used up: {spent:g}", hint)
    return None
