"""Steps have the planned time of their execution."""

from datetime import datetime, timedelta

import pytest

from foliot import Foliot, Workflow, current_run
from foliot.domain.instant import to_datetime
from foliot.testing.clock import START
from foliot.testing.inline import InlineEngine

ONE_O_CLOCK = to_datetime(START) + timedelta(hours=1)


@pytest.fixture
def told() -> list[datetime | None]:
    return []


@pytest.fixture
def app(told: list[datetime | None]) -> Foliot:
    app = Foliot()
    flow = Workflow("etl")
    flow.step("here", lambda: told.append(current_run().scheduled_for))
    flow.step("there", shell="echo at $FOLIOT_SCHEDULED_FOR").after("here")
    app.workflow(flow)
    return app


async def test_all_steps_have_the_planned_time_of_the_tick(app: Foliot, told: list[datetime | None]) -> None:
    app.schedule("hourly", "etl", cron="0 * * * *")

    async with InlineEngine(app) as engine:
        await engine.advance(timedelta(minutes=90))
        await engine.join()
        [there] = await app.runs.page(job="etl.there")
        printed = await app.runs.output(there.id)

    assert (told, printed) == ([ONE_O_CLOCK], b"at 2026-01-01T01:00:00Z\n")
    assert there.scheduled_for == ONE_O_CLOCK


async def test_steps_of_an_unplanned_execution_have_no_planned_time(app: Foliot, told: list[datetime | None]) -> None:
    async with InlineEngine(app) as engine:
        await app.workflows.start("etl")
        await engine.join()
        [there] = await app.runs.page(job="etl.there")
        printed = await app.runs.output(there.id)

    assert (told, printed, there.scheduled_for) == ([None], b"at\n", None)


async def test_each_step_has_its_own_idempotency_key(app: Foliot) -> None:
    """The key of the tick belongs to the execution: two steps with one key would deduplicate each other."""
    keys: list[str] = []
    flow = Workflow("two")
    for name in ("a", "b"):
        flow.step(name, lambda: keys.append(current_run().idempotency_key))
    app.workflow(flow)
    app.schedule("hourly", "two", cron="0 * * * *")

    async with InlineEngine(app) as engine:
        await engine.advance(timedelta(minutes=90))
        await engine.join()
        runs = [run.id for name in ("a", "b") for run in await app.runs.page(job=f"two.{name}")]

    assert sorted(keys) == sorted(runs)
