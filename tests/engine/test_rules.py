"""When schedules fire: cron, interval, once and manual, through scheduler and storage."""

import pytest

from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, later
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.schedule.tick import tick_key
from foliot.testing.builders import NIGHTLY, cron, every, manual, once
from foliot.testing.clock import START
from tests.engine.rig import Rig


@pytest.mark.proves("R1-15", "R1-44", "R1-61", "R4-45", "T4", "T5")
async def test_a_cron_schedule_creates_a_run_and_advances(rig: Rig) -> None:
    schedule = await rig.schedule(cron("0 * * * *"))

    await rig.fire(HOUR)

    [run] = await rig.runs()
    assert run.tick is not None
    assert (run.tick.schedule_id, run.tick.scheduled_for) == (NIGHTLY, later(START, HOUR))
    assert run.tick.key == tick_key(NIGHTLY, later(START, HOUR))
    assert await rig.outcomes(schedule.uid) == [("ran", "on_time", 1)]
    stored = await rig.stored()
    assert (stored.last_scheduled_at, stored.next_run_at) == (later(START, HOUR), later(START, 2 * HOUR))


@pytest.mark.proves("T7", "R4-19")
async def test_a_schedule_does_not_fire_early(rig: Rig) -> None:
    await rig.schedule(cron("0 * * * *"))

    await rig.fire(HOUR - 1)
    assert await rig.runs() == []

    await rig.fire(1)
    assert len(await rig.runs()) == 1


@pytest.mark.proves("R4-65")
async def test_the_scheduler_sleeps_until_the_next_fire_time(rig: Rig) -> None:
    await rig.schedule(cron("0 * * * *"))

    assert await rig.fire(HOUR - 300) == 300


@pytest.mark.proves("R4-34", "R4-60")
async def test_the_scheduler_polls_at_least_once_per_tick_setting(rig: Rig) -> None:
    assert await rig.fire() == SECOND

    await rig.schedule(cron("0 * * * *"))

    assert await rig.fire() == SECOND


@pytest.mark.proves("R4-36")
async def test_a_cron_of_seconds_gives_sixty_ticks_a_minute(rig: Rig) -> None:
    await rig.schedule(cron("* * * * * *", overlap=Overlap.ALLOW))

    for _ in range(60):
        await rig.fire(SECOND)

    assert await rig.planned_times() == [later(START, second * SECOND) for second in range(1, 61)]


@pytest.mark.proves("R1-14")
async def test_an_interval_does_not_drift_however_late_it_is_noticed(rig: Rig) -> None:
    await rig.schedule(every(60, overlap=Overlap.ALLOW))

    for lateness in (0, 900, 1_800, 2_700):
        await rig.fire(MINUTE + 900 if lateness else MINUTE)

    planned = await rig.planned_times()
    assert [moment % MINUTE for moment in planned] == [0] * 4
    assert planned == [later(START, minute * MINUTE) for minute in range(1, 5)]


@pytest.mark.proves("R1-13")
async def test_a_once_schedule_fires_once_and_has_no_next_time(rig: Rig) -> None:
    await rig.schedule(once(later(START, HOUR)))

    await rig.fire(HOUR)
    await rig.fire(DAY)

    assert await rig.planned_times() == [later(START, HOUR)]
    stored = await rig.stored()
    assert (stored.next_run_at, stored.enabled) == (None, False)


async def test_a_manual_schedule_never_fires_by_itself(rig: Rig) -> None:
    await rig.schedule(manual())

    await rig.fire(30 * DAY)

    assert await rig.runs() == []
    assert (await rig.stored()).enabled


@pytest.mark.proves("R1-17")
async def test_a_job_may_have_many_schedules(rig: Rig) -> None:
    await rig.schedule(every(60), "one")
    await rig.schedule(every(60), "two")

    await rig.fire(MINUTE)

    assert {run.tick.schedule_id for run in await rig.runs() if run.tick} == {"one", "two"}


@pytest.mark.proves("R4-15", "R4-16", "R4-61", "R4-62", "R4-63")
async def test_ticks_fire_from_start_at_to_end_at_inclusive(rig: Rig) -> None:
    window = {"start_at": later(START, 2 * HOUR), "end_at": later(START, 3 * HOUR)}
    await rig.schedule(cron("0 * * * *", overlap=Overlap.ALLOW, **window))

    for _ in range(6):
        await rig.fire(HOUR)

    assert await rig.planned_times() == [later(START, 2 * HOUR), later(START, 3 * HOUR)]


@pytest.mark.proves("R4-03", "R4-70", "T13")
async def test_a_fixed_local_time_fires_once_on_a_day_with_a_clock_change(rig: Rig) -> None:
    spring = rig.clock.advance_to(later(START, 86 * DAY))  # 28 March 2026, the day before Berlin's clocks change
    await rig.schedule(cron("30 2 * * *", timezone="Europe/Berlin"))

    for _ in range(4 * 48):
        await rig.fire(15 * MINUTE)
        await rig.work()

    assert await rig.planned_times() == [later(spring, HOUR + 30 * MINUTE), later(spring, DAY + HOUR)]
