"""Which names change when a job is renamed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foliot.domain.deploy.rename import (
    Rename,
    jobs_named_by_job,
    jobs_named_by_workflow,
    limit_prefix,
    possible_renames,
    renamed_job,
    renamed_schedule_id,
    renamed_spec,
    renamed_workflow,
)
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import HOUR, MINUTE, later
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.tick import JitterMode
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.testing.builders import a_due_schedule, cron, every, fire
from foliot.testing.clock import START
from tests.cases import for_each

A, B, C = JobId("a"), JobId("b"), JobId("c")


@for_each(
    ("renames", "existing", "done"),
    [
        ({A: B}, {A}, [(A, B)]),
        ({A: B}, {B}, []),
        ({A: B}, set(), []),
        ({A: B}, {A, B}, []),
        ({A: A}, {A}, []),
        ({A: B, B: C}, {A, B}, [(B, C), (A, B)]),
        ({A: B, B: C}, {A, B, C}, []),
        ({A: B, B: A}, {A, B}, []),
        ({A: C, B: C}, {A, B}, [(A, C)]),
    ],
)
def test_only_existing_jobs_are_renamed_and_only_to_free_ids(
    renames: dict[JobId, JobId], existing: set[JobId], done: list[tuple[JobId, JobId]]
) -> None:
    assert possible_renames(renames, existing) == done


names = st.sampled_from([JobId(name) for name in "abcdef"])


@given(st.dictionaries(names, names), st.sets(names))
def test_when_all_new_ids_exist_no_rename_is_left_and_no_job_is_lost(
    renames: dict[JobId, JobId], existing: set[JobId]
) -> None:
    after = set(existing)
    for old, new in possible_renames(renames, existing):
        assert old in after
        assert new not in after
        after = after - {old} | {new}

    assert len(after) == len(existing)
    assert possible_renames(renames, after | set(renames.values())) == []


@pytest.mark.parametrize(
    ("name", "renamed"),
    [("a:default", "b:default"), ("a", "b"), ("a:x:y", "b:x:y"), ("ab:default", "ab:default"), ("nightly", "nightly")],
)
def test_a_schedule_named_after_its_job_is_renamed_with_it(name: str, renamed: str) -> None:
    assert renamed_schedule_id(ScheduleId(name), Rename(A, B)) == renamed


def test_a_renamed_schedule_keeps_the_seed_of_its_first_id() -> None:
    once = renamed_spec(every(60, job_id=A), ScheduleId("a:default"), Rename(A, B))
    twice = renamed_spec(once, ScheduleId("b:default"), Rename(B, C))

    assert (once.job_id, once.seed) == (B, "a:default")
    assert (twice.job_id, twice.seed) == (C, "a:default")


def test_a_schedule_that_keeps_its_id_has_no_seed() -> None:
    assert renamed_spec(cron("H * * * *", job_id=A), ScheduleId("nightly"), Rename(A, B)).seed == ""


def test_the_limit_prefix_of_a_job_matches_no_similar_key() -> None:
    assert limit_prefix(A) in '[["job:a",1]]'
    assert limit_prefix(A) not in '[["key:x\\"job:a",1],["key:[\\"job:a\\",",1],["job:ab",1]]'


@pytest.mark.proves("T14")
def test_a_tick_has_the_jitter_of_the_first_id_of_its_schedule() -> None:
    spec = every(3_600, anchor=START, jitter=30 * MINUTE, jitter_mode=JitterMode.AFTER)
    before = a_due_schedule(spec, id=ScheduleId("a:default"))
    after = a_due_schedule(replace(spec, seed="a:default"), id=ScheduleId("b:default"))
    other = a_due_schedule(spec, id=ScheduleId("b:default"))

    [planned], [again], [different] = (fire(due, later(START, HOUR)).planned for due in (before, after, other))

    assert again == planned
    assert different.fire_at != planned.fire_at


HANDED_ON = {A: B, B: C}


def gated(*names: JobId) -> JobSpec:
    return JobSpec(kind="shell", gate=Gate(depends_on=names, cooldown=MINUTE))


def test_definitions_that_name_renamed_jobs_get_all_new_ids() -> None:
    spec = WorkflowSpec(steps=(Step(name="x", job=A), Step(name="y", job=B), Step(name="z", definition=gated(B, A))))

    renamed = renamed_workflow(spec, HANDED_ON)

    assert renamed == WorkflowSpec(
        steps=(Step(name="x", job=B), Step(name="y", job=C), Step(name="z", definition=gated(C, B)))
    )
    assert renamed_job(gated(A, B), HANDED_ON) == gated(B, C)


def test_definitions_that_name_other_jobs_are_unchanged() -> None:
    spec = WorkflowSpec(steps=(Step(name="a", job=JobId("x")), Step(name="b", after=(Edge(parent="a"),))))

    assert renamed_workflow(spec, HANDED_ON) == spec
    assert renamed_job(gated(JobId("x")), HANDED_ON) == gated(JobId("x"))
    assert renamed_job(JobSpec(kind="shell"), HANDED_ON) == JobSpec(kind="shell")


def test_a_definition_names_what_its_gate_depends_on() -> None:
    spec = JobSpec(kind="shell", gate=Gate(depends_on=(JobId("a"), JobId("b"))))

    assert jobs_named_by_job(spec) == {"a", "b"}
    assert jobs_named_by_job(JobSpec(kind="shell")) == set()


def test_a_workflow_names_the_jobs_and_the_gates_of_its_steps() -> None:
    gated = JobSpec(kind="shell", gate=Gate(depends_on=(JobId("b"),)))
    spec = WorkflowSpec(steps=(Step(name="one", job=JobId("a")), Step(name="two", definition=gated)))

    assert jobs_named_by_workflow(spec) >= {"a", "b"}
    assert not jobs_named_by_workflow(spec) & {"one", "two"}
