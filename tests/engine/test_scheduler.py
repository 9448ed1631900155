"""The scheduler, beyond rules and policies: jitter, pauses, edits, launches, concurrency, crashes."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from foliot.domain.ids import JobId, ScheduleUid
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, Millis, later, to_iso
from foliot.domain.job.job import JobSpec
from foliot.domain.run.run import NewRun
from foliot.domain.schedule.firing import Firing, SchedulerSettings, TickStart
from foliot.domain.schedule.project_pause import PauseOrder
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.domain.schedule.tick import JitterMode, jitter_offset, tick_key
from foliot.domain.schedule.tick_run import make_run
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.scheduler import scheduler as scheduler_module
from foliot.ports.storage import Storage
from foliot.testing.builders import NIGHTLY, REPORT, cron, every, once
from foliot.testing.clock import START, VirtualClock
from foliot.testing.conformance.storage.scene import Another
from foliot.testing.simulation.faults import Crash, Faults
from tests.engine.rig import Rig


@pytest.mark.proves("R4-60")
def test_the_defaults_are_those_of_the_specification() -> None:
    scheduler = SchedulerSettings()

    assert (scheduler.poll, scheduler.lookahead, scheduler.max_catchup_per_tick) == (1_000, 60_000, 100)


# -- jitter


async def run_for(rig: Rig, span: int, step: int = SECOND) -> dict[Instant, Instant]:
    """Return the creation time of each run by planned time, with a round every `step`."""
    made: dict[Instant, Instant] = {}
    for _ in range(span // step):
        await rig.fire(step)
        for moment in await rig.planned_times():
            made.setdefault(moment, rig.clock.now())
    return made


@pytest.mark.proves("R4-43", "T14", "T7")
async def test_a_jittered_tick_fires_at_its_jittered_time(rig: Rig) -> None:
    await rig.schedule(every(60, jitter=Millis(20 * SECOND), overlap=Overlap.ALLOW))

    made = await run_for(rig, 5 * MINUTE)

    for moment, at in made.items():
        fire_at = moment + jitter_offset(tick_key(NIGHTLY, moment), Millis(20 * SECOND), every(60).jitter_mode)
        assert fire_at <= at < fire_at + SECOND
    assert len(made) >= 4


@pytest.mark.proves("T14")
async def test_a_restart_between_planning_and_firing_changes_nothing(
    rig: Rig, storage: Storage, clock: VirtualClock
) -> None:
    schedule = await rig.schedule(every(60, jitter=Millis(30 * SECOND), overlap=Overlap.ALLOW))
    await rig.fire(30 * SECOND)
    planned = (await storage.queries.ledgers(ids=[NIGHTLY]))[0].planned

    await run_for(Rig(storage, clock), 2 * MINUTE)

    fired = {tick.scheduled_for: tick.fire_at for tick in await rig.ticks(schedule.uid)}
    assert planned
    assert all(fired[moment] == fire_at for moment, fire_at, _ in planned)


@pytest.mark.proves("R4-43")
async def test_a_jittered_tick_never_fires_twice(rig: Rig) -> None:
    await rig.schedule(every(10, jitter=Millis(5 * SECOND), overlap=Overlap.ALLOW))

    await run_for(rig, 10 * MINUTE)

    planned = await rig.planned_times()
    assert len(planned) == len(set(planned)) >= 59


# -- pauses and edits


@pytest.mark.proves("R4-26", "T11", "T3")
async def test_a_pause_is_one_ledger_row_and_is_never_caught_up(rig: Rig) -> None:
    schedule = await rig.schedule(every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW))
    await rig.storage.definitions.pause_schedules([NIGHTLY], paused=True)
    await rig.fire(10 * MINUTE)
    assert await rig.runs() == []

    await rig.storage.definitions.pause_schedules([NIGHTLY], paused=False)
    await rig.fire()
    await rig.fire(MINUTE)

    assert await rig.outcomes(schedule.uid) == [("skipped", "paused", 10), ("ran", "on_time", 1)]


@pytest.mark.proves("T11", "T3")
async def test_a_pause_of_all_schedules_ends_by_itself_without_a_burst(rig: Rig) -> None:
    schedule = await rig.schedule(every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW))
    await rig.storage.definitions.pause_project(PauseOrder(later(rig.clock.now(), 10 * MINUTE)))
    await rig.fire(5 * MINUTE)
    assert await rig.runs() == []

    await rig.fire(5 * MINUTE)
    await rig.fire(MINUTE)

    assert await rig.outcomes(schedule.uid) == [
        ("skipped", "paused", 9),
        *[("ran", "on_time", 1)] * 2,
    ]


async def test_a_scheduler_waits_while_all_schedules_are_paused(rig: Rig) -> None:
    await rig.schedule(every(1))
    await rig.storage.definitions.pause_project(PauseOrder())
    rig.clock.advance(MINUTE)

    assert await rig.scheduler.round() == rig.settings.scheduler.poll


@pytest.mark.proves("T15", "R4-27")
async def test_a_deleted_schedule_never_fires_again(rig: Rig) -> None:
    await rig.schedule(every(60))
    await rig.storage.definitions.delete_schedules([NIGHTLY])

    await rig.fire(HOUR)

    assert await rig.runs() == []


@pytest.mark.proves("T15", "T1")
async def test_a_recreated_schedule_has_a_new_ledger(rig: Rig) -> None:
    first = await rig.schedule(every(60))
    await rig.fire(MINUTE)
    await rig.storage.definitions.delete_schedules([NIGHTLY])
    second = await rig.schedule(every(60))

    await rig.fire(MINUTE)

    assert first.uid != second.uid
    assert [len(await rig.ticks(uid)) for uid in (first.uid, second.uid)] == [1, 1]


@pytest.mark.proves("T15", "T2")
async def test_an_edit_during_a_backlog_loses_no_ticks(rig: Rig) -> None:
    await rig.schedule(every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW))
    rig.clock.advance(3 * MINUTE + 30 * SECOND)
    await rig.schedule(cron("*/5 * * * *", catchup=Catchup.ALL, overlap=Overlap.ALLOW))

    await rig.fire(7 * MINUTE)

    minutes = [(moment - START) // MINUTE for moment in await rig.planned_times()]
    assert minutes == [1, 2, 3, 5, 10]


async def test_a_disabled_job_skips_its_ticks(rig: Rig) -> None:
    schedule = await rig.schedule(every(60))
    await rig.storage.definitions.put_jobs([(REPORT, JobSpec(kind="stage", enabled=False))])

    await rig.fire(MINUTE)

    assert await rig.outcomes(schedule.uid) == [("skipped", "disabled", 1)]


# -- launching


@pytest.mark.proves("R4-44", "R4-66")
async def test_a_tick_of_a_missing_workflow_fails(rig: Rig) -> None:
    schedule = await rig.schedule(every(60, job_id=None, workflow_id="gone"))

    await rig.fire(MINUTE)

    assert await rig.outcomes(schedule.uid) == [("failed", "launch_failed", 1)]
    assert await rig.runs() == []


async def test_a_schedule_that_cannot_be_decided_does_not_stop_others(storage: Storage, clock: VirtualClock) -> None:
    def start_run(start: TickStart) -> NewRun | None:
        if start.tick.schedule_id == "broken":
            raise ValueError("its zone is gone")
        return make_run(start)

    rig = Rig(storage, clock, make_run=start_run)
    await rig.schedule(every(60), "broken")
    await rig.schedule(every(60), "sound")

    await rig.fire(MINUTE)

    assert [run.tick.schedule_id for run in await rig.runs() if run.tick] == ["sound"]


@pytest.mark.proves("T5")
async def test_a_schedule_that_could_not_be_decided_loses_no_tick(storage: Storage, clock: VirtualClock) -> None:
    broken = [True]

    def start_run(start: TickStart) -> NewRun | None:
        if broken[0]:
            raise ValueError("its zone is gone")
        return make_run(start)

    rig = Rig(storage, clock, make_run=start_run)
    await rig.schedule(every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW))
    await rig.fire(MINUTE)
    broken.clear()
    broken.append(False)

    await rig.fire(2 * MINUTE)

    assert await rig.planned_times() == [later(START, minute * MINUTE) for minute in (1, 2, 3)]


class Moody:
    """Makes runs, but fails until it is repaired."""

    def __init__(self) -> None:
        self.is_broken = True
        self.asked = 0

    def __call__(self, start: TickStart) -> NewRun | None:
        self.asked += 1
        if self.is_broken:
            raise ValueError("its zone is gone")
        return make_run(start)


@pytest.mark.proves("T2", "T5")
async def test_ticks_due_while_a_schedule_could_not_be_decided_are_not_missed(
    storage: Storage, clock: VirtualClock
) -> None:
    moody = Moody()
    rig = Rig(storage, clock, make_run=moody)
    schedule = await rig.schedule(every(3_600, catchup=Catchup.NONE))
    await rig.fire(HOUR)
    moody.is_broken = False

    await rig.fire(MINUTE)

    assert await rig.outcomes(schedule.uid) == [("ran", "caught_up", 1)]


@pytest.mark.proves("T2", "T14")
async def test_a_jittered_tick_that_could_not_be_decided_is_not_lost(storage: Storage, clock: VirtualClock) -> None:
    moody = Moody()
    rig = Rig(storage, clock, make_run=moody)
    jitter = {"jitter": Millis(20 * SECOND), "jitter_mode": JitterMode.AFTER}
    await rig.schedule(every(3_600, catchup=Catchup.ALL, **jitter))
    await run_for(rig, HOUR + 30 * SECOND, 10 * SECOND)
    assert (moody.asked, await rig.planned_times()) == (1, [])
    moody.is_broken = False

    await run_for(rig, 2 * MINUTE)

    assert await rig.planned_times() == [later(START, HOUR)]


async def test_a_schedule_that_cannot_be_decided_is_retried_after_a_minute(
    storage: Storage, clock: VirtualClock
) -> None:
    moody = Moody()
    rig = Rig(storage, clock, make_run=moody)
    await rig.schedule(every(3_600))

    assert await rig.fire(HOUR) == SECOND
    await rig.fire(MINUTE - 1)
    assert moody.asked == 1
    await rig.fire(1)

    assert moody.asked == 2


# -- rivals, crashes, clocks


async def decide(rig: Rig) -> tuple[list[Firing], Callable[[], Any]]:
    """Return a function that saves later what the scheduler decides now."""
    caught: list[Sequence[Firing]] = []
    settle = rig.storage.ledger.commit_firings

    async def hold(firings: Sequence[Firing], **_: Any) -> list[ScheduleUid]:
        caught.append(firings)
        return []

    rig.storage.ledger.commit_firings = hold  # type: ignore[method-assign]
    await rig.scheduler.round()
    rig.storage.ledger.commit_firings = settle  # type: ignore[method-assign]
    return list(caught[0]), lambda: settle(caught[0])


@pytest.mark.proves("R4-51", "R4-46", "T1", "L6")
async def test_one_of_two_concurrent_schedulers_saves_its_decision(
    rig: Rig, another: Another, clock: VirtualClock
) -> None:
    rival = Rig(await another(), clock)
    schedule = await rig.schedule(every(60))
    clock.advance(MINUTE)
    _, save = await decide(rig)
    _, save_too = await decide(rival)

    assert await save() == [schedule.uid]
    assert await save_too() == []

    assert len(await rig.runs()) == len(await rig.ticks(schedule.uid)) == 1


@pytest.mark.proves("L6", "T15")
async def test_a_decision_from_before_an_edit_is_not_saved(rig: Rig) -> None:
    schedule = await rig.schedule(every(60))
    rig.clock.advance(MINUTE)
    _, save = await decide(rig)
    await rig.schedule(every(3_600))

    assert await save() == []

    assert await rig.ticks(schedule.uid) == []


@pytest.mark.proves("T5", "R4-04")
@pytest.mark.parametrize(("side", "runs"), [("before", 0), ("after", 1)])
async def test_a_crash_at_the_commit_saves_all_or_nothing(rig: Rig, faults: Faults, side: str, runs: int) -> None:
    schedule = await rig.schedule(every(60))
    before = await rig.stored()
    faults.arm(Crash(), point=f"{side}_commit")

    with pytest.raises(Crash):
        await rig.fire(MINUTE)

    assert faults.last_point == f"commit_firings.{side}_commit"
    assert len(await rig.runs()) == len(await rig.ticks(schedule.uid)) == runs
    assert ((await rig.stored()).next_run_at == before.next_run_at) is (runs == 0)


@pytest.mark.proves("R4-46", "T5")
@pytest.mark.parametrize("side", ["before", "after"])
async def test_a_scheduler_started_after_a_crash_fires_the_tick_once(
    rig: Rig, faults: Faults, storage: Storage, clock: VirtualClock, side: str
) -> None:
    await rig.schedule(every(60))
    faults.arm(Crash(), point=f"{side}_commit")
    with pytest.raises(Crash):
        await rig.fire(MINUTE)

    await Rig(storage, clock).fire()
    await Rig(storage, clock).fire()

    assert await rig.planned_times() == [later(START, MINUTE)]


@pytest.mark.proves("T6")
async def test_a_clock_set_back_repeats_no_tick_and_is_silent_for_the_length_of_the_step(rig: Rig) -> None:
    await rig.schedule(every(60))
    await rig.fire(10 * MINUTE)
    await rig.work()
    watermark = (await rig.stored()).next_run_at

    rig.clock.step(-5 * MINUTE)
    await rig.fire(MINUTE)
    assert (await rig.stored()).next_run_at == watermark
    await rig.fire(5 * MINUTE)

    assert await rig.planned_times() == [later(START, 10 * MINUTE), later(START, 11 * MINUTE)]


async def test_a_full_batch_is_followed_by_the_next_immediately(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler_module, "BATCH", 2)
    for number in range(3):
        await rig.schedule(every(60), f"s{number}")

    assert await rig.fire(MINUTE) == IMMEDIATELY
    assert await rig.fire() == SECOND

    assert len(await rig.runs()) == 3


async def test_the_first_runs_are_saved_while_others_are_still_decided(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_module, "_FIRST_PART", 1)
    monkeypatch.setattr(scheduler_module, "PART", 2)
    for number in range(9):
        await rig.schedule(every(60), f"s{number}")
    commit = rig.storage.ledger.commit_firings
    under_way: list[int] = []
    most = 0

    async def commit_later(firings: Sequence[Firing], **named: Any) -> list[ScheduleUid]:
        nonlocal most
        under_way.append(len(firings))
        most = max(most, len(under_way))
        await asyncio.sleep(0)
        saved = await commit(firings, **named)
        under_way.pop()
        return saved

    monkeypatch.setattr(rig.storage.ledger, "commit_firings", commit_later)
    await rig.fire(MINUTE)

    assert len(await rig.runs()) == 9
    assert most == 2


async def test_a_stopped_round_saves_no_more_firings(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler_module, "_FIRST_PART", 1)
    monkeypatch.setattr(scheduler_module, "PART", 1)
    for number in range(5):
        await rig.schedule(every(60), f"s{number}")
    begun = ended = 0

    async def never_saved(firings: Sequence[Firing], **named: Any) -> list[ScheduleUid]:
        nonlocal begun, ended
        begun += 1
        try:
            await asyncio.Event().wait()
        finally:
            ended += 1
        return []

    monkeypatch.setattr(rig.storage.ledger, "commit_firings", never_saved)
    stopped = asyncio.create_task(rig.fire(MINUTE))
    while begun < 2:
        await asyncio.sleep(0)
    stopped.cancel()
    await asyncio.wait([stopped])
    while ended < begun:
        await asyncio.sleep(0)

    assert begun == 2


@pytest.mark.proves("R4-65")
async def test_the_scheduler_wakes_exactly_at_the_next_fire_time(rig: Rig) -> None:
    await rig.schedule(once(later(START, HOUR)))

    assert await rig.fire(HOUR - 700) == 700


@pytest.mark.proves("R4-65")
async def test_the_sleep_of_the_scheduler_is_reduced_by_the_time_of_the_round(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    await rig.schedule(once(later(START, HOUR)))
    next_wake = rig.storage.ledger.next_wake

    async def answer_slowly(**named: Any) -> Instant | None:
        rig.clock.advance(300)
        return await next_wake(**named)

    monkeypatch.setattr(rig.storage.ledger, "next_wake", answer_slowly)

    assert await rig.fire(HOUR - 700) == 400


async def test_a_tick_that_did_not_run_is_logged_with_its_reason(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.stage.answer = None
    await rig.schedule(every(60, overlap=Overlap.SKIP))
    with caplog.at_level(logging.INFO):
        await rig.fire(MINUTE)
        await rig.claim()
        await rig.fire(MINUTE)

    told = [vars(record) for record in caplog.records if record.message == "tick_not_run"]
    assert [(one["schedule"], one["outcome"], one["reason"], one["count"]) for one in told] == [
        (NIGHTLY, "skipped", "overlap", 1)
    ]
    assert told[0]["scheduled_for"] == to_iso(later(START, 2 * MINUTE))


async def test_refused_decisions_are_not_repeated_immediately(rig: Rig) -> None:
    await rig.schedule(every(60))
    rig.clock.advance(MINUTE)

    async def refuse(firings: Sequence[Firing], **_: Any) -> list[ScheduleUid]:
        return []

    rig.storage.ledger.commit_firings = cast(Any, refuse)  # type: ignore[method-assign]

    assert await rig.scheduler.round() == SECOND


async def test_an_idle_scheduler_writes_nothing(rig: Rig, faults: Faults) -> None:
    await rig.schedule(once(later(START, HOUR)))
    faults.arm(AssertionError("a commit"), point="before_commit")

    await rig.fire(MINUTE)

    assert faults.last_point is None


async def test_deleting_a_job_ends_its_schedules(rig: Rig) -> None:
    await rig.schedule(every(60))
    await rig.storage.definitions.delete_jobs([JobId(REPORT)])

    await rig.fire(HOUR)

    assert await rig.runs() == []
