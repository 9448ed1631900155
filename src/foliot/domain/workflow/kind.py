"""The workflow kind: trees whose children are the steps of a graph."""

from collections.abc import Mapping

import msgspec

from foliot.domain.ids import IdSource, JobId
from foliot.domain.instant import Instant
from foliot.domain.job.definition import Definition
from foliot.domain.job.job import JobSpec
from foliot.domain.run.payload import decode_payload
from foliot.domain.tree.kind import Loaded, Start, Wanted
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.tree.tree import Notes, Tree
from foliot.domain.workflow.lookup import Lookup, NotLoaded
from foliot.domain.workflow.plan import ExecutionBody, Plan
from foliot.domain.workflow.progress import StepState, begin, first_states
from foliot.domain.workflow.rerun import rerun_states, with_carried
from foliot.domain.workflow.settlement import SettlementBuilder
from foliot.domain.workflow.spec import GRAPH, WorkflowSpec
from foliot.domain.workflow.start import ExecutionStart, read_params
from foliot.errors import InvalidRun, NotFound

_BODY = msgspec.json.Decoder(ExecutionBody)


class WorkflowKind:
    """Implements `domain.tree.kind.TreeKind`."""

    name = GRAPH

    def read_body(self, body: bytes) -> ExecutionBody:
        return _BODY.decode(body)

    def compile(self, definition: WorkflowSpec) -> Plan:
        return Plan.of(definition)

    def source(self, definition: Definition) -> None:
        return None

    def begin(self, start: Start, loaded: Loaded, now: Instant, ids: IdSource) -> Opening | Wanted:
        try:
            return _begin(start, loaded, now, ids)
        except NotLoaded as missing:
            return missing.wanted

    def decide(self, tree: Tree, notes: Notes, loaded: Loaded, now: Instant, ids: IdSource) -> Settlement | Wanted:
        builder = SettlementBuilder(tree, Lookup(tree.run_id, loaded), ids, now)
        try:
            builder.apply_notes(notes.items)
            return builder.settlement(notes.items)
        except NotLoaded as missing:
            return missing.wanted


def _begin(start: Start, loaded: Loaded, now: Instant, ids: IdSource) -> Opening:
    claim = start.claim
    given = ExecutionStart.read(claim.overrides, start.definition.spec)
    plan = _plan(start, given.version, loaded)
    lookup = Lookup(claim.run_id, loaded, steps_of=given.rerun_of)
    body = ExecutionBody(read_params(plan.spec, decode_payload(claim.payload)), _named_jobs(plan, lookup))
    states = _states(plan, given, lookup)
    tree = start.tree(
        version=given.version,
        open=sum(state.result is None for state in states.values()),
        size=len(states),
        body=body,
        definition=plan,
    )
    known = Lookup(claim.run_id, loaded, steps_of=given.rerun_of, known=states)
    builder = SettlementBuilder(tree, known, ids, now)
    builder.resolve(builder.apply_advance(begin(plan.graph, states)))
    return Opening(
        claim,
        tree._replace(open=builder.open),
        msgspec.json.encode(body),
        tuple(builder.runs.values()),
        {**states, **builder.changed},
        builder.ended(),
    )


def _plan(start: Start, version: int, loaded: Loaded) -> Plan:
    key = (start.claim.job_id, version, start.definition.revision)
    if key not in loaded.definitions:
        raise NotLoaded(Wanted(run_id=start.claim.run_id, definition=key))
    plan: Plan | None = loaded.definitions[key]
    if plan is None:
        raise NotFound("workflow", f"{start.claim.job_id} version {version}")
    return plan


def _named_jobs(plan: Plan, lookup: Lookup) -> Mapping[JobId, JobSpec]:
    named = {step.job for step in plan.steps.values() if step.job is not None}
    return lookup.jobs(named)


def _states(plan: Plan, given: ExecutionStart, lookup: Lookup) -> Mapping[str, StepState]:
    """Return the first states of all steps. In a rerun, only the steps that run again are open."""
    if given.rerun_of is None:
        return first_states(plan.graph)
    before = lookup.stored_states()
    is_same_version = given.rerun_version in (None, given.version)
    if not before or (is_same_version and before.keys() != plan.steps.keys()):
        raise InvalidRun(
            f"execution {given.rerun_of}, whose results were to be kept, is no longer stored",
            hint="Start the workflow again, or keep executions longer.",
        )
    tested = before.keys() & {
        edge.parent for edges in plan.graph.parents.values() for edge in edges if edge.test is not None
    }
    found = with_carried(lookup.stored_outputs(tested), given.carried) if tested else {}
    run_outputs = {name: output.run_output for name, output in found.items()}
    return rerun_states(plan.graph, before, run_outputs, start=given.steps, marked=given.marked)
