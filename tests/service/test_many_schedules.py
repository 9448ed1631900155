"""Schedules with a shared specification: it is checked once, and every schedule is checked."""

import pytest

from foliot.domain.ids import ScheduleId
from foliot.domain.instant import MINUTE
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.errors import InvalidInput, InvalidSchedule
from foliot.service.commands.schedules import ScheduleService
from foliot.service.services import Services
from foliot.testing.builders import REPORT, a_job_spec, cron, every, once
from foliot.testing.conformance.storage.scene import Scene


@pytest.fixture
async def schedules(services: Services, scene: Scene) -> ScheduleService:
    await scene.storage.definitions.put_jobs([(REPORT, a_job_spec())])
    return services.schedules


def named(spec: ScheduleSpec, *names: str) -> dict[ScheduleId, ScheduleSpec]:
    return {ScheduleId(name): spec for name in names}


async def test_every_id_is_checked_if_schedules_share_a_specification(schedules: ScheduleService, scene: Scene) -> None:
    with pytest.raises(InvalidSchedule, match="'no name' is not a valid name"):
        await schedules.put(named(every(60), "a", "b", "no name"))

    assert await scene.storage.definitions.page_schedules() == []


async def test_an_invalid_shared_specification_is_reported_for_its_first_schedule(schedules: ScheduleService) -> None:
    right, wrong = named(every(60), "a", "b"), named(every(0), "c", "d")

    with pytest.raises(InvalidInput, match="schedule 'c': every must be"):
        await schedules.put(right | wrong)


async def test_all_schedules_that_are_over_are_reported(
    schedules: ScheduleService, scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    past = once(scene.after(-MINUTE))

    stored = await schedules.declare(named(past, "a", "b") | named(every(60), "c", "d"))

    assert [schedule.id for schedule in stored] == ["c", "d"]
    assert [getattr(record, "schedule", "") for record in caplog.records] == ["a", "b"]


async def test_schedules_with_the_same_h_expression_have_different_times(
    schedules: ScheduleService,
) -> None:
    names = [f"s{number}" for number in range(20)]

    stored = await schedules.put(named(cron("H H * * *"), *names))

    assert len({schedule.next_run_at for schedule in stored}) > 10
