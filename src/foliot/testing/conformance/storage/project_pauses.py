"""Contracts for pauses of all schedules."""

import pytest

from foliot.domain.events import EventKind
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant
from foliot.domain.schedule.project_pause import PauseOrder, ProjectPause
from foliot.domain.schedule.schedule import Catchup, Overlap, Pause
from foliot.domain.schedule.tick import TickOutcome, TickReason
from foliot.ports.health import HealthLimits
from foliot.testing.builders import a_run, every
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

_OTHER = ScheduleId("other")
_SKIPPED = (TickOutcome.SKIPPED, TickReason.PAUSED)
_RAN = (TickOutcome.RAN, TickReason.ON_TIME)


async def pause_all(scene: Scene, ends_at: Instant | None = None, *, by: str = "", note: str = "") -> ProjectPause:
    return await scene.storage.definitions.pause_project(PauseOrder(ends_at, by, note), at=scene.now)


async def resume_all(scene: Scene) -> ProjectPause | None:
    return await scene.storage.definitions.resume_project(at=scene.now)


async def outcomes(scene: Scene, schedule_id: ScheduleId) -> list[tuple[TickOutcome, TickReason, int]]:
    uid = (await scene.stored(schedule_id)).uid
    return [(tick.outcome, tick.reason, tick.count) for tick in await scene.ticks(uid)]


class ProjectPauseContract(Contract):
    @pytest.mark.proves("T3")
    async def test_no_schedule_is_due_while_all_are_paused(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await pause_all(scene)
        await scene.schedule(every(60), schedule_id=_OTHER)

        scene.clock.advance(HOUR)

        assert (await scene.due()).schedules == []
        assert await scene.storage.ledger.next_wake() is None

    @pytest.mark.proves("T2", "T3", "T11")
    async def test_the_ticks_of_a_pause_of_all_schedules_are_one_skipped_range_of_each(self, scene: Scene) -> None:
        await scene.schedule(every(60, catchup=Catchup.ALL))
        await pause_all(scene)
        await scene.schedule(every(60, catchup=Catchup.ONCE), schedule_id=_OTHER)
        scene.clock.advance(10 * MINUTE)

        await resume_all(scene)
        await scene.fire()
        await scene.fire_after(MINUTE)

        for schedule_id in ((await scene.stored()).id, _OTHER):
            assert await outcomes(scene, schedule_id) == [(*_SKIPPED, 10), (*_RAN, 1)]

    async def test_one_row_is_stored_and_no_schedule_is_changed(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))

        paused = await pause_all(scene, scene.after(HOUR), by="ada", note="new disks")

        assert await scene.stored() == schedule
        assert await scene.storage.queries.project_pause() == paused
        assert (paused.since, paused.ends_at, paused.by, paused.note) == (
            *(scene.now, scene.after(HOUR)),
            *("ada", "new disks"),
        )

    @pytest.mark.proves("T11")
    async def test_a_pause_with_an_end_ends_by_itself(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        ends_at = scene.after(10 * MINUTE)
        await pause_all(scene, ends_at)

        scene.clock.advance(10 * MINUTE - 2)
        before = (await scene.due()).schedules
        wake_at = await scene.storage.ledger.next_wake()
        scene.clock.advance(2)
        await scene.fire()

        assert (before, wake_at) == ([], ends_at)
        # The tick at the end of the pause is not paused.
        assert await outcomes(scene, schedule.id) == [(*_SKIPPED, 9), (*_RAN, 1)]

    async def test_pausing_again_keeps_the_beginning_and_changes_end_and_note(self, scene: Scene) -> None:
        first = await pause_all(scene, scene.after(HOUR), note="disks")
        scene.clock.advance(MINUTE)

        second = await pause_all(scene, scene.after(2 * HOUR), note="disks and network")

        assert (second.since, second.ends_at, second.note) == (first.since, scene.after(2 * HOUR), "disks and network")
        assert second.version > first.version
        assert await scene.storage.queries.project_pause() == second

    async def test_a_pause_after_the_end_of_another_is_a_new_one(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        first = await pause_all(scene, scene.after(2 * MINUTE))
        await scene.fire_after(3 * MINUTE)

        second = await pause_all(scene)
        scene.clock.advance(2 * MINUTE)
        await resume_all(scene)
        await scene.fire()

        assert second.since > first.since
        assert await outcomes(scene, schedule.id) == [
            (*_SKIPPED, 1),
            (TickOutcome.MISSED, TickReason.DOWN, 1),
            (*_RAN, 1),
            (*_SKIPPED, 2),
        ]

    async def test_resuming_returns_the_ended_pause_or_none(self, scene: Scene) -> None:
        nothing = await resume_all(scene)
        await pause_all(scene)
        scene.clock.advance(MINUTE)

        ended = await resume_all(scene)

        assert nothing is None
        assert ended is not None
        assert ended.until == scene.now
        assert await resume_all(scene) is None

    @pytest.mark.proves("T11")
    async def test_a_schedule_is_paused_and_resumed_independently(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        await pause_all(scene)
        scene.clock.advance(2 * MINUTE)
        await scene.pause(paused=True)
        scene.clock.advance(2 * MINUTE)
        await resume_all(scene)
        scene.clock.advance(2 * MINUTE)
        still_paused = (await scene.due()).schedules
        await scene.pause(paused=False)
        await scene.fire()

        assert still_paused == []
        assert await outcomes(scene, schedule.id) == [(*_SKIPPED, 6)]

    async def test_a_schedule_that_is_resumed_alone_stays_paused_with_all(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.pause(paused=True)
        await pause_all(scene)
        scene.clock.advance(2 * MINUTE)

        await scene.pause(paused=False)

        assert (await scene.due()).schedules == []

    @pytest.mark.proves("L6")
    async def test_a_decision_from_before_the_pause_is_not_saved(self, scene: Scene, another: Another) -> None:
        schedule = await scene.schedule(every(60))
        scene.clock.advance(MINUTE)
        batch = await scene.due()
        firings = await scene.decide()

        other = Scene(await another(), scene.clock)
        await pause_all(other)

        commit = scene.storage.ledger.commit_firings
        assert await commit(firings, pause_version=batch.pause_version, at=scene.now) == []
        assert await outcomes(scene, schedule.id) == []

    @pytest.mark.proves("L6")
    async def test_a_general_decision_from_before_a_resume_is_not_saved(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.QUEUE, catchup=Catchup.ALL))
        scene.clock.advance(3 * MINUTE)
        batch = await scene.due()
        firings = await scene.decide()

        await pause_all(scene)
        await resume_all(scene)

        commit = scene.storage.ledger.commit_firings
        assert await commit(firings, pause_version=batch.pause_version, at=scene.now) == []
        assert await commit(firings, pause_version=batch.pause_version + 2, at=scene.now) == [firings[0].uid]

    async def test_runs_are_created_while_all_schedules_are_paused(self, scene: Scene) -> None:
        await scene.job()
        await pause_all(scene)

        claim = await scene.start(a_run())

        assert claim.run_id

    @pytest.mark.proves("T3", "T6")
    async def test_ticks_that_ran_before_the_clock_was_set_back_into_a_pause_are_no_fault(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        await scene.fire_after(MINUTE)
        ran_at = scene.now
        scene.clock.step(-30 * SECOND)

        await pause_all(scene)
        scene.clock.advance(5 * MINUTE)
        await resume_all(scene)
        await scene.fire()

        [ledger] = await scene.storage.queries.ledgers()
        [pause] = ledger.project_pauses
        assert pause == Pause(Instant(ran_at - 30 * SECOND), scene.now, ran_at)
        assert await outcomes(scene, schedule.id) == [(*_RAN, 1), (*_SKIPPED, 4)]

    @pytest.mark.proves("T11")
    async def test_a_clock_set_back_ends_no_pause_of_all_before_its_beginning(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        paused = await pause_all(scene)
        scene.clock.step(-HOUR)

        ended = await resume_all(scene)
        scene.clock.advance(MINUTE)

        assert ended is not None
        assert (ended.since, ended.until) == (paused.since, paused.since)
        scene.clock.advance(HOUR)
        assert len((await scene.due()).schedules) == 1

    @pytest.mark.proves("T11")
    async def test_a_tick_that_waits_for_its_jittered_time_is_skipped_in_a_pause(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(600, jitter=5 * MINUTE, catchup=Catchup.ALL))
        while not (planned := (await scene.storage.queries.ledgers())[0].planned):
            assert await scene.fire_after(SECOND) == []
        moment = planned[0].scheduled_for

        await pause_all(scene)
        scene.clock.advance(moment - scene.now + 6 * MINUTE)
        await resume_all(scene)
        await scene.fire()

        first, *_ = await scene.ticks(schedule.uid)
        assert (first.scheduled_for, first.outcome, first.reason) == (moment, *_SKIPPED)

    async def test_no_schedule_is_late_while_all_are_paused(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        paused = await pause_all(scene)
        scene.clock.advance(HOUR)
        limits = HealthLimits(rows=10, counted=10, late_since=scene.after(-MINUTE), failed_since=Instant(0))

        health = await scene.storage.queries.health(limits)

        assert (health.late, health.late_count, health.project_pause) == ([], 0, paused)
        await resume_all(scene)
        assert (await scene.storage.queries.health(limits)).late_count == 0
        scene.clock.advance(HOUR)
        later_limits = limits._replace(late_since=scene.after(-MINUTE))
        assert (await scene.storage.queries.health(later_limits)).late_count == 1

    async def test_pauses_and_resumes_are_events(self, scene: Scene) -> None:
        paused = await pause_all(scene, scene.after(HOUR), by="ada", note="disks")
        scene.clock.advance(MINUTE)
        await resume_all(scene)

        assert await scene.items(EventKind.PROJECT_PAUSED) == [[paused.since, paused.until, "ada", "disks"]]
        assert await scene.items(EventKind.PROJECT_RESUMED) == [[paused.since, scene.now, "ada", "disks"]]
