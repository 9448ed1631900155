"""Answers what running steps ask of their chains.

A request names nothing but what is wanted. Which chain it concerns, and at which depth, follows from the lease of the
run that asks. Whatever else a request claims is checked against that: a false claim is a violation.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from foliot.domain.alert import AlertKind
from foliot.domain.chain.class_state import ClassState, class_key, job_class, read_class
from foliot.domain.chain.decision import POSSIBLE, Decision, Report, read_deadline
from foliot.domain.chain.flow import MOST_REASON, Flow
from foliot.domain.chain.kind import imperative_flow, settlement_of
from foliot.domain.chain.message import ChainRequest, Decide, ReadStatus, Spawn, Spend, claim_name
from foliot.domain.chain.refusal import Refusal, RefusalCode, deadline_refusal
from foliot.domain.chain.spec import ACTION, LONGEST_DELAY, SCOUT, SHORTEST_DELAY
from foliot.domain.chain.state import Chain, ChainStep, read_chain
from foliot.domain.chain.step import ChainBody, metadata
from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.instant import Instant, to_iso
from foliot.domain.job.job import JobSpec
from foliot.domain.run.payload import encode_payload
from foliot.domain.tree.kind import SharedDocument
from foliot.domain.tree.settlement import Effects, Settlement, SharedChange
from foliot.domain.tree.tree import Tree
from foliot.errors import InvalidRun

Facts = Mapping[str, Any]
_LONGEST_KEY: Final = 200
_MOST_NAMED: Final = 5
_UNKNOWN: Final = object()


class Asker(NamedTuple):
    """The run that asks, as its lease proves."""

    run_id: RunId
    job_id: JobId
    child_key: str | None
    """The key of the step of the chain that it is, or is a part of. None: it belongs to no chain."""
    is_part: bool = False
    """It is not the step itself, but runs inside of it: a step of its workflow, or an item of its fanout."""


class Answered(NamedTuple):
    """The answer, and what to save. A refusal may have consequences too."""

    answer: Facts
    """What the caller gets: facts, or `code`, `error` and `hint`."""
    settlement: Settlement | None = None
    is_new: bool = False
    """The settlement is of a chain that does not exist yet: its tree and its body are to be stored."""
    effects: Effects | None = None
    """What a refused request changes, if there is no chain: it may open the breaker."""


def class_of(asker: Asker, body: ChainBody | None) -> str:
    """Return the class whose document the answer needs."""
    return job_class(asker.job_id) if body is None else body.class_id


def answer(
    request: ChainRequest,
    asker: Asker,
    tree: Tree | None,
    shared: SharedDocument,
    now: Instant,
    ids: IdSource,
    *,
    begun: frozenset[RunId],
    job: JobSpec | None = None,
) -> Answered:
    """Answer a request. `tree` is the chain that the run belongs to, or has started, with its body; None: none.

    `begun`: the open steps that have begun, with the run that asks. `job`: the registered job that a follow-up names.
    """
    class_state = read_class(shared.body)
    if tree is None and asker.child_key is not None:
        return Answered(
            _document(Refusal(RefusalCode.CHAIN_CLOSED, "the chain is closed", "A new incident needs a new chain."))
        )
    if tree is None:
        return _answer_first(request, asker, class_state, shared, now, ids, job)
    chain: Chain = read_chain(tree.progress)
    flow = Flow(tree, tree.body, chain, class_state, now, ids, begun)
    flow.note_begun()
    step = chain.step(asker.child_key)
    recorded = chain.refused
    refusal = _not_of_a_part(request, step) if asker.is_part and step is not None else None
    answered = refusal or _answer(request, flow, step, job)
    if isinstance(answered, Refusal) and chain.refused is recorded:
        chain.refuse(answered.code, answered.message, now, asker.child_key or "")
    if isinstance(request, ReadStatus):
        return Answered(_document(answered))
    return Answered(_document(answered), settlement_of(flow, shared))


def _answer_first(
    request: ChainRequest,
    asker: Asker,
    class_state: ClassState,
    shared: SharedDocument,
    now: Instant,
    ids: IdSource,
    job: JobSpec | None,
) -> Answered:
    """Answer a run that belongs to no chain. A follow-up starts a chain of the class of its job."""
    if not isinstance(request, Spawn):
        hint = "Only steps of a chain can use it. Other runs can spawn a job as a follow-up."
        return Answered(_document(Refusal(RefusalCode.NO_CHAIN, "this run belongs to no chain", hint)))
    flow = imperative_flow(
        RunId(ids.make(now)), asker.job_id, asker.run_id, class_state, job_class(asker.job_id), now, ids
    )
    refusal = flow.arm_imperative(asker.run_id)
    if refusal is not None:
        return Answered(_document(refusal))
    answered = _answer(request, flow, None, job)
    if isinstance(answered, Refusal):
        return Answered(_document(answered), effects=_effects_without_chain(flow, shared))
    return Answered(answered, settlement_of(flow, shared), is_new=True)


def _effects_without_chain(flow: Flow, shared: SharedDocument) -> Effects | None:
    """Return what a refused first follow-up changes: nothing, unless it has opened the breaker."""
    if not flow.alerts or flow.class_state.opened is None:
        return None
    flow.class_state.active = [one for one in flow.class_state.active if one.run_id != flow.tree.run_id]
    opened = [alert for alert in flow.alerts if alert.kind == AlertKind.BREAKER_OPENED]
    change = SharedChange(class_key(flow.body.class_id), shared.version, flow.class_state.encode())
    return Effects(change, alerts=opened, wakes=flow.wakes) if opened else None


def _answer(request: ChainRequest, flow: Flow, step: ChainStep | None, job: JobSpec | None) -> Facts | Refusal:
    forged = _forged(request, flow, step)
    if forged is not None:
        flow.record_refusal(forged, step)
        return forged
    match request:
        case Spawn():
            return _spawn(request, flow, step, job)
        case Decide():
            return _decide(request, flow, step)
        case Spend(tokens=tokens, usd=usd):
            return _spend(flow, step, tokens, usd)
        case ReadStatus():
            return _status(flow, step)


def _not_of_a_part(request: ChainRequest, step: ChainStep) -> Refusal | None:
    """Refuse a decision of a run inside of a step: of several, each could decide something else."""
    if not isinstance(request, Decide):
        return None
    message = f"this run is a part of {step.key}, and only the step itself decides"
    hint = "Let the run fail, or print what it found: the step decides by its own end."
    return Refusal(RefusalCode.DECISION_NOT_ALLOWED, message, hint)


def _forged(request: ChainRequest, flow: Flow, step: ChainStep | None) -> Refusal | None:
    claims = request.claims if isinstance(request, Spawn | Decide) else {}
    if not claims:
        return None
    known = {} if step is None else metadata(flow.body, flow.chain, step)
    truth = {claim_name(name): value for name, value in known.items()}
    false = sorted(name for name, value in claims.items() if truth.get(claim_name(name), _UNKNOWN) != value)
    if not false:
        return None
    named = ", ".join(ascii(name[:32]) for name in false[:_MOST_NAMED])
    message = f"the request claims {named}, which the scheduler alone decides"
    return Refusal(
        RefusalCode.FORGED, message, "Leave it out: the lease of the run says what it is.", is_violation=True
    )


def _spawn(request: Spawn, flow: Flow, step: ChainStep | None, job: JobSpec | None) -> Facts | Refusal:
    stages = flow.spec.stages
    unfit = _unfit(request)
    if unfit is not None:
        return unfit
    if request.delay is not None and request.delay < SHORTEST_DELAY:
        return Refusal(RefusalCode.DELAY_TOO_SHORT, "the delay is below 1 s", "Use a delay of 1 s or more.")
    if request.delay is not None and request.delay > LONGEST_DELAY:
        return Refusal(RefusalCode.EXPIRED, "the chain expires before the step would begin", "Use a shorter delay.")
    if stages and (request.name not in stages or request.name == SCOUT):
        known = ", ".join(sorted(stages.keys() - {SCOUT}))
        return Refusal(RefusalCode.STAGE_NOT_FOUND, f"{request.name[:64]!a} is not a stage", f"Use one of: {known}.")
    if not stages and job is None:
        return Refusal(RefusalCode.JOB_NOT_FOUND, f"{request.name[:64]!a} is not a job", "List them with: foliot jobs")
    if step is not None and step.stage == SCOUT:
        return _trigger(request, flow, step)
    stage, window = request.name, request.dedupe_key
    same = next((one for one in flow.chain.open_steps if (one.stage, one.window) == (stage, window)), None)
    if same is not None:
        return {"run_id": same.run_id, "step": same.key, "due_at": to_iso(same.due_at), "is_new": False}
    delay = request.delay
    if delay is None:
        delay = max(flow.stage(request.name).delay_of(request.name), SHORTEST_DELAY)
    created = flow.spawn(stage, step, Instant(flow.now + delay), window=window, payload=request.payload, job=job)
    if isinstance(created, Refusal):
        return created
    return {"run_id": created.run_id, "step": created.key, "due_at": to_iso(created.due_at), "is_new": True}


def _unfit(request: Spawn) -> Refusal | None:
    """Return why a request cannot be read or stored."""
    if request.deadline is not None and read_deadline(request.deadline) is None:
        return deadline_refusal(request.deadline)
    if len(request.dedupe_key) > _LONGEST_KEY:
        return Refusal(
            RefusalCode.KEY_TOO_LONG,
            f"the dedupe key has {len(request.dedupe_key)} characters",
            f"Use at most {_LONGEST_KEY}.",
        )
    try:
        encode_payload(request.payload)
    except InvalidRun as error:
        return Refusal(RefusalCode.INVALID_PAYLOAD, error.message, error.hint)
    return None


def _trigger(request: Spawn, flow: Flow, step: ChainStep) -> Facts | Refusal:
    """A scout asks for the action: it triggers."""
    if request.name != ACTION:
        return Refusal(RefusalCode.STAGE_NOT_ALLOWED, "a scout can only start the action", "Spawn the stage action.")
    if step.has_decided and not flow.chain.is_armed:
        return _already_decided(step)
    if not flow.chain.is_armed:
        report = Report(slot=request.slot, deadline=request.deadline, data=request.payload)
        refusal = flow.arm(report, f"{step.key} asked for it", delay=request.delay)
        if refusal is not None:
            return refusal
        step.has_decided, step.decision = True, Decision.TRIGGER
    action = flow.chain.latest((ACTION,))
    if action is None:
        return flow.refusal or Refusal(RefusalCode.CHAIN_CLOSED, "the chain is closed", "Look at: foliot chains")
    is_new = any(run.id == action.run_id for run in flow.runs)
    return {
        "chain_id": flow.chain.id,
        "run_id": action.run_id,
        "step": action.key,
        "due_at": to_iso(action.due_at),
        "is_new": is_new,
    }


def _decide(request: Decide, flow: Flow, step: ChainStep | None) -> Facts | Refusal:
    if step is None:
        return Refusal(RefusalCode.NO_CHAIN, "this run is no step of the chain", "Only its steps decide.")
    if step.has_decided:
        return _already_decided(step)
    possible = POSSIBLE.get(step.stage, POSSIBLE[""])
    if request.decision not in possible:
        hint = f"It can decide: {', '.join(sorted(possible))}."
        return Refusal(
            RefusalCode.DECISION_NOT_ALLOWED, f"a step of the stage {step.stage} cannot {request.decision}", hint
        )
    step.decision, step.has_decided, step.reason = request.decision, True, request.reason[:MOST_REASON]
    return {"decision": step.decision, "takes_effect": "when the step ends"}


def _spend(flow: Flow, step: ChainStep | None, tokens: int, usd: float) -> Facts | Refusal:
    if step is None:
        return Refusal(RefusalCode.NO_CHAIN, "this run is no step of the chain", "Only its steps spend.")
    if tokens < 0 or usd < 0 or usd != usd or usd == float("inf"):
        return Refusal(RefusalCode.INVALID_SPENDING, "tokens and usd must be 0 or more", "Report what was spent.")
    flow.spend(step, tokens, usd)
    return {"tokens": flow.chain.tokens, "usd": flow.chain.usd}


def _status(flow: Flow, step: ChainStep | None) -> Facts:
    chain, limits = flow.chain, flow.spec.limits
    about = {} if step is None else metadata(flow.body, chain, step)
    return {
        **about,
        "state": chain.state,
        "step_count": chain.children,
        "steps_left": max(limits.max_children - chain.children, 0),
        "tokens": chain.tokens,
        "usd": chain.usd,
        "breaker": flow.class_state.breaker(flow.now),
    }


def _already_decided(step: ChainStep) -> Refusal:
    message = f"{step.key} has decided {step.decision} already"
    return Refusal(RefusalCode.ALREADY_DECIDED, message, "A step decides once.")


def _document(answered: Facts | Refusal) -> Facts:
    """Return what the caller gets."""
    if isinstance(answered, Refusal):
        return {"code": answered.code.value, "error": answered.message, "hint": answered.hint}
    return answered
