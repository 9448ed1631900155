"""What a schedule shows: its rule, its times, whether it fires, and its latest ticks."""

from datetime import UTC, datetime, timedelta

import pytest

from foliot import Foliot
from foliot.domain.instant import HOUR, MINUTE, SECOND, from_datetime
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.service.services import Services
from foliot.testing.builders import NIGHTLY, REPORT, cron, every, once
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.inline import InlineEngine

AT_START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.proves("R1-12", "R4-18", "R4-20", "R4-21")
async def test_a_new_schedule_shows_its_rule_and_next_time(services: Services, scene: Scene) -> None:
    await scene.schedule(cron("0 3 * * *", timezone="Europe/Berlin"))

    view = await services.schedules.get(NIGHTLY)

    assert (view.schedule_id, view.job_id, view.schedule_type) == (NIGHTLY, REPORT, "cron")
    assert (view.schedule_expr, view.timezone) == ("0 3 * * *", "Europe/Berlin")
    assert (view.next_run_at, view.last_scheduled_at) == (AT_START + timedelta(hours=2), None)
    assert (view.enabled, view.paused) == (True, False)
    assert (view.overlap_policy, view.catchup_policy) == (Overlap.SKIP, Catchup.NONE)
    assert (view.created_at, view.updated_at) == (AT_START, AT_START)


@pytest.mark.proves("R1-12", "R1-61")
async def test_a_schedule_shows_the_last_time_for_which_it_created_a_run(services: Services, scene: Scene) -> None:
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    await scene.fire_after(MINUTE)
    await scene.fire_after(MINUTE + SECOND)

    shown = await services.schedules.get(NIGHTLY)
    [listed] = await services.queries.schedules.listed()

    assert shown.last_scheduled_at == listed.last_scheduled_at == AT_START + timedelta(minutes=2)
    assert shown.next_run_at == listed.next_run_at == AT_START + timedelta(minutes=3)


@pytest.mark.proves("R1-12", "R1-13")
async def test_a_schedule_that_is_over_is_shown_as_disabled(services: Services, scene: Scene) -> None:
    await scene.schedule(once(scene.after(MINUTE)))
    assert (await services.schedules.get(NIGHTLY)).enabled

    await scene.fire_after(MINUTE)

    shown = await services.schedules.get(NIGHTLY)
    [listed] = await services.queries.schedules.listed()
    assert (shown.enabled, listed.enabled) == (False, False)
    assert (shown.next_run_at, shown.preview) == (None, [])


@pytest.mark.proves("R4-22")
async def test_an_edit_changes_the_shown_update_time_and_a_fired_tick_does_not(
    services: Services, scene: Scene
) -> None:
    await scene.schedule(every(60))
    await scene.fire_after(MINUTE)
    assert (await services.schedules.get(NIGHTLY)).updated_at == AT_START

    await scene.schedule(every(90))

    shown = await services.schedules.get(NIGHTLY)
    assert (shown.created_at, shown.updated_at) == (AT_START, AT_START + timedelta(minutes=1))


@pytest.mark.proves("R4-11", "R4-17", "R4-25", "R4-28")
async def test_an_upsert_returns_the_same_id_and_the_first_of_five_previewed_times() -> None:
    app = Foliot()
    app.shell("job", "true")
    clock = VirtualClock(from_datetime(datetime(2026, 3, 26, 12, tzinfo=UTC)))
    async with InlineEngine(app, clock):
        first, again = [
            await app.schedules.upsert("nightly", job_id="job", cron="30 2 * * *", timezone="Europe/Berlin")
            for _ in range(2)
        ]
        view = await app.schedules.get("nightly")
        listed = await (await app.open()).queries.schedules.listed()

    # Berlin's clocks went from 02:00 to 03:00 on 29 March 2026.
    expected = ["27T01:30", "28T01:30", "29T01:00", "30T00:30", "31T00:30"]
    assert [moment.strftime("%dT%H:%M") for moment in view.preview] == expected
    assert (first, first.schedule_id) == (again, "nightly")
    assert first.next_run_at == view.next_run_at == view.preview[0]
    assert view.preview[0].utcoffset() == timedelta(0)
    assert [one.schedule_id for one in listed] == ["nightly"]


@pytest.mark.proves("R4-05", "R4-56")
async def test_a_schedule_page_has_the_next_five_times_and_the_latest_ticks_with_their_runs(
    services: Services, scene: Scene
) -> None:
    await scene.schedule(every(3_600, overlap=Overlap.ALLOW))
    runs = [run_id for _ in range(3) for run_id in await scene.fire_after(HOUR)]

    page = await services.queries.schedules.page(NIGHTLY)

    assert page.schedule.preview == [AT_START + timedelta(hours=hours) for hours in (4, 5, 6, 7, 8)]
    assert [tick.run_id for tick in page.ticks] == runs[::-1]
    assert [tick.scheduled_for for tick in page.ticks] == [AT_START + timedelta(hours=hours) for hours in (3, 2, 1)]
    assert [tick.status for tick in page.ticks] == ["queued"] * 3
