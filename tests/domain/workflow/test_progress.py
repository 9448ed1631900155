"""Which steps start, which are skipped, and how an execution ends."""

import random
from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.run.run import Status
from foliot.domain.workflow.conditions import TRIGGER_RULES, Condition, Result, is_met, result_of
from foliot.domain.workflow.graph import Graph, Precedence, graph_of
from foliot.domain.workflow.output import OutputTest, RunOutput
from foliot.domain.workflow.progress import (
    Resolved,
    StepState,
    advance,
    advance_with,
    begin,
    first_states,
    overall,
    recoveries,
    unrecovered,
)
from foliot.domain.workflow.rerun import rerun_states
from foliot.domain.workflow.spec import Edge, Step
from tests.cases import for_each
from tests.domain.workflow import reference

SUCCESS, FAILURE, SKIPPED = Result


def step(name: str, after: dict[str, str] | None = None, *, is_final: bool = False, recovers: bool = False) -> Step:
    edges = (Edge(parent=p, when=frozenset(Condition(c) for c in when.split())) for p, when in (after or {}).items())
    return Step(name=name, after=tuple(edges), is_final=is_final, recovers=recovers)


def play(
    steps: list[Step],
    endings: dict[str, Result],
    *,
    order: random.Random | None = None,
    states: dict[str, StepState] | None = None,
) -> tuple[dict[str, StepState], list[str]]:
    """Run an execution to its end. Running steps end in the order that `order` picks, some of them together."""
    graph = graph_of(steps)
    states = states or first_states(graph)
    fired: list[str] = []
    underway: list[str] = []
    followed = begin(graph, states)
    while True:
        states |= followed.changed
        fired += followed.fire
        underway += followed.fire
        if not underway:
            return states, fired
        if order is not None:
            order.shuffle(underway)
        together = 1 if order is None else order.randint(1, len(underway))
        ended, underway = underway[:together], underway[together:]
        news = {name: Resolved(endings.get(name, SUCCESS)) for name in ended}
        followed = advance_with(advance(graph, news), states)


def is_complete(states: Mapping[str, StepState]) -> bool:
    return all(state.result is not None for state in states.values())


@st.composite
def workflows(draw: st.DrawFn) -> tuple[list[Step], dict[str, Result]]:
    size = draw(st.integers(1, 12))
    names = [f"s{number}" for number in range(size)]
    conditions = st.frozensets(st.sampled_from(Condition), min_size=1, max_size=3)
    steps = []
    for place, name in enumerate(names):
        parents = draw(st.lists(st.sampled_from(names[:place]), unique=True, max_size=4)) if place else []
        edges = tuple(Edge(parent=parent, when=draw(conditions)) for parent in parents)
        steps.append(Step(name=name, after=edges, recovers=draw(st.booleans())))
    if size > 1 and draw(st.booleans()):
        steps[-1] = Step(name=names[-1], is_final=True, recovers=draw(st.booleans()))
    steps = draw(st.permutations(steps))
    endings = {name: draw(st.sampled_from([SUCCESS, FAILURE, SKIPPED])) for name in names}
    return list(steps), endings


@pytest.mark.proves("R2-05", "R2-07", "R2-08", "R2-09", "R2-10", "R2-48")
@for_each("result", Result)
@for_each("condition", Condition)
def test_each_condition_fires_on_its_own_results_and_no_other(result: Result, condition: Condition) -> None:
    table = {
        SUCCESS: {"success", "complete"},
        FAILURE: {"failure", "complete"},
        SKIPPED: {"skipped", "complete"},
    }
    states, fired = play([step("a"), step("b", {"a": condition})], {"a": result})

    assert ("b" in fired) == (condition in table[result]) == is_met(frozenset({condition}), result)
    assert states["b"].result is (SUCCESS if "b" in fired else SKIPPED)


@pytest.mark.proves("D2", "D3", "R2-41", "R2-42", "R2-43", "R2-49")
@given(workflows(), st.integers(0, 2**32))
def test_results_follow_from_the_graph_alone_in_every_order(
    workflow: tuple[list[Step], dict[str, Result]], seed: int
) -> None:
    steps, endings = workflow
    expected = reference.results(steps, endings)

    for order in (None, random.Random(seed), random.Random(seed + 1)):
        states, fired = play(steps, endings, order=order)

        assert {name: state.result for name, state in states.items()} == expected
        assert max(Counter(fired).values(), default=1) == 1
        assert is_complete(states)


@pytest.mark.proves("D5")
@given(workflows())
def test_an_execution_has_failed_unless_every_failure_was_recovered(
    workflow: tuple[list[Step], dict[str, Result]],
) -> None:
    steps, endings = workflow
    graph = graph_of(steps)
    states, _ = play(steps, endings)
    found = reference.results(steps, endings)

    status = overall(graph, states)

    assert {(name, by) for name, all_by in recoveries(graph, states).items() for by in all_by} == reference.recovered(
        steps, found
    )
    if all(result == "skipped" for result in found.values()):
        assert status is Status.SKIPPED
    else:
        assert (status is Status.FAILED) == reference.is_failed(steps, found) == bool(unrecovered(graph, states))


@pytest.mark.proves("D5")
@for_each("when", ["failure", "complete", "success failure", "success", "skipped"])
def test_a_step_that_runs_after_a_failure_does_not_hide_it(when: str) -> None:
    steps = [step("load"), step("alert", {"load": when})]

    states, _ = play(steps, {"load": FAILURE})

    assert overall(graph_of(steps), states) is Status.FAILED


@pytest.mark.proves("D5")
@for_each(
    ("when", "ends", "status"),
    [
        ("failure", SUCCESS, Status.SUCCESS),
        ("complete", SUCCESS, Status.SUCCESS),
        ("success failure", SUCCESS, Status.SUCCESS),
        ("failure", FAILURE, Status.FAILED),
        ("failure", SKIPPED, Status.FAILED),
        ("skipped success", SUCCESS, Status.FAILED),
    ],
)
def test_a_failure_is_recovered_by_the_success_of_a_step_that_recovers(when: str, ends: Result, status: Status) -> None:
    steps = [step("load"), step("repair", {"load": when}, recovers=True)]

    states, _ = play(steps, {"load": FAILURE, "repair": ends})

    assert overall(graph_of(steps), states) is status
    assert recoveries(graph_of(steps), states) == ({"load": ["repair"]} if status is Status.SUCCESS else {})


TWO_FAILED = {
    "one repairs both": (
        [step("repair", {"a": "failure", "b": "failure"}, recovers=True)],
        {},
        {"a": ["repair"], "b": ["repair"]},
    ),
    "one repairs one": ([step("repair", {"a": "failure"}, recovers=True)], {}, {"a": ["repair"]}),
    "two repair one": (
        [step("repair", {"a": "failure"}, recovers=True), step("undo", {"a": "complete"}, recovers=True)],
        {},
        {"a": ["repair", "undo"]},
    ),
    "a failed repair": (
        [
            step("repair", {"a": "failure", "b": "failure"}, recovers=True),
            step("undo", {"repair": "failure"}, recovers=True),
        ],
        {"repair": FAILURE},
        {"repair": ["undo"]},
    ),
    "a second repair of all": (
        [
            step("repair", {"a": "failure"}, recovers=True),
            step("undo", {"a": "failure", "b": "failure", "repair": "failure"}, recovers=True),
        ],
        {"repair": FAILURE},
        {"a": ["undo"], "b": ["undo"], "repair": ["undo"]},
    ),
}


@pytest.mark.proves("D5")
@for_each("row", TWO_FAILED)
def test_each_of_several_failures_needs_a_recovery(row: str) -> None:
    more, endings, recovered = TWO_FAILED[row]
    steps = [step("a"), step("b"), *more]
    failed = {"a", "b", *endings}

    states, _ = play(steps, {"a": FAILURE, "b": FAILURE, **endings})

    assert recoveries(graph_of(steps), states) == recovered
    assert set(unrecovered(graph_of(steps), states)) == failed - recovered.keys()


@pytest.mark.proves("D2")
@given(workflows(), st.data())
def test_resolving_a_step_twice_changes_nothing(
    workflow: tuple[list[Step], dict[str, Result]], data: st.DataObject
) -> None:
    steps, endings = workflow
    states, _ = play(steps, endings)
    name = data.draw(st.sampled_from(sorted(states)))

    followed = advance_with(advance(graph_of(steps), {name: Resolved(FAILURE)}), states)

    assert followed.changed == {}
    assert followed.fire == ()


@given(workflows(), st.data())
def test_a_rerun_keeps_results_of_steps_before_its_start(
    workflow: tuple[list[Step], dict[str, Result]], data: st.DataObject
) -> None:
    steps, endings = workflow
    graph = graph_of(steps)
    before, _ = play(steps, endings)
    start = data.draw(st.sampled_from(sorted(before)))
    again = graph.descendants([start])

    states, fired = play(steps, endings, states=rerun_states(graph, before, {}, start=[start]))

    assert set(fired) <= again
    assert start in fired
    assert {name: states[name] for name in states if name not in again} == {
        name: before[name] for name in before if name not in again
    }
    assert is_complete(states)


def test_a_rerun_from_a_step_that_had_run_gives_the_same_results() -> None:
    steps = [
        step("a"),
        step("b", {"a": "success"}),
        step("c", {"b": "failure", "a": "success"}),
        step("d", {"c": "complete"}),
    ]
    before, _ = play(steps, {"b": FAILURE})

    states, fired = play(steps, {"b": FAILURE}, states=rerun_states(graph_of(steps), before, {}, start=["b"]))

    assert fired == ["b", "c", "d"]
    assert {name: state.result for name, state in states.items()} == {
        name: state.result for name, state in before.items()
    }


def test_a_marked_step_counts_as_a_success_and_its_children_run() -> None:
    steps = [step("a"), step("b", {"a": "success"}), step("c", {"b": "success"}), step("d", {"b": "failure"})]
    before, _ = play(steps, {"b": FAILURE})

    states, fired = play(steps, {}, states=rerun_states(graph_of(steps), before, {}, marked=["b"]))

    assert fired == ["c"]
    assert {name: state.result for name, state in states.items()} == {
        "a": SUCCESS,
        "b": SUCCESS,
        "c": SUCCESS,
        "d": SKIPPED,
    }


ROWS = {
    "B after A": ([step("a"), step("b", {"a": "success"})], {}, ["a", "b"]),
    "a chain": ([step("a"), step("b", {"a": "success"}), step("c", {"b": "success"})], {}, ["a", "b", "c"]),
    "on complete": ([step("a"), step("b", {"a": "success"}), step("c", {"a": "complete"})], {"a": FAILURE}, ["a", "c"]),
    "on failure": ([step("a"), step("b", {"a": "success"}), step("c", {"a": "failure"})], {"a": FAILURE}, ["a", "c"]),
    "on skipped": ([step("a"), step("b", {"a": "success"}), step("c", {"b": "skipped"})], {"a": FAILURE}, ["a", "c"]),
    "a diamond": (
        [
            step("a"),
            step("b", {"a": "success"}),
            step("c", {"a": "success"}),
            step("d", {"b": "success", "c": "success"}),
        ],
        {},
        ["a", "b", "c", "d"],
    ),
    "a skipped middle": (
        [step("a"), step("b", {"a": "success"}), step("c", {"b": "complete"})],
        {"b": SKIPPED},
        ["a", "b", "c"],
    ),
    "final after failure": (
        [step("a"), step("b", {"a": "success"}), step("z", is_final=True)],
        {"a": FAILURE},
        ["a", "z"],
    ),
    "two roots": ([step("a"), step("b"), step("d", {"a": "success", "b": "success"})], {}, ["a", "b", "d"]),
    "either of two": ([step("a"), step("b", {"a": "success failure"})], {"a": FAILURE}, ["a", "b"]),
}


@pytest.mark.proves("D8", "R2-29", "R2-69")
@for_each("row", ROWS)
def test_the_condition_table_of_the_specification(row: str) -> None:
    steps, endings, expected = ROWS[row]

    assert play(steps, endings)[1] == expected


@for_each("recovers", [False, True])
def test_the_final_step_recovers_nothing(recovers: bool) -> None:
    steps = [step("a"), step("z", is_final=True, recovers=recovers)]
    states, _ = play(steps, {"a": FAILURE})

    assert overall(graph_of(steps), states) is Status.FAILED


def test_a_failing_final_step_fails_the_execution() -> None:
    steps = [step("a"), step("z", is_final=True)]
    states, _ = play(steps, {"z": FAILURE})

    assert overall(graph_of(steps), states) is Status.FAILED


def test_a_skipped_step_names_the_parents_that_blocked_it() -> None:
    steps = [step("a"), step("b"), step("c", {"a": "success", "b": "success"})]
    states, _ = play(steps, {"a": FAILURE})

    assert states["c"].blockers == ("a",)


@for_each(
    ("run_output", "test", "holds"),
    [
        (RunOutput(exit_code=3), OutputTest(exit_code=(3, 4)), True),
        (RunOutput(exit_code=5), OutputTest(exit_code=(3, 4)), False),
        (RunOutput(output=b'"all is well"'), OutputTest(contains="is well"), True),
        (RunOutput(output=b'{"a": "well"}'), OutputTest(contains="ill"), False),
        (RunOutput(), OutputTest(contains="x"), False),
        (RunOutput(output=b'{"rows": [{"n": 2}]}'), OutputTest(path="rows.0.n", equals=2), True),
        (RunOutput(output=b'{"rows": [{"n": 2}]}'), OutputTest(path="rows.1.n", equals=2), False),
        (RunOutput(output=b'{"ok": true}'), OutputTest(path="ok", equals=1), False),
        (RunOutput(output=b'{"ok": null}'), OutputTest(path="ok"), True),
        (RunOutput(output=b'{"ok": null}'), OutputTest(path="ok", equals=None), True),
        (RunOutput(output=b"{}"), OutputTest(path="ok", equals=None), False),
    ],
)
def test_an_edge_may_test_the_output(run_output: RunOutput, test: OutputTest, holds: bool) -> None:
    edge = Edge(parent="a", test=test)
    steps = [step("a"), Step(name="b", after=(edge,))]
    graph = graph_of(steps)

    followed = advance_with(advance(graph, {"a": Resolved(SUCCESS, run_output)}), first_states(graph))

    assert followed.fire == (("b",) if holds else ())


@pytest.mark.proves("R2-13")
def test_resolving_touches_each_edge_once_however_many_parents_a_step_has() -> None:
    """In a diamond of a thousand steps, resolving one parent must not read the other 999."""
    wide = [f"w{number}" for number in range(1_000)]
    steps = [step("a"), *(step(name, {"a": "success"}) for name in wide), step("z", dict.fromkeys(wide, "success"))]
    graph = graph_of(steps)
    states = first_states(graph)
    reads = 0
    queue = list(begin(graph, states).fire)
    while queue:
        questions = advance(graph, {queue.pop(): Resolved(SUCCESS)})
        wanted = next(questions)
        try:
            while True:
                reads += len(wanted)
                wanted = questions.send({name: states[name] for name in wanted})
        except StopIteration as end:
            states |= end.value.changed
            queue += end.value.fire

    assert is_complete(states)
    edges = sum(len(parents) for parents in graph.parents.values())
    assert reads == edges + len(steps)


def test_ten_thousand_successive_steps_are_skipped_in_one_call() -> None:
    steps = [step("s0"), *(step(f"s{n}", {f"s{n - 1}": "success"}) for n in range(1, 10_000))]

    states, fired = play(steps, {"s0": FAILURE})

    assert fired == ["s0"]
    assert is_complete(states)


@pytest.mark.parametrize(
    ("status", "result"),
    [
        (Status.SUCCESS, SUCCESS),
        (Status.PARTIAL, SUCCESS),
        (Status.FAILED, FAILURE),
        (Status.TIMEOUT, FAILURE),
        (Status.CANCELLED, FAILURE),
        (Status.SKIPPED, SKIPPED),
    ],
)
def test_the_status_of_a_run_determines_the_result_of_its_step(status: Status, result: Result) -> None:
    assert result_of(status) is result


def test_partial_counts_as_failure_if_the_workflow_says_so() -> None:
    assert result_of(Status.PARTIAL, partial_counts_as=FAILURE) is FAILURE


def test_supported_trigger_rules_apply_to_each_parent_alone() -> None:
    assert {rule: {r for r in Result if is_met(when, r)} for rule, when in TRIGGER_RULES.items()} == {
        "all_success": {SUCCESS},
        "all_failed": {FAILURE},
        "all_skipped": {SKIPPED},
        "all_done": set(Result),
        "always": set(Result),
        "none_failed": {SUCCESS, SKIPPED},
        "none_skipped": {SUCCESS, FAILURE},
    }


def test_a_graph_has_ancestors_descendants_and_roots() -> None:
    graph: Graph = graph_of([step("a"), step("b", {"a": "success"}), step("c", {"b": "success"}), step("d")])

    order = Precedence(graph)
    assert [name for name in "abcd" if order.is_before(name, "c")] == ["a", "b"]
    assert graph.ordered() == ["a", "d", "b", "c"]
    assert graph.descendants(["b"]) == {"b", "c"}
    assert graph.roots == ["a", "d"]
