"""A definition is changed only by its owner; any caller may pause it."""

import pytest

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType
from foliot.errors import NotFound, OwnedElsewhere
from foliot.service.services import Services

A, B = JobId("a"), JobId("b")
DAILY = ScheduleId("a:default")


def a_spec(source: str, command: str = "true") -> JobSpec:
    return JobSpec(kind="shell", spec={"command": command}, source=source)


def daily(source: str, expr: str = "0 9 * * *") -> ScheduleSpec:
    return ScheduleSpec(type=ScheduleType.CRON, expr=expr, job_id=A, source=source)


@pytest.fixture
async def owned(services: Services, request: pytest.FixtureRequest) -> Services:
    """A job and a schedule from the configuration file."""
    await services.jobs.put({A: a_spec("file"), B: a_spec("file")})
    await services.schedules.put({DAILY: daily("file")})
    return services


async def test_all_definitions_of_another_owner_are_in_one_error(owned: Services) -> None:
    with pytest.raises(OwnedElsewhere) as refused:
        await owned.jobs.put({A: a_spec("api"), B: a_spec("app"), JobId("c"): a_spec("api")})

    assert refused.value.code == "owned_elsewhere"
    assert 'job "a" is defined in the configuration file' in refused.value.message
    assert 'job "b" is defined in the configuration file' in refused.value.message
    assert "configuration file" in refused.value.hint
    assert set(await owned.storage.definitions.get_jobs([A, B, JobId("c")])) == {A, B}


async def test_an_owner_changes_its_definitions(owned: Services) -> None:
    [job] = await owned.jobs.put({A: a_spec("file", "false")})

    assert job.spec.spec == {"command": "false"}


async def test_a_definition_without_an_owner_can_be_taken_over(services: Services) -> None:
    await services.jobs.put({A: a_spec("api")})

    [job] = await services.jobs.put({A: a_spec("file")})

    assert job.spec.source == "file"


async def test_a_schedule_is_changed_only_by_its_owner_and_deleted_only_by_force(owned: Services) -> None:
    with pytest.raises(OwnedElsewhere, match='schedule "a:default" is defined in the configuration file'):
        await owned.schedules.upsert(DAILY, job_id=A, cron="@hourly")
    with pytest.raises(OwnedElsewhere):
        await owned.schedules.delete(DAILY)

    assert (await owned.schedules.record(DAILY)).revision.spec == daily("file")
    await owned.schedules.delete(DAILY, force=True)
    with pytest.raises(NotFound):
        await owned.schedules.record(DAILY)


async def test_an_owned_job_is_deleted_only_by_force(owned: Services) -> None:
    with pytest.raises(OwnedElsewhere):
        await owned.jobs.delete(A)
    await owned.jobs.delete(A, force=True)

    assert await owned.storage.definitions.get_schedules([DAILY]) == {}
    with pytest.raises(NotFound, match='Did you mean "b"'):
        await owned.jobs.delete("bb")


@pytest.mark.parametrize("source", ["workflow", "foliot"])
async def test_a_definition_owned_by_foliot_is_not_deleted_by_force(services: Services, source: str) -> None:
    await services.storage.definitions.put_jobs([(A, a_spec(source))])

    for force in (False, True):
        with pytest.raises(OwnedElsewhere) as refused:
            await services.jobs.delete(A, force=force)
        assert "--force" not in refused.value.hint

    assert set(await services.storage.definitions.get_jobs([A])) == {A}


@pytest.mark.proves("R4-02")
async def test_any_caller_may_pause_and_resume_a_schedule(owned: Services) -> None:
    await owned.schedules.pause(DAILY, True)
    assert (await owned.schedules.record(DAILY)).paused_at is not None

    await owned.jobs.pause(A, False)
    assert (await owned.schedules.record(DAILY)).paused_at is None


async def test_pausing_a_job_pauses_all_its_schedules_and_no_others(owned: Services) -> None:
    await owned.schedules.put({ScheduleId("mine"): daily("api", "@hourly")})
    await owned.schedules.upsert("others", job_id=B, cron="@daily")

    paused = await owned.jobs.pause(A)

    assert sorted(paused) == [DAILY, "mine"]
    assert (await owned.schedules.record("others")).paused_at is None
    with pytest.raises(NotFound):
        await owned.jobs.pause("nobody")
