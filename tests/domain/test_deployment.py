"""What applying a set of definitions would change."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foliot.domain.deployment import Action, Changes, Current, Declared, compare
from foliot.domain.difference import Difference
from foliot.domain.edit import create
from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.job import DEFAULT_PROJECT, Job, JobSpec, Options
from foliot.domain.rename import possible_renames, renamed_schedule_id, renamed_spec
from foliot.domain.schedule import ScheduleSpec, anchored
from foliot.domain.workflow.conditions import Condition
from foliot.domain.workflow.jobs import jobs_of
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.testing import builders
from foliot.testing.clock import START
from tests.domain.deployments import changes_nothing

A, B, C = JobId("a"), JobId("b"), JobId("c")


def job(command: str = "true", **fields: Any) -> JobSpec:
    return JobSpec(kind="shell", spec={"command": command}, **{"source": "file", **fields})


def every(seconds: int, job_id: JobId | None = A, **fields: Any) -> ScheduleSpec:
    return builders.every(seconds, **{"job_id": job_id, "source": "file", **fields})


def stored(spec: ScheduleSpec) -> ScheduleSpec:
    return anchored(spec, START)


def actions(changes: Changes) -> Mapping[str, str]:
    jobs: dict[str, str] = {change.id: change.action.value for change in changes.jobs}
    return jobs | {change.id: change.action.value for change in changes.schedules}


def test_what_is_new_is_created() -> None:
    declared = Declared(jobs={A: job()}, schedules={ScheduleId("a:default"): every(60)})

    changes = compare(declared, Current())

    assert actions(changes) == {"a": "created", "a:default": "created"}
    assert changes.jobs_to_put == declared.jobs
    assert changes.schedules_to_put == declared.schedules


def test_what_is_equal_stays_as_it_is() -> None:
    declared = Declared(jobs={A: job()}, schedules={ScheduleId("a:default"): every(60)})
    current = Current(jobs={A: job()}, schedules={ScheduleId("a:default"): stored(every(60))})

    changes = compare(declared, current)

    assert actions(changes) == {"a": "unchanged", "a:default": "unchanged"}
    assert changes_nothing(changes)


def test_a_change_names_the_fields_that_differ() -> None:
    before = job("old", options=Options(priority=1), description="x")

    [change] = compare(Declared(jobs={A: job("new")}), Current(jobs={A: before})).jobs

    assert change.action is Action.CHANGED
    assert change.fields == (
        Difference("command", "old", "new"),
        Difference("description", "x", None),
        Difference("priority", 1, None),
    )


def test_values_that_may_be_secret_are_not_shown() -> None:
    before, after = (JobSpec(kind="shell", spec={"command": "x", "env": {"KEY": word}}, source="file") for word in "ab")

    [change] = compare(Declared(jobs={A: after}), Current(jobs={A: before})).jobs

    assert change.fields == (Difference("env.KEY", "***", "***"),)


def test_a_payload_is_one_value() -> None:
    before, after = (job(payload_template={"days": days, "to": "me"}) for days in (1, 7))

    [change] = compare(Declared(jobs={A: after}), Current(jobs={A: before})).jobs

    assert change.fields == (Difference("payload_template", {"days": 1, "to": "me"}, {"days": 7, "to": "me"}),)


def test_lists_and_tuples_are_the_same_once_they_are_stored() -> None:
    before, after = (JobSpec(kind="shell", spec={"argv": words}, source="file") for words in (["ls"], ("ls",)))

    assert changes_nothing(compare(Declared(jobs={A: after}), Current(jobs={A: before})))


@pytest.mark.parametrize("paused", [True, False])
def test_whether_a_schedule_is_paused_is_no_change(paused: bool) -> None:
    name = ScheduleId("a:default")
    current = Current(jobs={A: job()}, schedules={name: stored(every(60))}, paused=frozenset({name} if paused else ()))

    [change] = compare(Declared(jobs={A: job()}, schedules={name: every(60)}), current).schedules

    assert (change.action, change.paused) == (Action.UNCHANGED, paused)


def test_a_job_that_is_gone_is_disabled_and_its_schedules_deleted() -> None:
    current = Current(jobs={A: job()}, schedules={ScheduleId("a:default"): stored(every(60))})

    changes = compare(Declared(), current)

    assert actions(changes) == {"a": "removed", "a:default": "removed"}
    assert changes.jobs_to_put == {A: job(enabled=False)}
    assert changes.schedules_to_delete == ["a:default"]


def test_a_job_that_was_gone_comes_back() -> None:
    [change] = compare(Declared(jobs={A: job()}), Current(jobs={A: job(enabled=False)})).jobs

    assert change.action is Action.CHANGED
    assert change.spec.enabled


def test_a_job_that_is_gone_already_is_not_mentioned_again() -> None:
    assert compare(Declared(), Current(jobs={A: job(enabled=False)})).jobs == ()


def test_what_others_have_defined_is_left_alone() -> None:
    name = ScheduleId("extra")
    current = Current(
        jobs={A: job(), B: job(source="app"), C: job(source="api")}, schedules={name: stored(every(60, source="api"))}
    )

    assert actions(compare(Declared(), current)) == {"a": "removed"}


def test_a_job_that_another_source_owns_is_refused() -> None:
    current = Current(jobs={A: job(source="app")})

    [refusal] = compare(Declared(jobs={A: job()}), current).refusals

    assert (refusal.what, refusal.id, refusal.owner) == ("job", "a", "app")
    assert refusal.message == 'job "a" is defined in the application\'s code'


def test_a_job_that_nobody_owns_is_taken_over() -> None:
    changes = compare(Declared(jobs={A: job()}), Current(jobs={A: job(source="api")}))

    assert changes.refusals == ()
    assert changes.jobs[0].fields == (Difference("source", None, "file"),)


def test_a_schedule_that_another_source_owns_is_refused() -> None:
    name = ScheduleId("a:default")
    current = Current(jobs={A: job()}, schedules={name: stored(every(60, source="app"))})

    [refusal] = compare(Declared(jobs={A: job()}, schedules={name: every(90)}), current).refusals

    assert (refusal.what, refusal.id, refusal.owner) == ("schedule", "a:default", "app")


# -- renaming


def test_a_renamed_job_brings_its_schedules_along() -> None:
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


def test_a_former_name_means_nothing_once_it_is_gone() -> None:
    changes = compare(Declared(jobs={B: job()}, renames={A: B}), Current(jobs={B: job()}))

    assert changes_nothing(changes)
    assert changes.renames == {}


def test_two_histories_are_kept_apart() -> None:
    changes = compare(Declared(jobs={B: job()}, renames={A: B}), Current(jobs={A: job(), B: job()}))

    assert changes.renames == {}
    assert changes.apart == {A: B}
    assert actions(changes) == {"a": "removed", "b": "unchanged"}


def test_a_job_of_another_source_is_not_renamed() -> None:
    [refusal] = compare(Declared(jobs={B: job()}, renames={A: B}), Current(jobs={A: job(source="app")})).refusals

    assert (refusal.id, refusal.owner) == ("a", "app")


def test_a_rename_that_would_take_the_name_of_another_schedule_is_refused() -> None:
    current = Current(
        jobs={A: job(), C: job()},
        schedules={ScheduleId("a:x"): stored(every(60)), ScheduleId("b:x"): stored(every(60, C))},
    )

    [refusal] = compare(Declared(jobs={B: job(), C: job()}, renames={A: B}), current).refusals

    assert refusal.id == "a:x"


def test_a_job_takes_the_name_of_one_that_is_renamed_itself() -> None:
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


# -- workflows


def flow(*steps: Step, **fields: Any) -> WorkflowSpec:
    return WorkflowSpec(steps=steps or (work("a"),), **{"source": "file", **fields})


def work(name: str, command: str = "true", after: Iterable[str] = (), **spec: Any) -> Step:
    definition = JobSpec(kind="shell", spec={"command": command, **spec}, source="file")
    return Step(name=name, definition=definition, after=tuple(Edge(parent=parent) for parent in after))


def test_a_new_workflow_is_created() -> None:
    changes = compare(Declared(workflows={"w": flow()}), Current())

    assert [(change.id, change.action) for change in changes.workflows] == [("w", Action.CREATED)]
    assert changes.workflows_to_put == {"w": flow()}
    assert not changes_nothing(changes)


def test_an_equal_workflow_stays_as_it_is() -> None:
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


def test_a_workflow_that_is_gone_is_disabled_and_its_schedules_deleted() -> None:
    name = ScheduleId("w:default")
    current = stored_workflow(flow(), schedules={name: stored(every(60, JobId("w")))})

    changes = compare(Declared(), current)

    assert [(change.id, change.action) for change in changes.workflows] == [("w", Action.REMOVED)]
    assert changes.workflows_to_put == {"w": flow(enabled=False)}
    assert changes.schedules_to_delete == [name]
    assert changes.jobs == (), "the jobs behind it are its own business"


def test_a_workflow_that_is_gone_already_or_defined_elsewhere_is_not_mentioned() -> None:
    current = Current(workflows={"gone": flow(enabled=False), "app": flow(source="app"), "api": flow(source="api")})

    assert compare(Declared(), current).workflows == ()


def test_a_workflow_that_was_gone_comes_back() -> None:
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
        (Declared(jobs={JobId("w.a"): job()}), 'job "w.a" is defined by a workflow, whose part it is'),
    ],
)
def test_a_job_and_a_workflow_do_not_become_each_other(declared: Declared, message: str) -> None:
    current = stored_workflow(flow(), jobs={A: job()})

    assert [refusal.message for refusal in compare(declared, current).refusals] == [message]


def stored_workflow(spec: WorkflowSpec, jobs: Mapping[JobId, JobSpec] | None = None, **fields: Any) -> Current:
    """What is stored when a workflow `w` has been registered."""
    return Current(jobs={**jobs_of("w", 1, spec), **(jobs or {})}, workflows={"w": spec}, **fields)


W, V = JobId("w"), JobId("v")


def test_a_workflow_gets_another_id_with_its_steps_and_schedules() -> None:
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


def test_a_workflow_takes_no_steps_of_another_along() -> None:
    other = {**jobs_of("w.b", 1, flow()), JobId("w.c"): job(), JobId("wa.a"): job(source="workflow")}
    current = replace(stored_workflow(flow(), jobs=other), workflows={"w": flow(), "w.b": flow()})

    changes = compare(
        Declared(workflows={"v": flow(), "w.b": flow()}, renames={W: V}, jobs={JobId("w.c"): job()}), current
    )

    assert changes.renames == {W: V, "w.a": "v.a"}


def test_a_workflow_whose_new_id_is_taken_stays_with_its_steps() -> None:
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
        (Declared(jobs={B: job()}, renames={JobId("w.a"): B}), 'job "w.a" is defined by a workflow'),
    ],
)
def test_what_is_no_workflow_of_ours_does_not_become_one(declared: Declared, message: str) -> None:
    current = stored_workflow(flow(source="app"), jobs={A: job()})

    [refusal, *_] = compare(declared, current).refusals

    assert refusal.message.startswith(message)


# -- schedules whose time is over


def test_a_schedule_that_cannot_fire_any_more_is_not_created() -> None:
    name = ScheduleId("a:default")

    assert compare(Declared(schedules={name: every(60)}, past=frozenset({name})), Current()).schedules == ()


def test_a_schedule_that_cannot_fire_any_more_is_kept_where_it_is_stored() -> None:
    name = ScheduleId("a:default")
    declared = Declared(schedules={name: every(60)}, past=frozenset({name}))

    assert changes_nothing(compare(declared, Current(schedules={name: stored(every(60))})))


def test_a_schedule_that_is_changed_to_one_that_cannot_fire_any_more_is_deleted() -> None:
    name = ScheduleId("a:default")
    declared = Declared(schedules={name: every(90)}, past=frozenset({name}))

    assert compare(declared, Current(schedules={name: stored(every(60))})).schedules_to_delete == [name]


def test_text_that_is_an_interval_is_compared_as_one() -> None:
    name = ScheduleId("a:default")
    spec = builders.cron("@every 60s", job_id=A, source="file")

    assert changes_nothing(compare(Declared(schedules={name: spec}), Current(schedules={name: stored(every(60))})))


def test_what_is_stored_is_read_from_jobs_and_schedules() -> None:
    name = ScheduleId("a:default")
    schedule = create(ScheduleUid("uid"), name, DEFAULT_PROJECT, every(60), START)
    the_job = Job(id=A, project=DEFAULT_PROJECT, spec=job(), revision=1, created_at=START, updated_at=START)

    current = Current.of([the_job], [schedule, schedule._replace(id=ScheduleId("p"), paused_at=START)])

    assert current.jobs == {A: job()}
    assert current.schedules[name].anchor is not None
    assert current.paused == {"p"}


# -- whatever there is and whatever is declared

IDS = st.sampled_from([A, B, C, JobId("d")])
FORMER = IDS | st.sampled_from([JobId("v"), JobId("w")])
FLOWS = st.dictionaries(
    st.sampled_from(["v", "w"]),
    st.builds(
        lambda steps, enabled, source: flow(*steps, enabled=enabled, source=source),
        st.sampled_from([(work("a"),), (work("a", "x"),), (work("a"), work("b", after=["a"]))]),
        st.booleans(),
        st.sampled_from(["file", "api"]),
    ),
)
JOBS = st.builds(job, st.sampled_from(["x", "y"]), enabled=st.booleans(), source=st.sampled_from(["file", "api"]))


@st.composite
def definitions(draw: st.DrawFn) -> tuple[dict[JobId, JobSpec], dict[ScheduleId, ScheduleSpec]]:
    jobs = draw(st.dictionaries(IDS, JOBS))
    schedules = {}
    for job_id in jobs:
        for name in draw(st.sets(st.sampled_from(["default", "noon"]))):
            source = draw(st.sampled_from(["file", "api"]))
            seconds = draw(st.sampled_from([60, 90]))
            schedules[ScheduleId(f"{job_id}:{name}")] = every(seconds, job_id, source=source)
    return jobs, schedules


@st.composite
def declarations(draw: st.DrawFn) -> Declared:
    jobs, schedules = draw(definitions())
    flows = draw(FLOWS)
    return Declared(
        jobs={job_id: replace(spec, source="file") for job_id, spec in jobs.items()},
        schedules={name: replace(spec, source="file") for name, spec in schedules.items()},
        renames=draw(st.dictionaries(FORMER, st.sampled_from(sorted({*jobs, *flows})))) if jobs or flows else {},
        past=frozenset(draw(st.sets(st.sampled_from(sorted(schedules))))) if schedules else frozenset(),
        workflows={name: replace(spec, source="file") for name, spec in flows.items()},
    )


@given(declarations(), definitions(), st.data())
def test_applying_gives_what_was_declared_and_comparing_again_finds_nothing(
    declared: Declared, there: tuple[dict[JobId, JobSpec], dict[ScheduleId, ScheduleSpec]], data: st.DataObject
) -> None:
    jobs, schedules = there
    paused = data.draw(st.sets(st.sampled_from(sorted(schedules)))) if schedules else set()
    workflows = data.draw(FLOWS)
    behind = {name: spec for flow_id, one in workflows.items() for name, spec in jobs_of(flow_id, 1, one).items()}
    current = Current(
        jobs={**behind, **jobs},
        workflows=workflows,
        schedules={name: stored(spec) for name, spec in schedules.items()},
        paused=frozenset(paused),
    )
    changes = compare(declared, current)
    if changes.refusals:
        return

    after = applied(changes, current)

    assert {job_id: after.jobs[job_id] for job_id in declared.jobs} == declared.jobs
    assert not any(
        spec.enabled
        for name, spec in after.jobs.items()
        if name not in declared.jobs and name not in declared.workflows and spec.source == "file"
    )
    assert not any(
        spec.enabled
        for name, spec in after.workflows.items()
        if name not in declared.workflows and spec.source == "file"
    )
    assert {name: after.workflows[name] for name in declared.workflows} == declared.workflows
    assert len(after.jobs) >= len(current.jobs), "no job is ever deleted"
    moved = [old for old in changes.renames if old in current.workflows and old not in after.workflows]
    assert not any(name.startswith(f"{old}.") for name in after.jobs for old in moved), "a step was left behind"
    wanted = {name: spec for name, spec in declared.schedules.items() if name not in declared.past}
    for name, spec in wanted.items():
        assert after.schedules[name].expr == spec.expr
    assert {name for name, spec in after.schedules.items() if spec.source == "file"} <= declared.schedules.keys()
    assert changes_nothing(compare(declared, after))


def applied(changes: Changes, current: Current) -> Current:
    """What is stored when the storage has done what the changes ask for."""
    jobs, schedules, paused = dict(current.jobs), dict(current.schedules), set(current.paused)
    workflows = dict(current.workflows)
    for rename in possible_renames(changes.renames, jobs.keys()):
        jobs[rename.new] = jobs.pop(rename.old)
        if rename.old in workflows:
            workflows[rename.new] = workflows.pop(rename.old)
        for old in [name for name, spec in schedules.items() if spec.target == rename.old]:
            new = renamed_schedule_id(old, rename)
            schedules[new] = renamed_spec(schedules.pop(old), old, rename)
            paused = {new if name == old else name for name in paused}
    jobs |= changes.jobs_to_put
    for name, spec in changes.schedules_to_put.items():
        schedules[name] = anchored(spec, START, schedules.get(name))
    for name in changes.schedules_to_delete:
        del schedules[name]
    workflows |= changes.workflows_to_put
    for workflow_id, workflow in workflows.items():
        jobs |= jobs_of(workflow_id, 1, workflow)
    return Current(jobs=jobs, workflows=workflows, schedules=schedules, paused=frozenset(paused & schedules.keys()))
