"""What a rerun keeps from the execution that it repeats."""

import msgspec
import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.graph import graph_of
from foliot.domain.workflow.output import OutputTest, RunOutput, StepOutput
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.rerun import (
    CarriedOutput,
    carried_outputs,
    lost_steps,
    outputs_to_carry,
    referenced_steps,
    rerun_states,
    run_again,
    with_carried,
)
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.domain.workflow.start import ExecutionStart
from foliot.errors import InvalidRun

HERE, GONE = RunId("here"), RunId("gone")
NO_OUTPUT = RunOutput()


def a_step_output(run_output: RunOutput, run_id: RunId | None = HERE) -> StepOutput:
    return StepOutput(Result.SUCCESS, run_id, run_output)


def test_templates_and_edge_tests_reference_steps() -> None:
    shell = JobSpec(kind="shell", spec={"command": "true", "env": {"A": "{{ steps.env.exit_code }}"}})
    steps = (
        *(Step(name=name, job=JobId("x")) for name in ("payload", "env", "given", "edge", "unused")),
        Step(name="a", definition=shell, payload={"deep": ["{{ steps.payload.output }} {{ params.x }}"]}),
        Step(name="b", job=JobId("x"), spec={"stdin": "{{ steps.given.output }}"}),
        Step(
            name="c", job=JobId("x"), after=(Edge(parent="edge", test=OutputTest(contains="x")), Edge(parent="unused"))
        ),
    )

    assert referenced_steps(WorkflowSpec(steps=steps)) == {"payload", "env", "given", "edge"}


def test_stored_outputs_are_preferred_to_carried_ones() -> None:
    found = {
        "stored": a_step_output(RunOutput(exit_code=0, output=b"[1]")),
        "carried": a_step_output(NO_OUTPUT, GONE),
        "empty": a_step_output(NO_OUTPUT),
    }
    before = {"stored": CarriedOutput(output=2), "carried": CarriedOutput(exit_code=3, output={"a": None})}

    carried = outputs_to_carry("x", found, before, {HERE})

    assert carried == {
        "stored": CarriedOutput(exit_code=0, output=[1]),
        "carried": CarriedOutput(exit_code=3, output={"a": None}),
    }
    assert with_carried({"carried": a_step_output(NO_OUTPUT, GONE), "empty": a_step_output(NO_OUTPUT)}, carried) == {
        "carried": a_step_output(RunOutput(exit_code=3, output=b'{"a":null}'), GONE),
        "empty": a_step_output(NO_OUTPUT),
    }
    assert with_carried({"stored": a_step_output(RunOutput(output=b"[1]"))}, before) == {
        "stored": a_step_output(RunOutput(output=b"[1]"))
    }


def test_an_output_that_is_neither_stored_nor_carried_is_refused() -> None:
    with pytest.raises(InvalidRun, match='step "a" of execution x'):
        outputs_to_carry("x", {"a": a_step_output(NO_OUTPUT, GONE)}, {}, {HERE})
    assert outputs_to_carry("x", {"skipped": a_step_output(NO_OUTPUT, None)}, {}, ()) == {}


def test_carried_outputs_are_read_from_the_overrides_of_a_run() -> None:
    start = ExecutionStart(
        version=1, rerun_of=HERE, carried={"a": CarriedOutput(exit_code=1, output="x"), "b": CarriedOutput(output=[{}])}
    )
    overrides = msgspec.json.encode({"start": msgspec.to_builtins(start)})

    assert carried_outputs(overrides) == start.carried
    assert carried_outputs(None) == carried_outputs(b"{}") == carried_outputs(b'{"priority":1}') == {}
    assert ExecutionStart.read(overrides, {"version": 7}) == start


def test_marked_steps_are_kept_and_unresolved_steps_run_again() -> None:
    names = ("a", "b", "c", "d")
    steps = tuple(Step(name=name, job=JobId("x"), after=_after(name)) for name in names)
    done = {name: StepState(0, result=Result.SUCCESS) for name in names}

    graph = graph_of(steps)
    assert run_again(graph, done, start=["b"]) == {"b", "c"}
    assert run_again(graph, done, marked=["b"]) == {"c"}
    assert run_again(graph, {**done, "d": StepState(1)}, marked=["b"]) == {"c", "d"}


def _after(name: str) -> tuple[Edge, ...]:
    return {"b": (Edge(parent="a"),), "c": (Edge(parent="b"),)}.get(name, ())


def after(name: str, *parents: str) -> Step:
    return Step(name=name, job=JobId("x"), after=tuple(Edge(parent=parent) for parent in parents))


def test_a_rerun_of_a_newer_version_keeps_drops_and_adds_steps() -> None:
    old = graph_of([after("a"), after("b", "a"), after("c", "b"), after("d", "a", "b")])
    new = graph_of([after("a"), after("e", "a"), after("b", "e"), after("d", "a")])
    before = {
        "a": StepState(0, result=Result.SUCCESS, run_id=HERE),
        "b": StepState(0, result=Result.FAILURE, run_id=HERE),
        "c": StepState(0, ("b",), Result.SKIPPED),
        "d": StepState(0, ("b", "gone"), Result.SKIPPED),
    }

    assert lost_steps(old, new, before, ["b"]) == []
    assert lost_steps(old, graph_of([after("b")]), before, ["b"]) == ["a"]
    assert rerun_states(new, before, {}, start=["b"]) == {
        "a": before["a"],
        "e": StepState(0),
        "b": StepState(0),
        "d": StepState(0, ("b",), Result.SKIPPED),
    }
