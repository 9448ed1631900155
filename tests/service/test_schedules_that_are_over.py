"""A declared schedule that is over is logged, and the others run."""

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.ids import ScheduleId
from foliot.domain.input.keywords import read_keywords
from foliot.domain.input.schedule import schedule_of
from foliot.domain.instant import DAY, Instant, to_datetime
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.vocabulary.places import UPSERT_CALL
from foliot.errors import InvalidInput, InvalidSchedule, NotFound, OwnedElsewhere
from foliot.service.queries.verify import verify
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock
from foliot.testing.inline import InlineEngine

NOW = to_datetime(VirtualClock().now())
DAYS = timedelta(days=1)
AGO = NOW - DAYS
S = ScheduleId("s")
HOURLY = {"cron_expr": "@hourly"}


@pytest.fixture
def app() -> Foliot:
    app = Foliot()
    app.job(id="job")(lambda: None)
    return app


def spec(source: str = "app", **fields: Any) -> Mapping[ScheduleId, ScheduleSpec]:
    read = read_keywords(UPSERT_CALL, {"job_id": "job", **fields})
    return {S: schedule_of(read, read.written, source=source)}


def logged(caplog: pytest.LogCaptureFixture) -> list[Any]:
    return [vars(record)["schedule"] for record in caplog.records if record.message == "schedule_ended"]


@pytest.fixture
async def declared(services: Services) -> Services:
    """Services with a job, as at the start of an application."""
    app = Foliot()
    app.job(id="job")(lambda: None)
    await app.open(services)
    return services


@pytest.mark.parametrize("past", [{"at": AGO}, {"cron": "@hourly", "end_at": AGO}])
async def test_a_schedule_that_is_over_does_not_stop_the_others_of_an_application(
    app: Foliot, caplog: pytest.LogCaptureFixture, past: dict[str, Any]
) -> None:
    app.schedule("launch", "job", **past)
    app.schedule("hourly", "job", cron="@hourly")

    async with InlineEngine(app) as engine:
        await engine.advance(timedelta(hours=1))

        assert [run.job_schedule_id for run in await app.runs.page()] == ["hourly"]
        with pytest.raises(NotFound):
            await app.schedules.get("launch")
    assert logged(caplog) == ["launch"]


async def test_a_schedule_that_is_over_is_logged_with_reason_and_hint(
    declared: Services, caplog: pytest.LogCaptureFixture
) -> None:
    await declared.schedules.declare(spec(**HOURLY, end_at=AGO))

    [record] = [record for record in caplog.records if record.message == "schedule_ended"]
    assert record.levelno == logging.WARNING
    assert vars(record)["problem"].startswith("it will not fire any more: end_at ")
    assert (vars(record)["is_stored"], vars(record)["hint"]) == (False, "Remove it, or give it a later time.")


async def test_a_one_shot_that_has_fired_may_stay_declared(
    declared: Services, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    once = spec(at=NOW + timedelta(hours=1))
    await declared.schedules.declare(once)
    clock.advance(DAY)

    [stored] = await declared.schedules.declare(once)

    assert (stored.revision.number, logged(caplog)) == (1, [])


async def test_a_one_shot_that_has_fired_may_be_changed(declared: Services, clock: VirtualClock) -> None:
    await declared.schedules.declare(spec(at=NOW + timedelta(hours=1)))
    clock.advance(DAY)

    [stored] = await declared.schedules.declare(spec(at=NOW + timedelta(hours=1), payload={"n": 2}))

    assert stored.revision.spec.payload == {"n": 2}


async def test_a_schedule_with_a_past_end_at_stops_firing(app: Foliot, caplog: pytest.LogCaptureFixture) -> None:
    app.schedule("s", "job", cron="@hourly")
    async with InlineEngine(app) as engine:
        await engine.advance(timedelta(hours=2))
        services = await app.open()
        await services.schedules.declare(spec(**HOURLY, end_at=AGO))
        await engine.advance(timedelta(hours=2))

        assert len(await app.runs.page()) == 2
        assert (await app.schedules.get("s")).next_run_at is None
        assert [report.findings async for report in verify(services.storage, Instant(0))] == [[]]
    assert logged(caplog) == ["s"]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"at": AGO, "job_id": "nobody"}, "'nobody' does not exist"),
        ({"cron_expr": "0 0 30 2 *"}, "never"),
        ({"cron_expr": "0 0 1 1 *", "start_at": NOW + 40 * DAYS, "end_at": NOW + 80 * DAYS}, "never fires"),
        ({"at": AGO, "payload": {"n": float("nan")}}, "payload"),
        ({"cron_expr": "@hourly", "end_at": AGO, "start_at": NOW}, "is after end_at"),
        ({"cron_expr": "@hourly", "end_at": AGO, "jitter_ms": -1}, "jitter_ms"),
    ],
)
async def test_an_invalid_declared_schedule_is_refused(declared: Services, wrong: dict[str, Any], error: str) -> None:
    with pytest.raises(Exception, match=error):
        await declared.schedules.declare(spec(**wrong))


async def test_a_declared_schedule_of_another_owner_is_refused(declared: Services) -> None:
    await declared.schedules.put(spec("file", **HOURLY))

    with pytest.raises(OwnedElsewhere):
        await declared.schedules.declare(spec(**HOURLY, end_at=AGO))


async def test_an_upsert_with_a_time_in_the_past_is_refused(declared: Services) -> None:
    with pytest.raises(InvalidSchedule, match="never fires"):
        await declared.schedules.upsert("s", job_id="job", at=AGO)
    with pytest.raises(InvalidInput, match="has passed"):
        await declared.schedules.put(spec(**HOURLY, end_at=AGO))
