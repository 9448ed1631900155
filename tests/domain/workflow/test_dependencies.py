"""Edges between jobs, and the units that they form."""

import pytest

from foliot.domain.ids import JobId
from foliot.domain.workflow.conditions import Condition
from foliot.domain.workflow.dependencies import (
    Dependencies,
    changes_of,
    read_dependencies,
    refuse_separate_starts,
    unit_of,
    units_of,
    with_edge,
    without_edge,
    without_jobs,
)
from foliot.domain.workflow.spec import ON_SUCCESS, Edge
from foliot.errors import CycleDetected, InvalidJob

A, B, C, D, E = map(JobId, "abcde")


def edges(*pairs: str) -> Dependencies:
    """Each as `child parent`."""
    return read_dependencies((pair[0], pair[2], "success") for pair in pairs)


def test_rows_are_joined_to_edges_in_the_order_of_the_parents() -> None:
    rows = [("d", "c", "success"), ("d", "b", "skipped"), ("d", "b", "failure")]

    both = frozenset({Condition.FAILURE, Condition.SKIPPED})
    assert read_dependencies(rows) == {D: (Edge(parent="b", when=both), Edge(parent="c"))}


def test_an_edge_that_closes_a_cycle_is_refused_with_the_cycle() -> None:
    with pytest.raises(CycleDetected, match="b -> c -> a -> b"):
        with_edge(edges("b a", "c b"), A, C, ON_SUCCESS)


def test_edges_are_removed_one_by_one_or_with_a_job() -> None:
    known = edges("b a", "c a", "c b")

    assert without_edge(known, C, A) == edges("b a", "c b")
    assert without_edge(known, A, C) == known
    assert without_jobs(known, [B]) == edges("c a")
    assert without_jobs(known, [A, B]) == {}


def test_jobs_that_are_connected_are_one_unit() -> None:
    first, second = units_of(edges("c a", "c b", "e d"))

    assert (first.roots, sorted(first.jobs), first.workflow_id) == ((A, B), [A, B, C], "after:a")
    assert (second.roots, sorted(second.jobs), second.workflow_id) == ((D,), [D, E], "after:d")
    assert [(step.name, step.job, step.after) for step in second.spec.steps] == [
        ("d", D, ()),
        ("e", E, (Edge(parent="d"),)),
    ]


def test_the_unit_of_a_job_without_edges_is_none() -> None:
    found = unit_of(edges("b a"), B)

    assert found is not None
    assert found.roots == (A,)
    assert unit_of(edges("b a"), C) is None


def test_only_units_that_change_are_stored_again() -> None:
    before = edges("b a", "d c")

    changes = changes_of(before, with_edge(before, E, C, ON_SUCCESS))

    assert ([*changes.workflows], changes.leads) == (["after:c"], {C: "after:c"})
    assert changes_of(before, before) == ({}, {})


def test_a_root_that_gets_a_parent_leads_nothing_any_more() -> None:
    before = edges("c b")

    changes = changes_of(before, with_edge(before, B, A, ON_SUCCESS))

    assert ([*changes.workflows], changes.leads) == (["after:a"], {A: "after:a", B: ""})


def test_units_that_are_joined_are_led_by_all_their_roots() -> None:
    before = edges("c b", "e d")

    changes = changes_of(before, with_edge(before, E, C, ON_SUCCESS))

    assert ([*changes.workflows], changes.leads) == (["after:b"], {B: "after:b", D: "after:b"})


@pytest.mark.parametrize("scheduled", [[], [A]])
def test_one_root_of_a_unit_may_have_schedules(scheduled: list[JobId]) -> None:
    refuse_separate_starts(C, scheduled)


def test_two_roots_with_schedules_are_refused_by_name() -> None:
    with pytest.raises(InvalidJob, match='"c" would join jobs that start on schedules of their own: "a", "b"'):
        refuse_separate_starts(C, [B, A])


def test_a_graph_of_ten_thousand_edges_is_divided_quickly() -> None:
    chain = read_dependencies((f"j{n + 1:05}", f"j{n:05}", "success") for n in range(10_000))

    [unit] = units_of(chain)

    assert (len(unit.jobs), unit.roots) == (10_001, ("j00000",))
