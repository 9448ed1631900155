"""What an execution carries along from the one it repeats."""

import msgspec
import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.graph import graph_of
from foliot.domain.workflow.output import Facts, OutputTest, StepOutput
from foliot.domain.workflow.progress import StepState, run_again
from foliot.domain.workflow.rerun import Kept, asked_about, keep, kept_in, with_kept
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.domain.workflow.start import ExecutionStart
from foliot.errors import InvalidRun

HERE, GONE = RunId("here"), RunId("gone")
NOTHING = Facts()


def left(facts: Facts, run_id: RunId | None = HERE) -> StepOutput:
    return StepOutput(Result.SUCCESS, run_id, facts)


def test_steps_are_asked_about_by_templates_and_by_tests_of_edges() -> None:
    shell = JobSpec(kind="shell", spec={"command": "true", "env": {"A": "{{ steps.env.exit_code }}"}})
    steps = (
        *(Step(name=name, job=JobId("x")) for name in ("payload", "env", "given", "edge", "nobody")),
        Step(name="a", definition=shell, payload={"deep": ["{{ steps.payload.output }} {{ params.x }}"]}),
        Step(name="b", job=JobId("x"), spec={"stdin": "{{ steps.given.output }}"}),
        Step(
            name="c", job=JobId("x"), after=(Edge(parent="edge", test=OutputTest(contains="x")), Edge(parent="nobody"))
        ),
    )

    assert asked_about(WorkflowSpec(steps=steps)) == {"payload", "env", "given", "edge"}


def test_what_is_stored_goes_before_what_was_carried() -> None:
    found = {"stored": left(Facts(exit_code=0, output=b"[1]")), "carried": left(NOTHING, GONE), "empty": left(NOTHING)}
    before = {"stored": Kept(output=2), "carried": Kept(exit_code=3, output={"a": None})}

    kept = keep("x", found, before, {HERE})

    assert kept == {"stored": Kept(exit_code=0, output=[1]), "carried": Kept(exit_code=3, output={"a": None})}
    assert with_kept({"carried": left(NOTHING, GONE), "empty": left(NOTHING)}, kept) == {
        "carried": left(Facts(exit_code=3, output=b'{"a":null}'), GONE),
        "empty": left(NOTHING),
    }
    assert with_kept({"stored": left(Facts(output=b"[1]"))}, before) == {"stored": left(Facts(output=b"[1]"))}


def test_what_is_neither_stored_nor_carried_is_refused() -> None:
    with pytest.raises(InvalidRun, match='step "a" of execution x'):
        keep("x", {"a": left(NOTHING, GONE)}, {}, {HERE})
    assert keep("x", {"skipped": left(NOTHING, None)}, {}, ()) == {}


def test_it_is_found_again_among_what_was_given_for_the_run() -> None:
    start = ExecutionStart(version=1, rerun_of=HERE, kept={"a": Kept(exit_code=1, output="x"), "b": Kept(output=[{}])})
    overrides = msgspec.json.encode({"start": msgspec.to_builtins(start)})

    assert kept_in(overrides) == start.kept
    assert kept_in(None) == kept_in(b"{}") == kept_in(b'{"priority":1}') == {}
    assert ExecutionStart.read(overrides, {"version": 7}) == start


def test_marked_steps_are_kept_and_what_was_never_resolved_is_run_again() -> None:
    names = ("a", "b", "c", "d")
    steps = tuple(Step(name=name, job=JobId("x"), after=_after(name)) for name in names)
    done = {name: StepState(0, result=Result.SUCCESS) for name in names}

    graph = graph_of(steps)
    assert run_again(graph, done, start=["b"]) == {"b", "c"}
    assert run_again(graph, done, marked=["b"]) == {"c"}
    assert run_again(graph, {**done, "d": StepState(1)}, marked=["b"]) == {"c", "d"}


def _after(name: str) -> tuple[Edge, ...]:
    return {"b": (Edge(parent="a"),), "c": (Edge(parent="b"),)}.get(name, ())
