"""The promises of a storage about `due` and `commit_firings`."""

import pytest
from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Millis
from foliot.domain.run.run import Status, Tick
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.domain.schedule.tick import JitterMode, TickOutcome, TickReason, tick_key
from foliot.testing.builders import REPORT, a_schedule, every, once, succeeded
from foliot.testing.conformance.storage.runs import OUT_OF_RANGE
from foliot.testing.conformance.storage.scene import Contract, Scene


class FiringContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("R4-62")
    async def test_a_schedule_is_due_from_its_fire_time(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        scene.clock.advance(MINUTE - 1)
        assert (await scene.due()).schedules == []
        scene.clock.advance(1)

        batch = await scene.due()

        [due] = batch.schedules
        assert batch.now == scene.now
        assert (due.uid, due.id, due.version) == (schedule.uid, schedule.id, schedule.version)
        assert (due.created_at, due.settled_until) == (schedule.created_at, schedule.settled_until)
        assert list(due.revisions) == [schedule.revision]
        assert (due.in_flight, list(due.pauses), list(due.planned), due.behind_since) == (0, [], [], None)

    async def test_due_schedules_are_read_with_their_jobs(self, scene: Scene) -> None:
        await scene.job(priority=3)
        await scene.schedule(every(60))
        scene.clock.advance(MINUTE)

        batch = await scene.due()

        assert batch.jobs == await scene.storage.definitions.get_jobs([REPORT])

    async def test_a_due_schedule_of_a_workflow_is_read_with_its_job(self, scene: Scene) -> None:
        job = await scene.job("etl", kind="workflow")
        await scene.schedule(every(60, job_id=None, workflow_id="etl"))
        scene.clock.advance(MINUTE)

        batch = await scene.due()

        assert batch.jobs == {job.id: job}

    async def test_due_schedules_are_read_earliest_first_up_to_the_limit(self, scene: Scene) -> None:
        for name, seconds in (("a", 50), ("b", 30), ("c", 40)):
            await scene.schedule(every(seconds), schedule_id=name)
        scene.clock.advance(MINUTE)

        assert [due.id for due in (await scene.due()).schedules] == ["b", "c", "a"]
        assert [due.id for due in (await scene.due(limit=2)).schedules] == ["b", "c"]

    async def test_reading_due_schedules_changes_nothing(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        scene.clock.advance(MINUTE)

        first = await scene.due()

        assert await scene.due() == first

    @pytest.mark.proves("R1-44", "R1-61", "T4", "T5")
    async def test_tick_run_and_watermark_are_saved_together(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        moment = scene.clock.advance(MINUTE)
        [firing] = await scene.decide()

        assert await scene.settle(firing) == [schedule.uid]

        [run_id] = await scene.ready()
        [tick] = await scene.ticks(schedule.uid)
        stored = await scene.stored()
        assert (tick.scheduled_for, tick.outcome, tick.run_id) == (moment, TickOutcome.RAN, run_id)
        assert (stored.settled_until, stored.last_scheduled_at) == (moment, moment)
        assert stored.next_run_at == stored.wake_at == scene.after(MINUTE)
        assert stored.version > schedule.version
        assert (await scene.due()).schedules == []

    @pytest.mark.proves("R1-18", "R4-23", "R4-67", "R4-72")
    async def test_a_run_has_the_tick_it_was_created_for(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, payload={"a": 1}))
        moment = scene.after(MINUTE)
        [run_id] = await scene.fire_after(MINUTE + SECOND)

        run = await scene.run(run_id)
        [claim] = await scene.claim()

        tick = Tick(schedule.uid, schedule.id, moment, tick_key(schedule.id, moment))
        assert (run.tick, claim.tick) == (tick, tick)
        assert (run.status, run.job_id, run.payload, run.trigger) == (Status.QUEUED, REPORT, {"a": 1}, "schedule")

    @pytest.mark.proves("R1-60")
    async def test_a_run_keeps_the_options_its_job_had_at_creation(self, scene: Scene) -> None:
        await scene.job(queue="old", priority=2)
        await scene.schedule(every(60))
        [run_id] = await scene.fire_after(MINUTE)

        await scene.job(queue="new", priority=9)

        run = await scene.run(run_id)
        assert (run.queue, run.priority) == ("old", 2)

    @pytest.mark.proves("L6", "R4-46", "T1")
    async def test_a_firing_is_saved_once(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, overlap=Overlap.ALLOW))
        scene.clock.advance(MINUTE)
        [firing] = await scene.decide()
        await scene.settle(firing)
        before = await scene.stored()

        assert await scene.settle(firing) == []

        assert await scene.stored() == before
        assert len(await scene.ticks(schedule.uid)) == len(await scene.ready()) == 1

    @pytest.mark.proves("L6", "T15")
    async def test_a_firing_decided_before_an_edit_is_not_saved_after_it(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        scene.clock.advance(MINUTE)
        [firing] = await scene.decide()
        edited = await scene.schedule(every(120))

        assert await scene.settle(firing) == []
        assert await scene.stored() == edited
        assert (await scene.ticks(schedule.uid), await scene.ready()) == ([], [])

    @pytest.mark.proves("L6")
    async def test_a_firing_decided_before_a_pause_is_not_saved_after_it(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        scene.clock.advance(MINUTE)
        [firing] = await scene.decide()
        await scene.pause(paused=True)

        assert await scene.settle(firing) == []
        assert await scene.ready() == []

    @pytest.mark.proves("L6")
    async def test_a_firing_of_a_deleted_schedule_is_not_saved(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        scene.clock.advance(MINUTE)
        [firing] = await scene.decide()
        await scene.storage.definitions.delete_schedules([schedule.id], at=scene.now)

        assert await scene.settle(firing) == []
        assert await scene.ready() == []

    @pytest.mark.proves("L6", "T10")
    async def test_a_firing_decided_before_the_running_run_ended_is_saved_and_starts(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.QUEUE))
        await scene.fire_after(MINUTE)
        [claim] = await scene.claim()
        scene.clock.advance(MINUTE)
        [firing] = await scene.decide()
        await scene.finish(succeeded(claim))

        await scene.settle(firing)
        await scene.storage.admission.admit(100, at=scene.now)

        # The new run was decided to wait for a run that has ended meanwhile: it must not wait forever.
        assert await scene.ready() == [run.id for run in firing.runs]

    @pytest.mark.proves("L6")
    async def test_a_batch_saves_current_firings_and_returns_them(self, scene: Scene) -> None:
        stale = await scene.schedule(every(60), schedule_id="a")
        fresh = await scene.schedule(every(60), schedule_id="b")
        scene.clock.advance(MINUTE)
        firings = await scene.decide()
        await scene.schedule(every(90), schedule_id="a")

        assert await scene.settle(*firings) == [fresh.uid]
        assert await scene.ticks(stale.uid) == []

    @pytest.mark.proves("T5")
    async def test_an_unstorable_firing_does_not_fail_its_batch(self, scene: Scene) -> None:
        bad = await scene.schedule(every(60), schedule_id="a")
        good = await scene.schedule(every(60), schedule_id="b")
        scene.clock.advance(MINUTE)
        firings = {firing.uid: firing for firing in await scene.decide()}
        firings[bad.uid].runs[0] = replace(firings[bad.uid].runs[0], due_at=OUT_OF_RANGE)

        assert await scene.settle(*firings.values()) == [good.uid]

        assert await scene.ticks(bad.uid) == []
        assert (await scene.stored(bad.id)).settled_until == bad.settled_until
        assert len(await scene.ticks(good.uid)) == len(await scene.ready()) == 1

    async def test_a_firing_without_runs_keeps_last_scheduled_at(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.SKIP))
        await scene.fire_after(MINUTE)
        ran_at = scene.now

        await scene.fire_after(MINUTE)

        assert (await scene.stored()).last_scheduled_at == ran_at

    @pytest.mark.proves("R4-40", "T2")
    async def test_a_long_downtime_is_one_ledger_row(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(1, catchup=Catchup.NONE))

        await scene.fire_after(30 * 24 * HOUR)

        missed = (await scene.ticks(schedule.uid))[0]
        assert (missed.outcome, missed.reason, missed.run_id) == (TickOutcome.MISSED, TickReason.DOWN, None)
        assert missed.count == (missed.until - missed.scheduled_for) // SECOND + 1 > 2_000_000

    @pytest.mark.proves("R4-59", "T9")
    async def test_a_capped_catch_up_continues_where_it_stopped(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW))
        scene.clock.advance(150 * MINUTE)
        first = await scene.fire()
        behind = await scene.stored()
        scene.clock.advance(SECOND)

        second = await scene.fire()

        assert (len(first), len(second)) == (100, 50)
        assert behind.behind_since == scene.now - SECOND
        assert (await scene.stored()).behind_since is None
        assert [tick.outcome for tick in await scene.ticks(schedule.uid)] == [TickOutcome.RAN] * 150

    @pytest.mark.proves("R4-42", "T14")
    async def test_planned_ticks_are_stored(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, catchup=Catchup.SPREAD, overlap=Overlap.ALLOW))
        scene.clock.advance(3 * MINUTE + 30 * SECOND)
        [firing] = await scene.decide()
        await scene.settle(firing)

        [ledger] = await scene.storage.queries.ledgers()

        assert len(firing.planned) == 2
        assert sorted(ledger.planned) == sorted(firing.planned)
        assert (await scene.stored()).wake_at == firing.wake_at
        assert await scene.ticks(schedule.uid) == firing.ticks

    @pytest.mark.proves("R4-42", "T2")
    async def test_a_planned_tick_is_replaced_by_its_outcome(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, catchup=Catchup.SPREAD, overlap=Overlap.ALLOW))
        scene.clock.advance(3 * MINUTE + 30 * SECOND)
        await scene.fire()

        for _ in range(6):
            await scene.fire_after(10 * SECOND)

        [ledger] = await scene.storage.queries.ledgers()
        assert list(ledger.planned) == []
        assert [tick.outcome for tick in await scene.ticks(schedule.uid)] == [TickOutcome.RAN] * 4

    @pytest.mark.proves("R4-42", "T15")
    async def test_an_edit_does_not_change_the_rule_of_a_planned_tick(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, catchup=Catchup.SPREAD, overlap=Overlap.ALLOW))
        edited_at = scene.clock.advance(3 * MINUTE + 30 * SECOND)
        await scene.fire()
        anchor = schedule.created_at
        await scene.schedule(every(60, catchup=Catchup.SPREAD, overlap=Overlap.ALLOW, anchor=anchor))

        for _ in range(9):
            await scene.fire_after(10 * SECOND)

        ticks = [(tick.scheduled_for > edited_at, tick.revision) for tick in await scene.ticks(schedule.uid)]
        assert ticks == [(False, 1)] * 3 + [(True, 2)] * 2

    @pytest.mark.proves("R1-13")
    async def test_a_schedule_is_not_exhausted_while_its_last_tick_waits(self, scene: Scene) -> None:
        spec = once(scene.after(MINUTE), jitter=Millis(HOUR), jitter_mode=JitterMode.AFTER)
        schedule = await scene.schedule(spec)
        await scene.fire_after(MINUTE)
        waiting = await scene.stored()
        assert (waiting.next_run_at, waiting.enabled) == (None, True)

        assert waiting.wake_at is not None

        await scene.fire_after(waiting.wake_at - scene.now)

        assert [tick.outcome for tick in await scene.ticks(schedule.uid)] == [TickOutcome.RAN]
        assert (await scene.stored()).enabled is False

    @pytest.mark.proves("T15")
    async def test_the_planned_ticks_of_a_deleted_schedule_are_cancelled(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, catchup=Catchup.SPREAD, overlap=Overlap.ALLOW))
        scene.clock.advance(3 * MINUTE + 30 * SECOND)
        [firing] = await scene.decide()
        await scene.settle(firing)

        await scene.storage.definitions.delete_schedules([schedule.id], at=scene.now)

        ran, *dropped = await scene.ticks(schedule.uid)
        [ledger] = await scene.storage.queries.ledgers()
        assert (list(ledger.planned), ran.outcome) == ([], TickOutcome.RAN)
        assert [tick.scheduled_for for tick in dropped] == sorted(tick.scheduled_for for tick in firing.planned)
        assert {(tick.outcome, tick.reason) for tick in dropped} == {(TickOutcome.CANCELLED, TickReason.DELETED)}

    @pytest.mark.proves("T2", "T15")
    async def test_an_edit_during_a_backlog_loses_and_adds_no_ticks(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW))
        edited_at = scene.clock.advance(5 * MINUTE + 30 * SECOND)
        await scene.schedule(every(120, catchup=Catchup.ALL, overlap=Overlap.ALLOW, anchor=schedule.created_at))
        scene.clock.advance(5 * MINUTE)

        await scene.fire()

        minutes = [(tick.scheduled_for - schedule.created_at) // MINUTE for tick in await scene.ticks(schedule.uid)]
        assert minutes == [1, 2, 3, 4, 5, 6, 8, 10]
        numbers = {tick.scheduled_for > edited_at: tick.revision for tick in await scene.ticks(schedule.uid)}
        assert numbers == {False: 1, True: 2}

    @pytest.mark.proves("R4-66")
    async def test_a_due_schedule_of_a_missing_job_is_read_without_it(self, scene: Scene) -> None:
        orphan = a_schedule(every(60, job_id=JobId("ghost")))
        await scene.storage.definitions.put_schedules([orphan], at=scene.now)
        await scene.fire_after(MINUTE)

        [tick] = await scene.ticks(orphan.uid)

        assert (tick.outcome, tick.reason, tick.run_id) == (TickOutcome.FAILED, TickReason.LAUNCH_FAILED, None)

    @pytest.mark.proves("T6")
    async def test_a_clock_set_back_creates_no_ledger_row(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        await scene.fire_after(MINUTE)
        before = await scene.stored()

        scene.clock.step(-HOUR)

        assert await scene.fire() == []
        assert await scene.stored() == before
        assert len(await scene.ticks(schedule.uid)) == 1
