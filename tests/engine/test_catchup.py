"""Catch-up policies: what happens to ticks missed while no scheduler ran."""

import pytest

from foliot.domain.ids import RunId
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Millis, later
from foliot.domain.schedule.firing import SchedulerSettings
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.domain.schedule.tick import tick_key
from foliot.ports.storage import Storage
from foliot.testing.builders import NIGHTLY, cron, every
from foliot.testing.clock import START, VirtualClock
from tests.engine.rig import Rig


@pytest.mark.proves("R4-40", "R4-48", "T2")
async def test_catchup_none_starts_no_run_for_missed_ticks(rig: Rig) -> None:
    schedule = await rig.schedule(every(60, catchup=Catchup.NONE))

    await rig.fire(10 * MINUTE + 30 * SECOND)

    assert await rig.runs() == []
    assert await rig.outcomes(schedule.uid) == [("missed", "down", 10)]
    assert (await rig.stored()).next_run_at == later(START, 11 * MINUTE)


async def test_a_tick_within_the_grace_period_is_not_missed(rig: Rig) -> None:
    schedule = await rig.schedule(every(60, catchup=Catchup.NONE))

    await rig.fire(MINUTE + 4 * SECOND)

    assert await rig.outcomes(schedule.uid) == [("ran", "on_time", 1)]


@pytest.mark.proves("R4-48")
async def test_catchup_once_runs_the_latest_missed_tick_for_all(rig: Rig) -> None:
    schedule = await rig.schedule(every(60, catchup=Catchup.ONCE))

    await rig.fire(10 * MINUTE + 30 * SECOND)

    assert await rig.planned_times() == [later(START, 10 * MINUTE)]
    ticks = await rig.ticks(schedule.uid)
    assert [(tick.outcome, tick.count, tick.into) for tick in ticks] == [
        ("coalesced", 9, later(START, 10 * MINUTE)),
        ("ran", 1, None),
    ]


@pytest.mark.proves("R4-41", "R4-48", "T9")
async def test_catchup_all_fires_each_missed_tick_with_its_planned_time(rig: Rig) -> None:
    await rig.schedule(every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW))

    await rig.fire(10 * MINUTE)

    assert await rig.planned_times() == [later(START, minute * MINUTE) for minute in range(1, 11)]


@pytest.mark.proves("T9", "R4-59", "R4-60")
async def test_a_round_creates_at_most_the_cap_of_runs_and_loses_none(storage: Storage, clock: VirtualClock) -> None:
    rig = Rig(storage, clock, scheduler=SchedulerSettings(max_catchup_per_tick=3))
    await rig.schedule(every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW))
    made = []

    clock.advance(10 * MINUTE)
    for _ in range(5):
        before = len(await rig.runs())
        await rig.fire(SECOND)
        made.append(len(await rig.runs()) - before)

    assert made == [3, 3, 3, 1, 0]
    assert await rig.planned_times() == [later(START, minute * MINUTE) for minute in range(1, 11)]


@pytest.mark.proves("R4-59", "T2")
async def test_a_month_of_missed_seconds_is_one_ledger_row(rig: Rig) -> None:
    schedule = await rig.schedule(cron("* * * * * *", catchup=Catchup.NONE))

    await rig.fire(30 * DAY)

    outcomes = await rig.outcomes(schedule.uid)
    assert outcomes[0] == ("missed", "down", 30 * DAY // SECOND - 6)
    assert len(outcomes) <= 7


@pytest.mark.proves("R4-42", "R4-48")
async def test_catchup_spread_distributes_missed_ticks_and_keeps_their_keys(rig: Rig) -> None:
    await rig.schedule(every(60, catchup=Catchup.SPREAD, overlap=Overlap.ALLOW))
    rig.clock.advance(6 * MINUTE + 30 * SECOND)
    started: dict[RunId, int] = {}

    for second in range(60):
        await rig.fire(0 if second == 0 else SECOND)
        for run in await rig.runs():
            started.setdefault(run.id, second)

    missed = [(run, run.tick) for run in await rig.runs() if run.tick and run.tick.scheduled_for < START + 7 * MINUTE]
    assert [started[run.id] for run, _ in missed] == [0, 10, 20, 30, 40, 50]
    assert [tick.key for _, tick in missed] == [
        tick_key(NIGHTLY, later(START, minute * MINUTE)) for minute in range(1, 7)
    ]


async def test_a_tick_older_than_the_catchup_age_is_missed(rig: Rig) -> None:
    spec = every(60, catchup=Catchup.ALL, catchup_max_age=Millis(3 * MINUTE), overlap=Overlap.ALLOW)
    schedule = await rig.schedule(spec)

    await rig.fire(10 * MINUTE + 30 * SECOND)

    assert (await rig.outcomes(schedule.uid))[0] == ("missed", "too_old", 7)
    assert await rig.planned_times() == [later(START, minute * MINUTE) for minute in range(8, 11)]


@pytest.mark.proves("T9")
async def test_catching_up_slowly_never_makes_a_tick_too_old(storage: Storage, clock: VirtualClock) -> None:
    """The age is checked when the backlog is found, so that a slow catch-up does not make ticks too old."""
    rig = Rig(storage, clock, scheduler=SchedulerSettings(max_catchup_per_tick=1))
    spec = every(60, catchup=Catchup.ALL, catchup_max_age=Millis(HOUR), overlap=Overlap.ALLOW)
    await rig.schedule(spec)

    clock.advance(HOUR - 6 * MINUTE)
    for _ in range(10):
        await rig.fire(6 * MINUTE)

    planned = await rig.planned_times()
    assert planned == [later(START, minute * MINUTE) for minute in range(1, 11)]


@pytest.mark.proves("R4-48", "R4-50")
async def test_a_restarted_scheduler_continues_from_the_database(
    rig: Rig, storage: Storage, clock: VirtualClock
) -> None:
    await rig.schedule(every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW))
    await rig.fire(MINUTE)

    restarted = Rig(storage, clock)
    await restarted.fire(3 * MINUTE)

    assert await rig.planned_times() == [later(START, minute * MINUTE) for minute in range(1, 5)]
