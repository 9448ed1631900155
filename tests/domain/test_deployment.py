"""The changes of jobs and schedules in a deployment."""

import pytest
from msgspec.structs import replace

from foliot.domain.deploy.compare import compare
from foliot.domain.deploy.deployment import Action, Current, Declared
from foliot.domain.deploy.difference import Difference
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.job.job import DEFAULT_PROJECT, Job, JobSpec, Options
from foliot.domain.schedule.edit import create
from foliot.testing import builders
from foliot.testing.clock import START
from tests.domain.deployments import A, B, C, actions, changes_nothing, every, job, stored


def test_new_definitions_are_created() -> None:
    declared = Declared(jobs={A: job()}, schedules={ScheduleId("a:default"): every(60)})

    changes = compare(declared, Current())

    assert actions(changes) == {"a": "created", "a:default": "created"}
    assert changes.jobs_to_put == declared.jobs
    assert changes.schedules_to_put == declared.schedules


def test_equal_definitions_are_unchanged() -> None:
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


def test_differences_do_not_show_secrets() -> None:
    before, after = (JobSpec(kind="shell", spec={"command": "x", "env": {"KEY": word}}, source="file") for word in "ab")

    [change] = compare(Declared(jobs={A: after}), Current(jobs={A: before})).jobs

    assert change.fields == (Difference("env.KEY", "***", "***"),)


def test_a_payload_is_compared_as_one_value() -> None:
    before, after = (job(payload_template={"days": days, "to": "me"}) for days in (1, 7))

    [change] = compare(Declared(jobs={A: after}), Current(jobs={A: before})).jobs

    assert change.fields == (Difference("payload_template", {"days": 1, "to": "me"}, {"days": 7, "to": "me"}),)


def test_lists_and_tuples_are_equal_in_stored_form() -> None:
    before, after = (JobSpec(kind="shell", spec={"argv": words}, source="file") for words in (["ls"], ("ls",)))

    assert changes_nothing(compare(Declared(jobs={A: after}), Current(jobs={A: before})))


@pytest.mark.parametrize("paused", [True, False])
def test_a_pause_is_not_a_change_of_the_definition(paused: bool) -> None:
    name = ScheduleId("a:default")
    current = Current(jobs={A: job()}, schedules={name: stored(every(60))}, paused=frozenset({name} if paused else ()))

    [change] = compare(Declared(jobs={A: job()}, schedules={name: every(60)}), current).schedules

    assert (change.action, change.paused) == (Action.UNCHANGED, paused)


def test_a_job_that_is_no_longer_declared_is_disabled_and_its_schedules_are_deleted() -> None:
    current = Current(jobs={A: job()}, schedules={ScheduleId("a:default"): stored(every(60))})

    changes = compare(Declared(), current)

    assert actions(changes) == {"a": "removed", "a:default": "removed"}
    assert changes.jobs_to_put == {A: job(enabled=False)}
    assert changes.schedules_to_delete == ["a:default"]


def test_a_removed_job_that_is_declared_again_is_enabled() -> None:
    [change] = compare(Declared(jobs={A: job()}), Current(jobs={A: job(enabled=False)})).jobs

    assert change.action is Action.CHANGED
    assert change.spec.enabled


def test_a_disabled_job_that_is_not_declared_is_no_change() -> None:
    assert compare(Declared(), Current(jobs={A: job(enabled=False)})).jobs == ()


def test_definitions_of_other_sources_are_not_changed() -> None:
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


def test_a_job_without_an_owner_is_taken_over() -> None:
    changes = compare(Declared(jobs={A: job()}), Current(jobs={A: job(source="api")}))

    assert changes.refusals == ()
    assert changes.jobs[0].fields == (Difference("source", None, "file"),)


def test_a_schedule_that_another_source_owns_is_refused() -> None:
    name = ScheduleId("a:default")
    current = Current(jobs={A: job()}, schedules={name: stored(every(60, source="app"))})

    [refusal] = compare(Declared(jobs={A: job()}, schedules={name: every(90)}), current).refusals

    assert (refusal.what, refusal.id, refusal.owner) == ("schedule", "a:default", "app")


# -- expired schedules


def test_an_expired_schedule_is_not_created() -> None:
    name = ScheduleId("a:default")

    assert compare(Declared(schedules={name: every(60)}, past=frozenset({name})), Current()).schedules == ()


def test_an_expired_schedule_that_is_stored_is_kept() -> None:
    name = ScheduleId("a:default")
    declared = Declared(schedules={name: every(60)}, past=frozenset({name}))

    assert changes_nothing(compare(declared, Current(schedules={name: stored(every(60))})))


def test_a_schedule_changed_to_an_expired_one_is_deleted() -> None:
    name = ScheduleId("a:default")
    declared = Declared(schedules={name: every(90)}, past=frozenset({name}))

    assert compare(declared, Current(schedules={name: stored(every(60))})).schedules_to_delete == [name]


def test_an_interval_in_cron_text_is_compared_as_an_interval() -> None:
    name = ScheduleId("a:default")
    spec = builders.cron("@every 60s", job_id=A, source="file")

    assert changes_nothing(compare(Declared(schedules={name: spec}), Current(schedules={name: stored(every(60))})))


def test_current_is_built_from_stored_jobs_and_schedules() -> None:
    name = ScheduleId("a:default")
    schedule = create(ScheduleUid("uid"), name, DEFAULT_PROJECT, every(60), START)
    the_job = Job(id=A, project=DEFAULT_PROJECT, spec=job(), revision=1, created_at=START, updated_at=START)

    current = Current.of([the_job], [schedule, replace(schedule, id=ScheduleId("p"), paused_at=START)])

    assert current.jobs == {A: job()}
    assert current.schedules[name].anchor is not None
    assert current.paused == {"p"}
