"""The chain kind: a tree whose children are the steps of a chain."""

from typing import Any, Final

import msgspec
from msgspec import convert

from foliot.domain.chain.class_state import ClassState, class_key, read_class
from foliot.domain.chain.decision import Report
from foliot.domain.chain.flow import Flow
from foliot.domain.chain.refusal import Refusal, RefusalCode
from foliot.domain.chain.spec import CHAIN, MONITOR, SCOUT, VERIFY, ChainSpec
from foliot.domain.chain.state import Chain, ChainOutcome, ChainRecord, ChainState, read_chain
from foliot.domain.chain.step import ChainBody, stage_job, stage_spec
from foliot.domain.fanout.source import ItemSource
from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.job.definition import Definition
from foliot.domain.job.job import JobSpec
from foliot.domain.run.outcome import Reason
from foliot.domain.run.payload import UNREADABLE, decode_payload
from foliot.domain.run.run import Ended, Status
from foliot.domain.tree.kind import Loaded, SharedDocument, Start, Wanted
from foliot.domain.tree.settlement import Effects, Opening, Settlement, SharedChange, note_ids
from foliot.domain.tree.tree import Notes, Tree
from foliot.errors import InvalidRun, NotFound, RowUnreadable

_BODY: Final = msgspec.json.Decoder(ChainBody)
_STATUSES: Final = {
    ChainOutcome.RESOLVED: (Status.SUCCESS, None),
    ChainOutcome.ESCALATED: (Status.FAILED, Reason.CHAIN_ESCALATED),
    ChainOutcome.FAILED: (Status.FAILED, Reason.CHAIN_FAILED),
    ChainOutcome.EXPIRED: (Status.TIMEOUT, Reason.CHAIN_EXPIRED),
    ChainOutcome.STOPPED: (Status.CANCELLED, Reason.CANCELLED),
    ChainOutcome.BREAKER_OPEN: (Status.FAILED, Reason.BREAKER_OPEN),
}


class ChainKind:
    """Implements `domain.tree.kind.TreeKind`."""

    name = CHAIN

    def read_body(self, body: bytes) -> ChainBody:
        return _BODY.decode(body)

    def compile(self, definition: Any) -> Any:
        raise InvalidRun("chains have no versions", hint="The body of a chain holds its definition.")

    def source(self, definition: Definition) -> ItemSource | None:
        return None

    def begin(self, start: Start, loaded: Loaded, now: Instant, ids: IdSource) -> Opening | Wanted:
        spec = convert(start.definition.spec, ChainSpec, str_keys=True)
        named = frozenset(JobId(stage.job) for stage in spec.stages.values() if stage.job is not None)
        class_id = start.claim.job_id
        if loaded.shared is None or named - loaded.jobs.keys():
            return Wanted(run_id=start.claim.run_id, jobs=named, shared=class_key(class_id))
        body = _body(start, spec, loaded)
        tree = start.tree(version=0, open=0, body=body)
        flow = Flow(tree, body, Chain(), read_class(loaded.shared.body), now, ids)
        if SCOUT in spec.stages:
            flow.scout()
        else:
            flow.arm(_report(body.payload), "the run began")
        settlement = settlement_of(flow, loaded.shared)
        return Opening(
            start.claim,
            settlement.tree,
            msgspec.json.encode(body),
            settlement.runs,
            ended=settlement.ended,
            effects=settlement.effects,
        )

    def decide(self, tree: Tree, notes: Notes, loaded: Loaded, now: Instant, ids: IdSource) -> Settlement | Wanted:
        body: ChainBody = tree.body
        chain = _chain(tree)
        ended = frozenset(note.child_key for note in notes.ended if note.child_key is not None)
        running = frozenset(step.key for step in chain.open_steps) - ended
        if loaded.shared is None or ended - loaded.ends.keys() or running - loaded.children.keys():
            return Wanted(run_id=tree.run_id, ends=ended, children=running, shared=class_key(body.class_id))
        begun = frozenset(child.run_id for child in loaded.children.values() if child.has_started)
        flow = Flow(tree, body, chain, read_class(loaded.shared.body), now, ids, begun)
        for note in notes.ended:
            step = chain.step(note.child_key)
            if step is not None and step.status is None:
                flow.end_step(step, loaded.ends[step.key])
        flow.note_begun()
        if tree.cancel_at is not None:
            flow.stop()
        elif tree.is_overdue(now):
            flow.expire()
        return settlement_of(flow, loaded.shared)._replace(notes=note_ids(notes.items))


def settlement_of(flow: Flow, shared: SharedDocument) -> Settlement:
    """Return what the flow has collected, ready to be saved."""
    flow.settle()
    chain, tree = flow.chain, flow.tree
    after = tree._replace(
        open=len(chain.open_steps),
        progress=chain.encode(),
        deadline=tree.deadline if chain.expires_at is None else chain.expires_at,
        is_ending=tree.is_ending or flow.is_over,
    )
    document = flow.class_state.encode()
    change = SharedChange(class_key(flow.body.class_id), shared.version, document)
    is_changed = document != (shared.body or ClassState().encode())
    effects = Effects(change if is_changed else None, record_of(flow), tuple(flow.alerts), tuple(flow.wakes))
    has_ended = not chain.open_steps
    return Settlement(
        after, (), flow.runs, cancels=flow.cancels, ended=_ended(flow) if has_ended else None, effects=effects
    )


def record_of(flow: Flow) -> ChainRecord | None:
    chain = flow.chain
    if chain.armed_at is None or chain.expires_at is None:
        return None
    return ChainRecord(
        run_id=flow.tree.run_id,
        chain_id=chain.id,
        class_id=flow.body.class_id,
        slot=chain.slot,
        state=chain.state,
        outcome=chain.outcome,
        armed_at=chain.armed_at,
        deadline=chain.deadline,
        expires_at=chain.expires_at,
        closed_at=flow.now if chain.state is ChainState.CLOSED else None,
        children=chain.children,
        tokens=chain.tokens,
        usd=chain.usd,
    )


def _ended(flow: Flow) -> Ended:
    """Return how the run of a chain without open steps ends."""
    chain = flow.chain
    outcome = chain.outcome or _unarmed(flow.refusal)
    summary = msgspec.json.encode({"chain": chain.id or None, "outcome": outcome, "step_count": chain.children})
    if chain.outcome is not None:
        status, reason = _STATUSES[chain.outcome]
        cause = "" if chain.closing is None else chain.closing.cause
        return Ended(status, reason, cause if reason is not None else None, output=summary)
    if flow.tree.cancel_at is not None:
        return Ended(Status.CANCELLED, Reason.CANCELLED, output=summary)
    if chain.closing is not None:
        return Ended(Status.TIMEOUT, Reason.TIMEOUT, "the scout took longer than the timeout", output=summary)
    if flow.refusal is None:
        return Ended(Status.SUCCESS, output=summary)
    if flow.refusal.code is RefusalCode.SCOUT_FAILED:
        return Ended(Status.FAILED, Reason.CHAIN_FAILED, flow.refusal.message, output=summary)
    return Ended(Status.SKIPPED, Reason.CHAIN_REFUSED, _words(flow.refusal), output=summary)


def _unarmed(refusal: Refusal | None) -> str:
    """Return the outcome of a run that armed no chain."""
    if refusal is None:
        return "quiet"
    return "failed" if refusal.code is RefusalCode.SCOUT_FAILED else "refused"


def _words(refusal: Refusal) -> str:
    return f"{refusal.message}. {refusal.hint}"


def _body(start: Start, spec: ChainSpec, loaded: Loaded) -> ChainBody:
    class_id = start.claim.job_id
    jobs: dict[JobId, JobSpec] = {}
    stage_jobs: dict[str, JobId] = {}
    for name, stage in spec.stages.items():
        registered = None
        if stage.job is not None:
            registered = loaded.jobs[JobId(stage.job)]
            if registered is None:
                raise NotFound("job", stage.job)
        job_id = stage_job(class_id, name, stage)
        sharing = {other: one for other, one in spec.stages.items() if stage_job(class_id, other, one) == job_id}
        jobs[job_id] = stage_spec(sharing, registered)
        stage_jobs[name] = job_id
    if MONITOR not in stage_jobs and VERIFY in stage_jobs:
        stage_jobs[MONITOR] = stage_jobs[VERIFY]
    payload = decode_payload(start.claim.payload)
    return ChainBody(class_id=class_id, spec=spec, jobs=jobs, stage_jobs=stage_jobs, payload=payload)


def _report(payload: Any) -> Report:
    """Return slot, deadline and data of a chain that has no scout, from the payload of its run."""
    try:
        return convert(payload if isinstance(payload, dict) else {}, Report)
    except UNREADABLE as cause:
        raise InvalidRun(f"the payload does not fit a chain: {cause}", hint='Use {"slot": "lot-42"}.') from None


def _chain(tree: Tree) -> Chain:
    try:
        return read_chain(tree.progress)
    except UNREADABLE as cause:
        raise RowUnreadable("chain", tree.run_id, cause) from cause


def imperative_tree(run_id: RunId, job_id: JobId, now: Instant) -> Tree:
    """Return the tree of a chain that a run starts by itself. It is opened at once, without a claim."""
    return Tree(
        run_id=run_id,
        kind=CHAIN,
        job_id=JobId(f"{job_id}.chain"),
        version=0,
        state=0,
        open=0,
        opened_at=now,
        root_id=run_id,
    )


def imperative_flow(
    run_id: RunId, job_id: JobId, origin: RunId, class_state: ClassState, class_id: str, now: Instant, ids: IdSource
) -> Flow:
    body = ChainBody(class_id=class_id, spec=ChainSpec(), jobs={}, stage_jobs={}, origin=origin)
    return Flow(imperative_tree(run_id, job_id, now)._replace(body=body), body, Chain(), class_state, now, ids)
