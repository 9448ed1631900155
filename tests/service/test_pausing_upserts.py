"""Creating and changing a schedule together with its pause."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.schedule.schedule import Schedule
from foliot.errors import InvalidSchedule
from foliot.ports.definitions import NewSchedule
from foliot.testing.inline import InlineEngine

HOURLY: dict[str, Any] = {"job_id": "job", "cron": "@hourly"}


@pytest.fixture
def app() -> Foliot:
    app = Foliot()
    app.job(id="job")(lambda: None)
    return app


@pytest.mark.proves("R4-25", "R4-26")
async def test_a_schedule_that_is_created_paused_does_not_fire(app: Foliot) -> None:
    async with InlineEngine(app) as engine:
        upserted = await app.schedules.upsert("s", **HOURLY, paused=True)
        await engine.advance(timedelta(hours=3))

        assert upserted.next_run_at is not None
        assert (await app.schedules.get("s")).paused
        assert await app.runs.page() == []


@pytest.mark.proves("R4-26")
@pytest.mark.parametrize(
    ("before", "asked", "after"), [(True, None, True), (False, None, False), (True, False, False), (False, True, True)]
)
async def test_an_upsert_keeps_a_schedule_paused_unless_paused_is_false(
    app: Foliot, before: bool, asked: bool | None, after: bool
) -> None:
    async with InlineEngine(app) as engine:
        await app.schedules.upsert("s", **HOURLY, paused=before)
        await app.schedules.upsert("s", job_id="job", cron="30 * * * *", paused=asked)
        await engine.advance(timedelta(hours=1))

        view = await app.schedules.get("s")
        assert (view.paused, view.cron_expr) == (after, "30 * * * *")
        assert len(await app.runs.page()) == (0 if after else 1)


@pytest.mark.proves("R4-26", "T3")
@pytest.mark.parametrize(("before", "asked"), [(False, True), (True, False)])
async def test_an_upsert_pauses_before_and_resumes_after_the_change(
    app: Foliot, monkeypatch: pytest.MonkeyPatch, before: bool, asked: bool
) -> None:
    """Pausing happens before the change, resuming after it."""
    was_paused: list[bool] = []
    async with InlineEngine(app):
        await app.schedules.upsert("s", **HOURLY, paused=before)
        definitions = (await app.open()).storage.definitions
        put = definitions.put_schedules

        async def look_first(new: Sequence[NewSchedule], *, expected: None) -> list[Schedule]:
            was_paused.append((await app.schedules.get("s")).paused)
            return await put(new, expected=expected)

        monkeypatch.setattr(definitions, "put_schedules", look_first)
        await app.schedules.upsert("s", job_id="job", cron="30 * * * *", paused=asked)

        assert was_paused == [True]
        assert (await app.schedules.get("s")).paused is asked


@pytest.mark.parametrize("paused", [1, "yes"])
async def test_a_paused_value_that_is_not_a_boolean_is_refused(app: Foliot, paused: Any) -> None:
    async with InlineEngine(app):
        with pytest.raises(InvalidSchedule, match="paused must be true or false"):
            await app.schedules.upsert("s", **HOURLY, paused=paused)

        assert await (await app.open()).storage.definitions.page_schedules() == []


@pytest.mark.parametrize("given", [{"enabled": False}, {"paused": True}])
async def test_upsert_accepts_enabled_in_place_of_paused(app: Foliot, given: Any) -> None:
    async with InlineEngine(app):
        await app.schedules.upsert("s", job_id="job", cron="@hourly", **given)
        assert (await app.schedules.get("s")).paused

        await app.schedules.upsert("s", job_id="job", cron="@hourly", enabled=True)
        assert not (await app.schedules.get("s")).paused

        with pytest.raises(InvalidSchedule, match="paused and enabled are the same option"):
            await app.schedules.upsert("s", job_id="job", cron="@hourly", enabled=True, paused=True)
