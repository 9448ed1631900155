"""Problems of steps that do not form a graph."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.workflow.graph import MOST_CYCLES, find_cycle, find_cycles, problems_of
from foliot.domain.workflow.spec import Edge, Step


def step(name: str, *parents: str, is_final: bool = False) -> Step:
    return Step(name=name, after=tuple(Edge(parent=parent) for parent in parents), is_final=is_final)


def problems(*steps: Step) -> str:
    return "\n".join(problem.in_one_line for problem in problems_of(steps))


@pytest.mark.proves("D1", "R2-23", "R2-33")
@pytest.mark.parametrize(
    ("steps", "way"),
    [
        ([step("a", "a")], "a -> a"),
        ([step("a", "b"), step("b", "a")], "a -> b -> a"),
        ([step("x"), step("a", "c"), step("b", "a"), step("c", "b", "x")], "a -> b -> c -> a"),
    ],
)
def test_a_cycle_is_named(steps: list[Step], way: str) -> None:
    [problem] = problems_of(steps)

    assert problem.message == f"the steps form a cycle: {way}"


@pytest.mark.proves("D1", "R2-33")
def test_each_cycle_is_named() -> None:
    found = problems(step("a", "b"), step("b", "a"), step("x"), step("c", "d", "a"), step("d", "c"), step("e", "e"))

    ways = [line.partition(": ")[2].partition(". ")[0] for line in found.splitlines()]
    assert ways == ["a -> b -> a", "c -> d -> c", "e -> e"]


def test_the_number_of_reported_cycles_is_limited() -> None:
    found = list(problems_of([step(str(number), str(number)) for number in range(MOST_CYCLES + 5)]))

    assert [problem.message for problem in found[-2:]] == [
        "the steps form a cycle: 19 -> 19",
        "there are more cycles",
    ]
    assert len(found) == MOST_CYCLES + 1


def test_a_long_cycle_is_named_by_its_beginning_and_its_end() -> None:
    [problem] = problems_of([step(str(number), str((number - 1) % 500)) for number in range(500)])

    assert problem.message.startswith("the steps form a cycle: 0 -> 1 -> 2 -> 3")
    assert problem.message.endswith("9 -> ... -> 499 -> 0")


def test_a_diamond_is_not_a_cycle() -> None:
    assert problems(step("a"), step("b", "a"), step("c", "a"), step("d", "b", "c")) == ""


@pytest.mark.proves("D1", "R2-30", "R2-32")
def test_all_problems_of_a_graph_are_reported_together() -> None:
    found = problems(
        step("extract"),
        step("extract"),
        step("load", "extrakt", "extrakt"),
        step("z", is_final=True),
        step("y", is_final=True),
    )

    assert 'step "extract" is defined twice' in found
    assert 'comes after "extrakt", which does not exist. Did you mean "extract"?' in found
    assert 'comes after "extrakt" twice' in found
    assert "only one step can be final, not z, y" in found


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([], "at least one step"),
        ([step("a"), step("z", "a", is_final=True)], "already comes after every step"),
        ([step("z", is_final=True), step("a", "z")], "comes after the final step"),
        ([step("a"), Step(name="b", after=(Edge(parent="a", when=frozenset()),))], "has no condition"),
        ([Step(name="a", recovers=True)], 'step "a" has recovers and follows no step by failure or complete'),
        (
            [step("a"), Step(name="b", after=(Edge(parent="a"),), recovers=True)],
            'step "b" has recovers and follows no step by failure or complete',
        ),
        ([step("a"), Step(name="z", is_final=True, recovers=True)], 'final step "z" cannot have recovers'),
    ],
)
def test_invalid_graphs_are_refused(steps: list[Step], problem: str) -> None:
    assert problem in problems(*steps)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefgh"), max_size=3)))
def test_a_cycle_is_found_exactly_when_there_is_one(parents: dict[str, list[str]]) -> None:
    cycle = find_cycle(parents)

    if cycle:
        assert cycle[0] == cycle[-1]
        assert all(before in parents[after] for before, after in pairwise(cycle))
    else:
        assert _can_be_ordered(parents)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefgh"), max_size=3)))
def test_reported_cycles_are_disjoint_and_without_them_the_graph_is_ordered(parents: dict[str, list[str]]) -> None:
    cycles = list(find_cycles(parents))

    on_cycles = [name for cycle in cycles for name in cycle[1:]]
    assert len(on_cycles) == len(set(on_cycles))
    assert all(before in parents[after] for cycle in cycles for before, after in pairwise(cycle))
    assert _can_be_ordered({name: before for name, before in parents.items() if name not in on_cycles})


def test_a_long_chain_causes_no_recursion_error() -> None:
    chain = {str(number): [str(number - 1)] for number in range(1, 10_000)}

    assert find_cycle(chain) == []
    assert len(find_cycle(chain | {"0": ["9999"]})) == 10_001


def _can_be_ordered(parents: dict[str, list[str]]) -> bool:
    """Remove nodes without parents until no node is left or none can be removed."""
    left = set(parents)
    while free := {name for name in left if not left.intersection(parents[name])}:
        left -= free
    return not left
