"""Schedules without a policy of their own have the defaults of the application, or of the server's configuration."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.config.settings import Configuration
from foliot.domain.instant import Millis
from foliot.domain.schedule.defaults import ScheduleDefaults
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.errors import InvalidDocument, InvalidSchedule
from foliot.interfaces.cli.server.process import Served, open_served
from foliot.testing.inline import InlineEngine

TRIGGER = {"type": "schedule_based", "cron_expr": "@hourly"}
FLOW = {
    "id": "etl",
    "triggers": [TRIGGER],
    "steps": [{"name": "a", "command": "true"}],
}


@pytest.fixture
async def app() -> AsyncIterator[Foliot]:
    app = Foliot(default_overlap="queue", default_catchup="all", default_jitter=5)
    app.shell("backup", "true")
    app.schedule("declared", "backup", cron="@hourly")
    async with InlineEngine(app):
        yield app


async def policies(app: Foliot, schedule_id: str) -> tuple[str, str, int]:
    view = await app.schedules.get(schedule_id)
    return view.overlap_policy, view.catchup_policy, view.jitter_ms


@pytest.mark.proves("R4-60")
async def test_an_upserted_schedule_has_the_defaults(app: Foliot) -> None:
    await app.schedules.upsert("s", job_id="backup", cron="@hourly")

    assert await policies(app, "s") == ("queue", "all", 5_000)


@pytest.mark.proves("R4-60")
async def test_the_schedules_of_a_deployed_workflow_have_the_defaults(app: Foliot) -> None:
    await app.workflows.deploy(FLOW)

    assert await policies(app, "etl:default") == ("queue", "all", 5_000)


@pytest.mark.proves("R4-60")
async def test_a_declared_schedule_has_the_defaults(app: Foliot) -> None:
    assert await policies(app, "declared") == ("queue", "all", 5_000)


@pytest.mark.proves("R4-60")
async def test_a_schedule_keeps_the_policies_that_it_gives(app: Foliot) -> None:
    given = {"overlap_policy": "skip", "catchup_policy": "none", "jitter_ms": 0}
    await app.schedules.upsert("s", job_id="backup", cron="@hourly", overlap="skip", catchup="none", jitter=0)
    await app.workflows.deploy({**FLOW, "triggers": [{**TRIGGER, **given}]})

    assert [await policies(app, name) for name in ("s", "etl:default")] == [("skip", "none", 0)] * 2


async def test_a_document_keeps_its_policies_in_an_application_with_defaults(app: Foliot) -> None:
    async with InlineEngine(plain := Foliot()):
        await plain.workflows.deploy(FLOW)
        document = await plain.workflows.document("etl")

    await app.workflows.deploy(document)

    assert await policies(app, "etl:default") == ("skip", "none", 0)


async def test_a_default_that_a_schedule_cannot_have_is_refused() -> None:
    app = Foliot(default_jitter="2h")
    async with InlineEngine(app):
        with pytest.raises(InvalidSchedule, match="jitter"):
            await app.schedules.upsert("s", workflow_id="etl", cron="@hourly")
        with pytest.raises(InvalidDocument, match="jitter"):
            await app.workflows.deploy(FLOW)


def test_an_invalid_default_is_refused_where_the_application_is_created() -> None:
    with pytest.raises(InvalidSchedule, match="default_overlap"):
        Foliot(default_overlap="often")  # type: ignore[arg-type]
    with pytest.raises(InvalidSchedule, match="option 'default_cron' does not exist"):
        Foliot(default_cron="@daily")  # type: ignore[call-arg]


@pytest.mark.proves("R4-60")
async def test_a_served_application_has_the_defaults_of_the_file_under_its_own(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db", default_overlap="queue")
    defaults = ScheduleDefaults(overlap=Overlap.ALLOW, catchup=Catchup.ONCE, jitter=Millis(7))
    served = Served(app, None, None, Configuration(schedule_defaults=defaults), frozenset())
    async with app:
        await open_served(served)
        await app.schedules.upsert("s", workflow_id="etl", cron="@hourly")

        assert await policies(app, "s") == ("queue", "once", 7)
