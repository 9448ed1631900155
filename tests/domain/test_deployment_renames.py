"""Renames in a deployment."""

import pytest

from foliot.domain.deploy.compare import compare
from foliot.domain.deploy.deployment import Current, Declared
from foliot.domain.deploy.difference import Difference
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.spec import Step
from tests.domain.deployments import A, B, C, actions, changes_nothing, every, flow, job, stored


def test_a_rename_of_a_job_renames_its_schedules() -> None:
    current = Current(
        jobs={A: job()},
        schedules={ScheduleId("a:default"): stored(every(60))},
        paused=frozenset({ScheduleId("a:default")}),
    )
    declared = Declared(jobs={B: job()}, schedules={ScheduleId("b:default"): every(60, B)}, renames={A: B})

    changes = compare(declared, current)

    assert changes.renames == {A: B}
    assert actions(changes) == {"b": "renamed", "b:default": "renamed"}
    assert (changes.schedules[0].was, changes.schedules[0].paused) == ("a:default", True)
    assert (changes.jobs_to_put, changes.schedules_to_put, changes.schedules_to_delete) == ({}, {}, [])


def test_a_job_may_change_while_it_is_renamed() -> None:
    changes = compare(Declared(jobs={B: job("new")}, renames={A: B}), Current(jobs={A: job("old")}))

    assert changes.jobs[0].fields == (Difference("command", "old", "new"),)
    assert changes.jobs_to_put == {B: job("new")}


def test_a_former_id_that_is_not_stored_is_ignored() -> None:
    changes = compare(Declared(jobs={B: job()}, renames={A: B}), Current(jobs={B: job()}))

    assert changes_nothing(changes)
    assert changes.renames == {}


def test_a_rename_to_an_id_that_is_stored_is_not_applied() -> None:
    changes = compare(Declared(jobs={B: job()}, renames={A: B}), Current(jobs={A: job(), B: job()}))

    assert changes.renames == {}
    assert changes.apart == {A: B}
    assert actions(changes) == {"a": "removed", "b": "unchanged"}


def test_a_job_of_another_source_is_not_renamed() -> None:
    [refusal] = compare(Declared(jobs={B: job()}, renames={A: B}), Current(jobs={A: job(source="app")})).refusals

    assert (refusal.id, refusal.owner) == ("a", "app")


def test_a_rename_that_needs_the_id_of_another_schedule_is_refused() -> None:
    current = Current(
        jobs={A: job(), C: job()},
        schedules={ScheduleId("a:x"): stored(every(60)), ScheduleId("b:x"): stored(every(60, C))},
    )

    [refusal] = compare(Declared(jobs={B: job(), C: job()}, renames={A: B}), current).refusals

    assert refusal.id == "a:x"


def test_a_job_can_get_the_id_of_a_job_that_is_renamed_too() -> None:
    current = Current(
        jobs={A: job(), B: job()},
        schedules={ScheduleId("a:x"): stored(every(60)), ScheduleId("b:x"): stored(every(60, B))},
        paused=frozenset({ScheduleId("a:x")}),
    )
    wanted = {ScheduleId("b:x"): every(60, B), ScheduleId("c:x"): every(60, C)}

    changes = compare(Declared(jobs={B: job(), C: job()}, schedules=wanted, renames={A: B, B: C}), current)

    assert changes.refusals == ()
    assert changes.renames == {A: B, B: C}
    assert [(change.id, change.was, change.paused) for change in changes.schedules] == [
        ("b:x", "a:x", True),
        ("c:x", "b:x", False),
    ]


def test_two_jobs_can_swap_ids_through_a_third_id() -> None:
    """The hint of the refused swap advises this; the last declaration can stay in the file."""
    first = compare(Declared(jobs={C: job(), A: job()}, renames={A: C, B: A}), Current(jobs={A: job(), B: job()}))
    last = Declared(jobs={B: job(), A: job()}, renames={C: B, B: A})

    second = compare(last, Current(jobs={C: job(), A: job()}))

    assert (first.renames, second.renames) == ({A: C, B: A}, {C: B})
    assert changes_nothing(compare(last, Current(jobs={A: job(), B: job()})))


def test_a_definition_that_names_a_renamed_job_by_its_new_id_is_unchanged() -> None:
    def gated(name: JobId) -> JobSpec:
        return job(gate=Gate(depends_on=(name,)))

    current = Current(jobs={A: job(), C: gated(A)}, workflows={"w": flow(Step(name="x", job=A))})
    declared = Declared(jobs={B: job(), C: gated(B)}, workflows={"w": flow(Step(name="x", job=B))}, renames={A: B})

    changes = compare(declared, current)

    assert actions(changes) == {"b": "renamed", "c": "unchanged"}
    assert [change.action for change in changes.workflows] == ["unchanged"]


@pytest.mark.parametrize(("owner", "comes_along"), [("foliot", True), ("api", False)])
def test_a_rename_of_a_job_renames_the_workflow_that_it_leads(owner: str, comes_along: bool) -> None:
    led = JobId("after:a")

    changes = compare(Declared(jobs={B: job()}, renames={A: B}), Current(jobs={A: job(), led: job(source=owner)}))

    assert changes.renames == ({A: B, led: "after:b"} if comes_along else {A: B})
