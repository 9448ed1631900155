"""The promises of a storage about schedules."""

import pytest

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import HOUR, LATEST, MINUTE, SECOND
from foliot.domain.job.job import DEFAULT_PROJECT
from foliot.domain.run.run import Status
from foliot.domain.schedule import edit
from foliot.domain.schedule.schedule import Pause
from foliot.domain.schedule.tick import TickOutcome, TickReason
from foliot.errors import ChangedMeanwhile
from foliot.testing.builders import NIGHTLY, REPORT, a_schedule, cron, every, manual, once
from foliot.testing.conformance.storage.scene import Contract, Scene

STRANGER = ScheduleId("stranger")


class ScheduleContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("R4-02", "R4-18", "R4-25")
    async def test_a_new_schedule_is_stored_as_the_domain_builds_it(self, scene: Scene) -> None:
        new = a_schedule(every(60, payload={"a": [1, None]}, end_at=LATEST, jitter=1_000))

        [put] = await scene.storage.definitions.put_schedules([new], at=scene.now)

        assert put == edit.create(new.uid, new.id, DEFAULT_PROJECT, new.spec, scene.now)
        assert (put.paused_at, put.enabled, put.next_run_at) == (None, True, scene.after(MINUTE))
        assert await scene.stored() == put

    async def test_schedules_with_equal_specs_have_their_own_fire_times(self, scene: Scene) -> None:
        older = await scene.schedule(every(30), schedule_id="older")
        specs = [every(60, payload={"a": 1}), cron("H * * * *"), manual(), every(60, payload={"a": 2})]
        new = [a_schedule(spec, schedule_id=f"s{n}-{i}") for n in range(3) for i, spec in enumerate(specs)]

        put = await scene.storage.definitions.put_schedules(new, at=scene.now)

        alone = [edit.create(one.uid, one.id, DEFAULT_PROJECT, one.spec, scene.now) for one in new]
        assert put == alone == [*(await scene.storage.definitions.get_schedules([one.id for one in new])).values()]
        assert len({one.next_run_at for one in put}) == 5
        ledgers = await scene.storage.queries.ledgers()
        assert {ledger.schedule.id: [*ledger.revisions] for ledger in ledgers} == {
            one.id: [one.revision] for one in [older, *put]
        }

    @pytest.mark.proves("R4-61")
    async def test_a_schedule_with_a_start_is_planned_from_there(self, scene: Scene) -> None:
        start_at = scene.after(HOUR)

        schedule = await scene.schedule(every(60, start_at=start_at))

        assert schedule.next_run_at == start_at

    @pytest.mark.proves("R4-11")
    async def test_putting_an_equal_definition_changes_nothing(self, scene: Scene) -> None:
        before = await scene.schedule(every(60))
        scene.clock.advance(MINUTE)

        after = await scene.schedule(every(60))

        assert after == before
        [ledger] = await scene.storage.queries.ledgers()
        assert len(ledger.revisions) == 1

    @pytest.mark.proves("A4")
    async def test_an_edit_of_another_revision_than_the_expected_one_stores_nothing(self, scene: Scene) -> None:
        put = scene.storage.definitions.put_schedules
        before = await scene.schedule(every(60))
        edited = [a_schedule(every(90), schedule_id=before.id)]

        with pytest.raises(ChangedMeanwhile):
            await put(edited, expected={before.id: before.revision.number + 1}, at=scene.now)
        with pytest.raises(ChangedMeanwhile):
            await put([a_schedule(every(90), schedule_id=STRANGER)], expected={STRANGER: 1}, at=scene.now)
        assert await scene.stored() == before

        after = await put(edited, expected={before.id: before.revision.number}, at=scene.now)
        assert await put(edited, expected={before.id: before.revision.number}, at=scene.now) == after

    @pytest.mark.proves("R4-02", "T15", "R4-22")
    async def test_an_edit_opens_a_revision_and_keeps_the_uid(self, scene: Scene) -> None:
        before = await scene.schedule(every(60))
        scene.clock.advance(SECOND)

        after = await scene.schedule(every(120))

        assert after == edit.edit(before, every(120), [before.revision], scene.now)
        assert (after.uid, after.revision.number) == (before.uid, 2)
        assert (before.updated_at, after.updated_at) == (scene.after(-SECOND), scene.now)
        assert await scene.stored() == after

    @pytest.mark.proves("T15")
    async def test_revisions_are_kept_for_the_ledger(self, scene: Scene) -> None:
        first = await scene.schedule(every(60))
        scene.clock.advance(SECOND)
        second = await scene.schedule(every(120))

        [ledger] = await scene.storage.queries.ledgers()

        assert list(ledger.revisions) == [first.revision, second.revision]

    async def test_several_schedules_are_put_in_one_call_and_returned_in_order(self, scene: Scene) -> None:
        await scene.schedule(every(60), schedule_id="b")
        wanted = [a_schedule(every(300), schedule_id=name) for name in ("c", "b", "a")]

        put = await scene.storage.definitions.put_schedules(wanted, at=scene.now)

        assert [schedule.id for schedule in put] == ["c", "b", "a"]
        assert [schedule.revision.number for schedule in put] == [1, 2, 1]
        assert await scene.storage.definitions.get_schedules([schedule.id for schedule in put]) == {
            one.id: one for one in put
        }

    @pytest.mark.proves("T15")
    async def test_a_schedule_that_is_twice_in_a_batch_is_created_and_edited(self, scene: Scene) -> None:
        *_, last = await scene.storage.definitions.put_schedules(
            [a_schedule(every(60)), a_schedule(every(90))], at=scene.now
        )

        [ledger] = await scene.storage.queries.ledgers()

        assert ledger.schedule == last
        assert [(revision.number, revision.spec.expr) for revision in ledger.revisions] == [(1, "60"), (2, "90")]

    @pytest.mark.proves("R4-26")
    async def test_a_paused_schedule_is_not_due(self, scene: Scene) -> None:
        await scene.schedule(every(60))

        paused = await scene.pause(paused=True)

        scene.clock.advance(HOUR)
        assert (paused.paused_at, paused.wake_at) == (paused.created_at, None)
        assert (await scene.due()).schedules == []
        assert await scene.storage.ledger.next_wake() is None

    async def test_pausing_twice_keeps_the_first_pause_time(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        first = await scene.pause(paused=True)
        scene.clock.advance(MINUTE)

        second = await scene.pause(paused=True)

        assert second == first
        [ledger] = await scene.storage.queries.ledgers()
        assert list(ledger.pauses) == [Pause(first.updated_at, None)]

    @pytest.mark.proves("R4-02")
    async def test_a_resumed_schedule_is_due_immediately(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        paused_at = scene.now
        await scene.pause(paused=True)
        scene.clock.advance(HOUR)

        resumed = await scene.pause(paused=False)

        assert (resumed.paused_at, resumed.wake_at) == (None, scene.now)
        [due] = (await scene.due()).schedules
        assert due.uid == schedule.uid
        assert list(due.pauses) == [Pause(paused_at, scene.now)]

    @pytest.mark.proves("T6", "T11")
    async def test_a_clock_set_back_ends_no_pause_before_its_beginning(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        paused = await scene.pause(paused=True)

        scene.clock.step(-HOUR)
        await scene.pause(paused=False)

        [ledger] = await scene.storage.queries.ledgers()
        assert list(ledger.pauses) == [Pause(paused.updated_at, paused.updated_at)]

    @pytest.mark.proves("T11")
    async def test_pausing_immediately_after_a_resume_continues_the_pause(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        for paused in (True, False, True):
            await scene.pause(paused=paused)
        since = scene.now
        scene.clock.advance(10 * MINUTE)

        [ledger] = await scene.storage.queries.ledgers()
        await scene.pause(paused=False)
        [resumed] = await scene.storage.queries.ledgers()

        assert list(ledger.pauses) == [Pause(since, None)]
        assert list(resumed.pauses) == [Pause(since, scene.now)]

    async def test_resuming_a_schedule_that_is_not_paused_changes_nothing(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        scene.clock.advance(SECOND)

        assert await scene.pause(paused=False) == schedule

    async def test_pausing_returns_the_schedules_that_exist(self, scene: Scene) -> None:
        await scene.schedule(every(60))

        told = await scene.storage.definitions.pause_schedules([NIGHTLY, STRANGER], paused=True, at=scene.now)

        assert [schedule.id for schedule in told] == [NIGHTLY]

    @pytest.mark.proves("T11")
    async def test_a_pause_of_any_length_is_one_skipped_range(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, catchup="all"))
        await scene.pause(paused=True)
        scene.clock.advance(100 * MINUTE)
        await scene.pause(paused=False)

        runs = await scene.fire()

        [tick] = await scene.ticks(schedule.uid)
        assert runs == []
        assert (tick.outcome, tick.reason, tick.count) == (TickOutcome.SKIPPED, TickReason.PAUSED, 100)

    async def test_an_edit_never_unpauses(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        paused = await scene.pause(paused=True)
        scene.clock.advance(MINUTE)

        edited = await scene.schedule(every(120))

        assert (edited.paused_at, edited.wake_at) == (paused.paused_at, None)
        assert (await scene.due()).schedules == []

    @pytest.mark.proves("R4-27")
    async def test_a_deleted_schedule_is_gone_and_never_due(self, scene: Scene) -> None:
        await scene.schedule(every(60))

        deleted = await scene.storage.definitions.delete_schedules([NIGHTLY, STRANGER], at=scene.now)

        scene.clock.advance(HOUR)
        assert deleted == [NIGHTLY]
        assert await scene.storage.definitions.get_schedules([NIGHTLY]) == {}
        assert await scene.storage.definitions.page_schedules() == []
        assert (await scene.due()).schedules == []
        assert await scene.storage.ledger.next_wake() is None

    async def test_deleting_a_schedule_twice_is_a_no_op(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)

        assert await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now) == []

    @pytest.mark.proves("R4-27")
    async def test_deleting_a_schedule_touches_no_run_and_keeps_the_ledger(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        [run_id] = await scene.fire_after(MINUTE)
        ticks = await scene.ticks(schedule.uid)

        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)

        assert await scene.status(run_id) is Status.QUEUED
        assert await scene.ticks(schedule.uid) == ticks
        [ledger] = await scene.storage.queries.ledgers()
        assert (ledger.schedule.uid, ledger.deleted_at) == (schedule.uid, scene.now)

    @pytest.mark.proves("T1", "T15")
    async def test_a_recreated_schedule_has_a_new_ledger(self, scene: Scene) -> None:
        old = await scene.schedule(every(60))
        await scene.fire_after(MINUTE)
        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)

        new = await scene.schedule(every(60))

        assert new.uid != old.uid
        assert (new.version, new.revision.number, new.created_at) == (1, 1, scene.now)
        assert (len(await scene.ticks(old.uid)), await scene.ticks(new.uid)) == (1, [])
        ledgers = await scene.storage.queries.ledgers()
        assert {ledger.schedule.uid: ledger.deleted_at for ledger in ledgers} == {old.uid: scene.now, new.uid: None}

    async def test_runs_of_a_deleted_schedule_do_not_block_its_successor(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.fire_after(MINUTE)
        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)
        await scene.schedule(every(60))

        assert len(await scene.fire_after(MINUTE)) == 1

    async def test_only_schedules_that_exist_are_found(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))

        assert await scene.storage.definitions.get_schedules([NIGHTLY, STRANGER]) == {NIGHTLY: schedule}
        assert await scene.storage.definitions.get_schedules([]) == {}

    @pytest.mark.proves("A5")
    async def test_schedules_are_listed_by_id_page_by_page(self, scene: Scene) -> None:
        for name in ("c", "a", "d", "b"):
            await scene.schedule(every(60), schedule_id=name)

        first = await scene.storage.definitions.page_schedules(limit=3)
        second = await scene.storage.definitions.page_schedules(after=first[-1].id, limit=3)

        assert [schedule.id for schedule in first] == ["a", "b", "c"]
        assert [schedule.id for schedule in second] == ["d"]

    @pytest.mark.proves("R1-17")
    async def test_the_schedules_of_one_job_are_listed(self, scene: Scene) -> None:
        await scene.schedule(every(60), schedule_id="a")
        await scene.schedule(every(60, job_id=JobId("other")), schedule_id="b")
        await scene.schedule(every(90), schedule_id="c")

        listed = await scene.storage.definitions.page_schedules(job_id=REPORT)

        assert [schedule.id for schedule in listed] == ["a", "c"]

    async def test_the_declared_schedules_are_listed_page_by_page(self, scene: Scene) -> None:
        await scene.schedule(every(60), schedule_id="a")
        for name in ("d", "b", "c", "e"):
            await scene.schedule(every(60, source="file"), schedule_id=name)
        await scene.storage.definitions.delete_schedules([ScheduleId("e")], at=scene.now)

        first = await scene.storage.definitions.page_declared_schedules(limit=2)
        second = await scene.storage.definitions.page_declared_schedules(after=first[-1].id, limit=2)

        assert [schedule.id for schedule in first] == ["b", "c"]
        assert [schedule.id for schedule in second] == ["d"]

    async def test_an_edit_may_move_a_schedule_to_another_job(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.schedule(every(60, job_id=JobId("other")))

        assert await scene.storage.definitions.page_schedules(job_id=REPORT) == []
        assert len(await scene.storage.definitions.page_schedules(job_id=JobId("other"))) == 1

    @pytest.mark.proves("R4-65")
    async def test_the_next_wake_is_that_of_the_earliest_schedule(self, scene: Scene) -> None:
        assert await scene.storage.ledger.next_wake() is None
        await scene.schedule(every(300), schedule_id="a")
        await scene.schedule(every(60), schedule_id="b")
        await scene.schedule(manual(), schedule_id="c")

        assert await scene.storage.ledger.next_wake() == scene.after(MINUTE)

    async def test_a_schedule_with_jitter_wakes_early(self, scene: Scene) -> None:
        await scene.schedule(every(60, jitter=10 * SECOND))

        assert await scene.storage.ledger.next_wake() == scene.after(50 * SECOND)

    async def test_a_schedule_without_fire_times_is_never_due(self, scene: Scene) -> None:
        schedule = await scene.schedule(manual())
        scene.clock.advance(HOUR)

        assert (schedule.next_run_at, schedule.wake_at, schedule.enabled) == (None, None, True)
        assert (await scene.due()).schedules == []

    @pytest.mark.proves("R1-13")
    async def test_a_schedule_that_has_fired_for_the_last_time_is_disabled(self, scene: Scene) -> None:
        await scene.schedule(once(scene.after(MINUTE)))

        assert len(await scene.fire_after(MINUTE)) == 1

        spent = await scene.stored()
        assert (spent.next_run_at, spent.wake_at, spent.enabled) == (None, None, False)
        assert spent.last_scheduled_at == scene.now
        scene.clock.advance(HOUR)
        assert (await scene.due()).schedules == []

    async def test_a_one_shot_that_has_fired_can_get_a_new_time(self, scene: Scene) -> None:
        await scene.schedule(once(scene.after(MINUTE)))
        await scene.fire_after(MINUTE)

        renewed = await scene.schedule(once(scene.after(HOUR)))

        assert (renewed.enabled, renewed.next_run_at) == (True, scene.after(HOUR))
