"""What an execution that repeats another one carries along from it.

Steps that are not run again keep their results, and their runs belong to the execution before, which may be forgotten
while the new one is still at work. So what templates and edges can ask of them is written down when it is created.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import msgspec

from foliot.domain.ids import RunId
from foliot.domain.run.payload import decode_payload, encode_payload
from foliot.domain.workflow import template
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.graph import Graph
from foliot.domain.workflow.output import RunOutput, StepOutput
from foliot.domain.workflow.progress import MOST_BLOCKERS, Resolved, StepState, follows
from foliot.domain.workflow.spec import Edge, WorkflowSpec
from foliot.errors import InvalidRun

NO_OUTPUT: Final = RunOutput()


class CarriedOutput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the run of a kept step left behind."""

    exit_code: int | None = None
    output: Any = None


CarriedOutputs = Mapping[str, CarriedOutput]
"""By step."""


def referenced_steps(spec: WorkflowSpec) -> set[str]:
    """Steps of which some template or edge asks more than the result."""
    templates = [template.references((step.payload, step.overlay)) for step in spec.steps]
    named = {found.name for each in templates for _, found in each if found is not None and found.source == "steps"}
    return named | {edge.parent for step in spec.steps for edge in step.after if edge.test is not None}


def outputs_to_carry(
    execution_id: str, found: Mapping[str, StepOutput], before: CarriedOutputs, stored: Collection[RunId]
) -> dict[str, CarriedOutput]:
    """What to carry along of an execution: what its steps left, or what it carries itself.

    `stored` are the runs that are still there; a step whose run is not, and that was not carried, is refused.
    """
    kept = {}
    for name, (_, run_id, run_output) in found.items():
        if run_output != NO_OUTPUT:
            kept[name] = CarriedOutput(exit_code=run_output.exit_code, output=decode_payload(run_output.output))
        elif name in before:
            kept[name] = before[name]
        elif run_id is not None and run_id not in stored:
            raise InvalidRun(
                f'what step "{name}" of execution {execution_id} gave back is no longer stored',
                hint="Name the step, so that it is run again.",
            )
    return kept


def with_carried(found: Mapping[str, StepOutput], kept: CarriedOutputs) -> dict[str, StepOutput]:
    """Return outputs as they are stored, or as they were carried along."""
    return {
        name: known._replace(run_output=_run_output(kept[name]))
        if known.run_output == NO_OUTPUT and name in kept
        else known
        for name, known in found.items()
    }


def carried_outputs(overrides: bytes | None) -> CarriedOutputs:
    """What a run carries along, among what was given for it alone."""
    given = {} if overrides is None else msgspec.json.decode(overrides).get("start", {})
    return msgspec.convert(given.get("carried", {}), dict[str, CarriedOutput])


def _run_output(kept: CarriedOutput) -> RunOutput:
    return RunOutput(exit_code=kept.exit_code, output=encode_payload(kept.output))


def run_again(
    graph: Graph, before: Mapping[str, StepState], *, start: Collection[str] = (), marked: Collection[str] = ()
) -> set[str]:
    """Return the steps of the graph that keep no result when an execution is repeated.

    The graph may be that of a newer version: steps that it has added run, with all that comes after them.
    """
    unresolved = [name for name in graph.parents if name not in before or before[name].result is None]
    return graph.descendants([*start, *marked, *unresolved]).difference(marked)


def lost_steps(old: Graph, new: Graph, before: Mapping[str, StepState], start: Collection[str]) -> list[str]:
    """Return the steps whose results a rerun would keep, but which the new version does not have.

    A step that was skipped is not missed: it left nothing behind.
    """
    again = run_again(old, before, start=start)
    return [
        name
        for name, state in before.items()
        if name not in again and name not in new.parents and state.result is not Result.SKIPPED
    ]


def rerun_states(
    graph: Graph,
    before: Mapping[str, StepState],
    run_outputs: Mapping[str, RunOutput],
    *,
    start: Collection[str] = (),
    marked: Collection[str] = (),
) -> dict[str, StepState]:
    """States of a new execution that repeats a part of another one.

    It begins at the steps in `start`, which run whatever came before them, and after those in `marked`, which count as
    successes. They and what comes after them are open again, and so is what was never resolved. Everything else keeps
    its result and its run; `run_outputs` tell what the runs of kept steps left behind, where an edge asks for it.
    Steps that are not in the graph, because it is that of a newer version, are dropped.
    """
    again = run_again(graph, before, start=start, marked=marked)
    states = {name: _kept(state, graph) for name, state in before.items() if name in graph.parents.keys() - again}
    states |= {name: before[name]._replace(result=Result.SUCCESS, reason="marked") for name in marked}
    kept = {
        name: Resolved(state.result, run_outputs.get(name, RunOutput()))
        for name, state in states.items()
        if state.result
    }
    return {
        name: _reopened(edges, kept, is_forced=name in start) if name in again else states[name]
        for name, edges in graph.parents.items()
    }


def _kept(state: StepState, graph: Graph) -> StepState:
    return state._replace(blockers=tuple(name for name in state.blockers if name in graph.parents))


def _reopened(edges: Iterable[Edge], kept: Mapping[str, Resolved], *, is_forced: bool) -> StepState:
    if is_forced:
        return StepState(0)
    blockers = [edge.parent for edge in edges if edge.parent in kept and not follows(edge, kept[edge.parent])]
    return StepState(sum(edge.parent not in kept for edge in edges), tuple(blockers[:MOST_BLOCKERS]))
