"""Reruns: an execution that repeats a part of another one.

Steps that are not run again keep their results. Their runs belong to the earlier execution, which retention may remove
while the rerun is in progress. So the outputs that templates and edges use are copied when the rerun is created.
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
    """The output of a kept step, stored with the rerun."""

    exit_code: int | None = None
    output: Any = None


CarriedOutputs = Mapping[str, CarriedOutput]
"""By name of the step."""


def referenced_steps(spec: WorkflowSpec) -> set[str]:
    """Return the steps whose output a template or an edge uses."""
    templates = [template.references((step.payload, step.overlay)) for step in spec.steps]
    named = {found.name for each in templates for _, found in each if found is not None and found.source == "steps"}
    return named | {edge.parent for step in spec.steps for edge in step.after if edge.test is not None}


def outputs_to_carry(
    execution_id: str, found: Mapping[str, StepOutput], before: CarriedOutputs, stored: Collection[RunId]
) -> dict[str, CarriedOutput]:
    """Return the outputs to carry from an execution: those of its steps, else those that it carries itself.

    `stored` are the runs that still exist. Raise InvalidRun for an output that is neither stored nor carried.
    """
    carried = {}
    for name, (_, run_id, run_output) in found.items():
        if run_output != NO_OUTPUT:
            carried[name] = CarriedOutput(exit_code=run_output.exit_code, output=decode_payload(run_output.output))
        elif name in before:
            carried[name] = before[name]
        elif run_id is not None and run_id not in stored:
            raise InvalidRun(
                f'the output of step "{name}" of execution {execution_id} is no longer stored',
                hint="Name the step, so that it is run again.",
            )
    return carried


def with_carried(found: Mapping[str, StepOutput], carried: CarriedOutputs) -> dict[str, StepOutput]:
    """Return the stored outputs, with carried ones where none is stored."""
    return {
        name: known._replace(run_output=_run_output(carried[name]))
        if known.run_output == NO_OUTPUT and name in carried
        else known
        for name, known in found.items()
    }


def carried_outputs(overrides: bytes | None) -> CarriedOutputs:
    """Return the carried outputs among the overrides of a run."""
    given = {} if overrides is None else msgspec.json.decode(overrides).get("start", {})
    return msgspec.convert(given.get("carried", {}), dict[str, CarriedOutput])


def _run_output(carried: CarriedOutput) -> RunOutput:
    return RunOutput(exit_code=carried.exit_code, output=encode_payload(carried.output))


def run_again(
    graph: Graph, before: Mapping[str, StepState], *, start: Collection[str] = (), marked: Collection[str] = ()
) -> set[str]:
    """Return the steps that do not keep their results in a rerun.

    The graph may be that of a newer version: steps that it has added run, with all steps after them.
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
    """Return the states of the steps of a rerun.

    It begins at the steps in `start`, which run without regard to their parents, and after the steps in `marked`, which
    count as successes. These, the steps after them and all unresolved steps are open again. The other steps keep
    their result and their run. `run_outputs` are the outputs of kept steps that edges test. Steps that are not in the
    graph, because it is that of a newer version, are dropped.
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
