"""Many schedules with one call: as with single calls, in one transaction, and all or none."""

from typing import Any

import pytest

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.input.typed import UpsertManyOptions
from foliot.domain.schedule.schedule import Overlap, ScheduleSpec, ScheduleType
from foliot.errors import InvalidInput, InvalidSchedule, NotFound, OwnedElsewhere
from foliot.service.services import Services
from foliot.testing.builders import REPORT
from foliot.testing.conformance.storage.scene import Scene

HOURLY: UpsertManyOptions = {"job_id": REPORT, "cron": "@hourly"}


@pytest.fixture(autouse=True)
async def jobs(scene: Scene) -> None:
    await scene.job(REPORT)


async def stored(services: Services) -> dict[str, ScheduleSpec]:
    return {one.id: one.revision.spec for one in await services.storage.definitions.page_schedules()}


async def test_many_schedules_are_stored_as_single_calls_store_them(services: Services) -> None:
    options: dict[str, dict[str, Any]] = {
        "a": {"job_id": REPORT, "every": 60, "overlap": "queue", "payload": {"n": 1}},
        "b": {"job_id": REPORT, "cron": "0 9 * * *", "timezone": "Europe/Berlin", "jitter": "5m"},
        "c": {"workflow_id": "etl", "user_id": "ann", "manual": True},
    }

    many = await services.schedules.upsert_many(options)  # type: ignore[arg-type]  # plain dicts

    kept = await stored(services)
    single = [await services.schedules.upsert(f"{name}-alone", **given) for name, given in options.items()]
    alone = await stored(services)
    assert [one.schedule_id for one in many] == ["a", "b", "c"]
    assert [one.next_run_at for one in many] == [one.next_run_at for one in single]
    assert [kept[name] for name in options] == [alone[f"{name}-alone"] for name in options]


async def test_equal_options_of_different_types_are_read_separately(services: Services) -> None:
    with pytest.raises(InvalidSchedule, match="version") as refused:
        await services.schedules.upsert_many({"a": {**HOURLY, "version": 1}, "b": {**HOURLY, "version": True}})

    assert "schedule 'b'" in str(refused.value)


async def test_the_error_about_a_missing_job_names_each_schedule(services: Services) -> None:
    with pytest.raises(NotFound) as refused:
        await services.schedules.upsert_many({name: {**HOURLY, "job_id": "gone"} for name in "cdabefg"})

    assert str(refused.value).startswith("schedule 'a', 'b', 'c', 'd', 'e' and 2 more: job 'gone' does not exist")


async def test_schedules_that_exist_are_changed_or_stay_as_they_are(services: Services) -> None:
    await services.schedules.upsert_many({"a": HOURLY, "b": HOURLY})
    before = await services.storage.definitions.get_schedules([ScheduleId("a"), ScheduleId("b")])

    await services.schedules.upsert_many({"a": HOURLY, "b": {**HOURLY, "overlap": "allow"}, "c": HOURLY})

    after = await services.storage.definitions.get_schedules([ScheduleId("a"), ScheduleId("b"), ScheduleId("c")])
    assert after[ScheduleId("a")] == before[ScheduleId("a")]
    assert [one.revision.number for one in after.values()] == [1, 2, 1]
    assert after[ScheduleId("b")].revision.spec.overlap is Overlap.ALLOW


async def test_each_schedule_may_be_paused_or_resumed(services: Services) -> None:
    await services.schedules.upsert_many({"a": HOURLY, "b": {**HOURLY, "paused": True}})
    await services.schedules.upsert_many(
        {"a": {**HOURLY, "enabled": False}, "b": {**HOURLY, "paused": False}, "c": {**HOURLY, "paused": True}}
    )

    found = await services.storage.definitions.page_schedules()
    assert {one.id: one.paused_at is not None for one in found} == {"a": True, "b": False, "c": True}


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"job_id": REPORT, "cron": "61 * * * *"}, "61"),
        ({"job_id": REPORT}, "one rule"),
        ({"job_id": REPORT, "every": 60, "payload": {1, 2}}, "payload"),
        ({"job_id": REPORT, "every": 60, "oops": 1}, "oops"),
        ({"job_id": REPORT, "every": 60, "paused": 1}, "paused"),
        ({"job_id": REPORT, "every": 60, "paused": True, "enabled": False}, "same option"),
        ({"job_id": "nobody", "every": 60}, "nobody"),
        (7, "a dict"),
    ],
)
async def test_one_refused_schedule_refuses_all_and_is_named(services: Services, options: Any, fact: str) -> None:
    with pytest.raises((InvalidInput, NotFound), match=fact) as refused:
        await services.schedules.upsert_many({"first": HOURLY, "second": options, "third": HOURLY})

    assert "schedule 'second'" in str(refused.value)
    assert await stored(services) == {}


async def test_an_invalid_id_refuses_all(services: Services) -> None:
    for bad in ("", "a b", 7, None):
        with pytest.raises(InvalidInput):
            await services.schedules.upsert_many({"first": HOURLY, bad: HOURLY})  # type: ignore[dict-item]

    assert await stored(services) == {}


@pytest.mark.parametrize("given", [None, 7, ["a"], {f"schedule-{number}": HOURLY for number in range(10_001)}])
async def test_anything_but_a_dict_of_at_most_ten_thousand_is_refused(services: Services, given: Any) -> None:
    with pytest.raises(InvalidSchedule):
        await services.schedules.upsert_many(given)

    assert await stored(services) == {}


async def test_no_schedules_are_accepted(services: Services) -> None:
    assert await services.schedules.upsert_many({}) == []


async def test_a_declared_schedule_is_not_changed(services: Services) -> None:
    declared = ScheduleSpec(type=ScheduleType.INTERVAL, expr="60", job_id=JobId(REPORT), source="file")
    await services.schedules.put({ScheduleId("a"): declared})

    with pytest.raises(OwnedElsewhere):
        await services.schedules.upsert_many({"a": HOURLY, "b": HOURLY})

    assert list(await stored(services)) == ["a"]
