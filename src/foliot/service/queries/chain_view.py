"""Views of chains and of their classes."""

from datetime import datetime
from typing import Any, Final

from msgspec import Struct, convert

from foliot.domain.chain.class_state import BreakerState, read_class
from foliot.domain.chain.spec import ChainSpec, Limits
from foliot.domain.chain.state import ChainOutcome, ChainRecord, ChainState, ChainStep, Move
from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.domain.job.job import Job
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.run.run import BEGUN, Run, Status
from foliot.ports.chains import ChainClass, ChainDetails
from foliot.service.queries.documents import moment

_SPANS: Final = ("lifetime", "spawn_window", "class_window")


class LimitsView(Struct, frozen=True, kw_only=True):
    max_depth: int
    max_children: int
    max_retries: int
    lifetime: float
    """Seconds."""
    max_concurrent: int
    spawns: int
    """Steps that the steps of one chain may ask for within `spawn_window`."""
    spawn_window: float
    """Seconds."""
    class_spawns: int
    class_window: float
    """Seconds."""
    tokens: int | None
    usd: float | None
    daily_tokens: int | None
    daily_usd: float | None


class ClassView(Struct, frozen=True, kw_only=True):
    """A class of chains, and its breaker."""

    id: str
    breaker: BreakerState
    opened_at: datetime | None
    """When the breaker opened."""
    resume_at: datetime | None
    """When the next chain may be armed."""
    cause: str | None
    """Why the breaker opened."""
    run_ids: list[str]
    """The last runs before that."""
    stopped: bool
    """Whether a person has stopped the class."""
    active_chains: list[str]
    """The chains that are not closed."""
    failures: int
    """Failed chains in a row."""
    tokens_today: int
    usd_today: float
    limits: LimitsView | None
    stages: list[str]
    """Empty: the class of a job whose runs start follow-ups."""


class ChainView(Struct, frozen=True, kw_only=True):
    id: str
    class_id: str
    run_id: str
    slot: str
    state: ChainState
    outcome: ChainOutcome | None
    armed_at: datetime
    deadline: datetime | None
    expires_at: datetime
    closed_at: datetime | None
    step_count: int
    """Without the scout."""
    tokens: int
    usd: float


class StateChangeView(Struct, frozen=True, kw_only=True):
    at: datetime
    state: ChainState
    cause: str


class ChainStepView(Struct, frozen=True, kw_only=True):
    key: str
    stage: str
    depth: int
    attempt: int
    run_id: str
    status: str
    due_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cause: str
    """Why it was created."""
    decision: str | None
    reason: str
    tokens: int
    usd: float


class RefusedView(Struct, frozen=True, kw_only=True):
    at: datetime
    code: str
    message: str
    step: str


class ChainPartView(Struct, frozen=True, kw_only=True):
    """What the page of a run says about its chain: the run is the chain, or one of its steps."""

    id: str
    class_id: str
    run_id: str
    state: ChainState
    outcome: ChainOutcome | None
    step: str | None
    """The key of the step that the run is. None: it is the chain."""
    cause: str | None
    """Why the step was created, or why the chain was closed."""
    decision: str | None
    """What the step decided."""


class ChainDetailView(ChainView, frozen=True, kw_only=True):
    """Everything about one chain."""

    cause: str | None
    """Why it was closed, or is being closed."""
    state_changes: list[StateChangeView]
    steps: list[ChainStepView]
    refused_requests: list[RefusedView]
    limits: LimitsView


def view_class(stored: ChainClass, now: Instant) -> ClassView:
    state, spec = read_class(stored.document.body), _spec(stored)
    opened = state.opened
    tokens, usd = state.spent(now)
    return ClassView(
        id=stored.class_id,
        breaker=state.breaker(now),
        opened_at=None if opened is None else to_datetime(opened.at),
        resume_at=None if opened is None else to_datetime(opened.until),
        cause=None if opened is None else opened.cause,
        run_ids=[] if opened is None else [*opened.run_ids],
        stopped=state.is_stopped,
        active_chains=[one.chain_id for one in state.active],
        failures=len(state.failures),
        tokens_today=tokens,
        usd_today=usd,
        limits=None if spec is None else _limits(spec.limits),
        stages=[] if spec is None else [*spec.stages],
    )


def _spec(stored: ChainClass) -> ChainSpec | None:
    """Return the definition of a class; None if it has none, or none that can be read."""
    if not isinstance(stored.job, Job):
        return None
    try:
        return convert(stored.job.spec.spec, ChainSpec, str_keys=True)
    except UNREADABLE:
        return None


def _limits(limits: Limits) -> LimitsView:
    named = {name: getattr(limits, name) for name in LimitsView.__struct_fields__}
    return LimitsView(**{**named, **{name: named[name] / SECOND for name in _SPANS}})


def view_chain(record: ChainRecord) -> ChainView:
    return ChainView(**_facts(record))


def _facts(record: ChainRecord) -> dict[str, Any]:
    return {
        "id": record.chain_id,
        "class_id": record.class_id,
        "run_id": record.run_id,
        "slot": record.slot,
        "state": record.state,
        "outcome": record.outcome,
        "armed_at": to_datetime(record.armed_at),
        "deadline": moment(record.deadline),
        "expires_at": to_datetime(record.expires_at),
        "closed_at": moment(record.closed_at),
        "step_count": record.children,
        "tokens": record.tokens,
        "usd": record.usd,
    }


def view_details(record: ChainRecord, found: ChainDetails) -> ChainDetailView:
    chain = found.chain
    has_begun = any(
        step.run_id in found.steps and found.steps[step.run_id].status in BEGUN
        for step in chain.open_steps
        if step.depth > 0
    )
    facts = _facts(record)
    if chain.state is ChainState.ARMED and has_begun:
        facts["state"] = ChainState.ACTIVE  # saved when the step ends
    return ChainDetailView(
        **facts,
        cause=None if chain.closing is None else chain.closing.cause,
        state_changes=[_state_change(one) for one in chain.moves],
        steps=[_step(step, found) for step in chain.steps],
        refused_requests=[
            RefusedView(at=to_datetime(one.at), code=one.code, message=one.message, step=one.step)
            for one in chain.refused
        ],
        limits=_limits(found.body.spec.limits),
    )


def view_part(run: Run, found: ChainDetails) -> ChainPartView | None:
    """Return the part of a run in its chain. None: no chain was armed."""
    if found.record is None:
        return None
    details = view_details(found.record, found)
    step = next((one for one in details.steps if one.run_id == run.id), None)
    return ChainPartView(
        id=details.id,
        class_id=details.class_id,
        run_id=details.run_id,
        state=details.state,
        outcome=details.outcome,
        step=None if step is None else step.key,
        cause=details.cause if step is None else step.cause,
        decision=None if step is None else _decided(step),
    )


def _decided(step: ChainStepView) -> str | None:
    return step.decision and step.decision + (f": {step.reason}" if step.reason else "")


def _state_change(move: Move) -> StateChangeView:
    return StateChangeView(at=to_datetime(move.at), state=move.state, cause=move.cause)


def _step(step: ChainStep, found: ChainDetails) -> ChainStepView:
    run = found.steps.get(step.run_id)
    status: Status | None = step.status or (None if run is None else run.status)
    return ChainStepView(
        key=step.key,
        stage=step.stage,
        depth=step.depth,
        attempt=step.attempt,
        run_id=step.run_id,
        status="removed" if status is None else status,
        due_at=to_datetime(step.due_at),
        started_at=moment(step.started_at or (None if run is None else run.started_at)),
        finished_at=moment(step.finished_at),
        cause=step.cause,
        decision=step.decision,
        reason=step.reason,
        tokens=step.tokens,
        usd=step.usd,
    )
