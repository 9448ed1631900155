"""The changes of workflows in a deployment."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from foliot.domain.deploy.compare import compare
from foliot.domain.deploy.deployment import Action, Current, Declared
from foliot.domain.deploy.difference import Difference
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.workflow.conditions import Condition
from foliot.domain.workflow.jobs import jobs_of
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from tests.domain.deployments import A, B, changes_nothing, every, flow, job, stored, work


def test_a_new_workflow_is_created() -> None:
    changes = compare(Declared(workflows={"w": flow()}), Current())

    assert [(change.id, change.action) for change in changes.workflows] == [("w", Action.CREATED)]
    assert changes.workflows_to_put == {"w": flow()}
    assert not changes_nothing(changes)


def test_an_equal_workflow_is_unchanged() -> None:
    both = [Condition.FAILURE, Condition.SKIPPED, Condition.SUCCESS]
    before, after = (
        flow(work("a"), Step(name="b", job=A, payload=payload, after=(Edge(parent="a", when=frozenset(order)),)))
        for order, payload in ((both, [1]), (reversed(both), (1,)))
    )

    changes = compare(Declared(workflows={"w": after}), Current(workflows={"w": before}))

    assert changes.workflows[0].action is Action.UNCHANGED
    assert changes_nothing(changes)


def test_a_changed_workflow_names_its_steps_and_their_fields() -> None:
    before = flow(work("a", "old", env={"KEY": "x"}), work("b"), options=Options(priority=1))
    after = flow(work("a", "new", env={"KEY": "y"}), work("c", after=["a"]))

    [change] = compare(Declared(workflows={"w": after}), Current(workflows={"w": before})).workflows

    assert change.action is Action.CHANGED
    assert change.fields == (
        Difference("priority", 1, None),
        Difference("step.a.command", "old", "new"),
        Difference("step.a.env.KEY", "***", "***"),
        Difference("step.b.command", "true", None),
        Difference("step.b.kind", "shell", None),
        Difference("step.b.source", "file", None),
        Difference("step.c.after", None, [{"parent": "a"}]),
        Difference("step.c.command", None, "true"),
        Difference("step.c.kind", None, "shell"),
        Difference("step.c.source", None, "file"),
        Difference("steps", ["a", "b"], ["a", "c"]),
    )


def test_conditions_are_shown_in_the_same_order_every_time() -> None:
    edge = Edge(parent="a", when=frozenset(Condition))
    before, after = flow(work("a"), work("b", after=["a"])), flow(work("a"), replace(work("b"), after=(edge,)))

    [change] = compare(Declared(workflows={"w": after}), Current(workflows={"w": before})).workflows

    assert [field.after for field in change.fields] == [[{"parent": "a", "when": sorted(Condition)}]]


def test_another_order_of_steps_is_a_change() -> None:
    before, after = flow(work("a"), work("b")), flow(work("b"), work("a"))

    [change] = compare(Declared(workflows={"w": after}), Current(workflows={"w": before})).workflows

    assert change.fields == (Difference("steps", ["a", "b"], ["b", "a"]),)


def test_a_workflow_that_is_no_longer_declared_is_disabled_and_its_schedules_are_deleted() -> None:
    name = ScheduleId("w:default")
    current = stored_workflow(flow(), schedules={name: stored(every(60, JobId("w")))})

    changes = compare(Declared(), current)

    assert [(change.id, change.action) for change in changes.workflows] == [("w", Action.REMOVED)]
    assert changes.workflows_to_put == {"w": flow(enabled=False)}
    assert changes.schedules_to_delete == [name]
    assert changes.jobs == (), "the jobs behind it are its own business"


def test_a_disabled_workflow_or_one_of_another_source_is_no_change() -> None:
    current = Current(workflows={"gone": flow(enabled=False), "app": flow(source="app"), "api": flow(source="api")})

    assert compare(Declared(), current).workflows == ()


def test_a_removed_workflow_that_is_declared_again_is_enabled() -> None:
    [change] = compare(Declared(workflows={"w": flow()}), stored_workflow(flow(enabled=False))).workflows

    assert (change.action, change.fields) == (Action.CHANGED, (Difference("enabled", False, None),))


def test_a_workflow_that_another_source_owns_is_refused() -> None:
    [refusal] = compare(Declared(workflows={"w": flow()}), stored_workflow(flow(source="app"))).refusals

    assert (refusal.what, refusal.id, refusal.owner) == ("workflow", "w", "app")


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (Declared(jobs={JobId("w"): job()}), '"w" is a workflow, and cannot become a job'),
        (Declared(jobs={B: job()}, renames={JobId("w"): B}), '"w" is a workflow, and cannot become a job'),
        (Declared(workflows={"a": flow()}), '"a" is a job, and cannot become a workflow'),
        (Declared(jobs={JobId("w.a"): job()}), 'job "w.a" is defined by the workflow that it is part of'),
    ],
)
def test_a_job_and_a_workflow_do_not_become_each_other(declared: Declared, message: str) -> None:
    current = stored_workflow(flow(), jobs={A: job()})

    assert [refusal.message for refusal in compare(declared, current).refusals] == [message]


def stored_workflow(spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec] | None = None, **fields: Any) -> Current:
    """Return what is stored after a workflow `w` was registered."""
    return Current(jobs={**jobs_of("w", 1, spec), **(jobs or {})}, workflows={"w": spec}, **fields)


W, V = JobId("w"), JobId("v")


def test_a_rename_of_a_workflow_renames_its_steps_and_schedules() -> None:
    name = ScheduleId("w:default")
    nightly = every(60, None, workflow_id="w")
    current = stored_workflow(
        flow(), jobs={JobId("w.former"): job(source="workflow")}, schedules={name: stored(nightly)}
    )
    wanted = {ScheduleId("v:default"): every(60, None, workflow_id="v")}

    changes = compare(Declared(workflows={"v": flow()}, schedules=wanted, renames={W: V}), current)

    assert [(change.id, change.action, change.was) for change in changes.workflows] == [("v", Action.RENAMED, "w")]
    assert changes.renames == {W: V, "w.a": "v.a", "w.former": "v.former"}
    assert [(change.id, change.action, change.was) for change in changes.schedules] == [
        ("v:default", Action.RENAMED, "w:default")
    ]
    assert (changes.workflows_to_put, changes.schedules_to_put, changes.refusals) == ({}, {}, ())


def test_a_rename_of_a_workflow_does_not_rename_steps_of_another() -> None:
    other = {**jobs_of("w.b", 1, flow()), JobId("w.c"): job(), JobId("wa.a"): job(source="workflow")}
    current = replace(stored_workflow(flow(), jobs=other), workflows={"w": flow(), "w.b": flow()})

    changes = compare(
        Declared(workflows={"v": flow(), "w.b": flow()}, renames={W: V}, jobs={JobId("w.c"): job()}), current
    )

    assert changes.renames == {W: V, "w.a": "v.a"}


def test_a_workflow_whose_new_id_is_in_use_is_not_renamed() -> None:
    both = replace(stored_workflow(flow(), jobs=jobs_of("v", 1, flow())), workflows={"w": flow(), "v": flow()})
    former = replace(both, jobs={**both.jobs, JobId("w.former"): job(source="workflow")})

    changes = compare(Declared(workflows={"v": flow()}, renames={W: V}), former)

    assert (changes.renames, changes.apart) == ({}, {W: V})
    assert [(change.id, change.action) for change in changes.workflows] == [
        ("v", Action.UNCHANGED),
        ("w", Action.REMOVED),
    ]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (Declared(workflows={"v": flow()}, renames={A: V}), '"a" is a job, and cannot become a workflow'),
        (Declared(workflows={"v": flow()}, renames={W: V}), 'workflow "w" is defined in the application'),
        (Declared(jobs={B: job()}, renames={JobId("w.a"): B}), 'job "w.a" is defined by the workflow'),
    ],
)
def test_a_rename_from_a_definition_of_another_kind_or_owner_is_refused(declared: Declared, message: str) -> None:
    current = stored_workflow(flow(source="app"), jobs={A: job()})

    [refusal, *_] = compare(declared, current).refusals

    assert refusal.message.startswith(message)
