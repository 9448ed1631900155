"""Jobs and schedules that their definition disables, with either word: enabled or paused."""

from datetime import timedelta
from typing import Any, cast

import pytest

from foliot import Foliot
from foliot.errors import InvalidSchedule
from foliot.testing.inline import InlineEngine

BOTH_WORDS = [{"enabled": False}, {"paused": True}]


async def outcomes(app: Foliot, schedule_id: str) -> list[tuple[str, str]]:
    return [(tick.outcome, tick.reason) for tick in await app.schedules.ticks(schedule_id)]


@pytest.mark.parametrize("given", BOTH_WORDS)
async def test_a_disabled_schedule_skips_its_ticks_and_others_of_the_job_fire(given: Any) -> None:
    app = Foliot()
    app.shell("job", "true")
    app.schedule("off", "job", cron="@hourly", **given)
    app.schedule("on", "job", cron="@hourly", overlap="allow")
    async with InlineEngine(app) as engine:
        await engine.advance(timedelta(hours=1))

        view = await app.schedules.get("off")
        assert await outcomes(app, "off") == [("skipped", "disabled")]
        assert await outcomes(app, "on") == [("ran", "on_time")]
    assert (view.enabled, view.paused, view.next_run_at, view.preview) == (False, False, None, [])


@pytest.mark.parametrize("given", BOTH_WORDS)
async def test_a_disabled_job_skips_the_ticks_of_all_its_schedules(given: Any) -> None:
    app = Foliot()
    app.shell("command", "true", **given)
    app.job(id="function", **given)(lambda: None)
    for name in ("command", "function"):
        app.schedule(f"{name}-hourly", name, cron="@hourly")
    async with InlineEngine(app) as engine:
        await engine.advance(timedelta(hours=1))

        assert [await outcomes(app, f"{name}-hourly") for name in ("command", "function")] == [
            [("skipped", "disabled")]
        ] * 2


@pytest.mark.parametrize("given", BOTH_WORDS)
async def test_a_deployed_trigger_can_be_disabled_and_enabled_again(given: dict[str, bool]) -> None:
    trigger = {"type": "schedule_based", "cron_expr": "@hourly"}
    flow = {"id": "etl", "triggers": [{**trigger, **given}], "steps": [{"name": "a", "approve": True}]}
    app = Foliot()
    async with InlineEngine(app) as engine:
        await app.workflows.deploy(flow)
        await app.workflows.deploy(await app.workflows.document("etl"))
        await engine.advance(timedelta(hours=1))
        await app.workflows.deploy({**flow, "triggers": [trigger]})
        await engine.advance(timedelta(hours=1))

        assert await outcomes(app, "etl:default") == [("ran", "on_time"), ("skipped", "disabled")]


def test_a_word_that_is_no_truth_value_is_refused_by_the_name_that_was_written() -> None:
    app = Foliot()
    app.shell("job", "true")

    with pytest.raises(InvalidSchedule, match="paused 'yes' is not true or false"):
        app.schedule("s", "job", cron="@hourly", **cast(Any, {"paused": "yes"}))
