"""Schedules with the rule @reboot: what a storage promises about boots."""

from collections.abc import Sequence

from foliot.domain.audit import Fault, audit
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import MINUTE, SECOND, later
from foliot.domain.schedule.boot import fire_after_boot
from foliot.domain.schedule.firing import DueSchedule, Firing, RoundContext, SchedulerSettings
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.schedule.tick import TickOutcome, TickReason, TickRecord
from foliot.domain.schedule.tick_run import make_run
from foliot.ports.ledger import DueBatch
from foliot.ports.ticks import ScheduleLedger
from foliot.testing.builders import NIGHTLY, an_id, every, manual, reboot
from foliot.testing.conformance.storage.scene import Contract, Scene


class BootContract(Contract):
    """Every storage passes these, unchanged."""

    async def test_a_schedule_is_due_once_for_each_later_boot(self, scene: Scene) -> None:
        schedule = await scene.schedule(reboot(overlap=Overlap.ALLOW))

        assert [await boot(scene, "two"), await boot(scene, "three")] == [[schedule.uid], [schedule.uid]]

        assert (await due(scene, "three")).schedules == []
        ticks = await scene.ticks(schedule.uid)
        assert [(tick.outcome, tick.reason) for tick in ticks] == [(TickOutcome.RAN, TickReason.BOOT)] * 2

    async def test_a_new_schedule_is_not_due_for_the_boot_that_is_over(self, scene: Scene) -> None:
        await scene.schedule(reboot())
        scene.clock.advance(MINUTE)

        assert (await due(scene, scene.storage.clock.boot_id)).schedules == []

    async def test_a_boot_before_the_schedule_was_created_does_not_count(self, scene: Scene) -> None:
        schedule = await scene.schedule(reboot())
        scene.clock.advance(MINUTE)

        earlier = await scene.storage.ledger.due_after_boot("other-host", schedule.created_at, 10, at=scene.now)
        later_one = await scene.storage.ledger.due_after_boot(
            "other-host", later(schedule.created_at, 1), 10, at=scene.now
        )

        assert earlier.schedules == []
        assert [one.id for one in later_one.schedules] == [NIGHTLY]

    async def test_a_boot_of_another_host_is_another_boot(self, scene: Scene) -> None:
        schedule = await scene.schedule(reboot(overlap=Overlap.ALLOW))
        await boot(scene, "two")
        scene.clock.advance(SECOND)

        await fire(scene, "other-host")

        assert len(await scene.ticks(schedule.uid)) == 2

    async def test_only_schedules_with_this_rule_are_due(self, scene: Scene) -> None:
        await scene.schedule(manual(payload={"type": "reboot"}), schedule_id="manual")
        await scene.schedule(every(3_600), schedule_id="hourly")
        await scene.schedule(reboot(), schedule_id="deleted")
        await scene.storage.definitions.delete_schedules([ScheduleId("deleted")], at=scene.now)
        scene.clock.advance(MINUTE)

        assert (await due(scene, "two")).schedules == []

    async def test_an_edit_into_this_rule_waits_for_the_next_boot(self, scene: Scene) -> None:
        await scene.schedule(manual())
        scene.clock.advance(MINUTE)
        await scene.schedule(reboot())
        scene.clock.advance(MINUTE)

        assert (await due(scene, scene.storage.clock.boot_id)).schedules == []
        assert [one.id for one in (await due(scene, "two")).schedules] == [NIGHTLY]

    async def test_an_edit_of_this_rule_leaves_the_boot_due(self, scene: Scene) -> None:
        await scene.schedule(reboot())
        scene.clock.advance(MINUTE)
        await scene.schedule(reboot(payload=1))
        scene.clock.advance(SECOND)

        assert await boot(scene, "two") != []

    async def test_a_second_decision_about_one_boot_changes_nothing(self, scene: Scene) -> None:
        schedule = await scene.schedule(reboot())
        scene.clock.advance(MINUTE)
        batch = await due(scene, "two")
        first, second = (decide(batch.schedules[0], batch, "two") for _ in range(2))

        assert await scene.settle(first) == [schedule.uid]
        assert await scene.settle(second) == []
        assert len(await scene.ticks(schedule.uid)) == 1

    async def test_a_boot_of_a_paused_schedule_is_skipped(self, scene: Scene) -> None:
        schedule = await scene.schedule(reboot())
        await scene.pause(paused=True)

        await boot(scene, "two")
        await scene.pause(paused=False)
        await scene.fire()

        [tick] = await scene.ticks(schedule.uid)
        assert (tick.outcome, tick.reason) == (TickOutcome.SKIPPED, TickReason.PAUSED)
        assert (await due(scene, "two")).schedules == []

    async def test_a_boot_outside_of_the_window_is_recorded_without_a_tick(self, scene: Scene) -> None:
        schedule = await scene.schedule(reboot(start_at=scene.after(60 * MINUTE)))

        await boot(scene, "two")

        assert (await due(scene, "two")).schedules == []
        assert await scene.ticks(schedule.uid) == []

    async def test_verify_finds_a_boot_without_a_row_and_a_row_without_a_boot(self, scene: Scene) -> None:
        schedule = await scene.schedule(reboot(overlap=Overlap.ALLOW))
        await boot(scene, "two")
        await boot(scene, "three")
        [ledger] = await scene.storage.queries.ledgers()
        ticks = await scene.ticks(schedule.uid)

        assert list(ledger.boots) == [tick.scheduled_for for tick in ticks]
        assert faults(ledger, ticks) == []
        assert faults(ledger, ticks[1:]) == [Fault.MISSING]
        assert faults(ledger._replace(boots=ledger.boots[1:]), ticks) == [Fault.INVENTED]


async def boot(scene: Scene, boot_id: str) -> list[ScheduleUid]:
    """Boot the host again, some time later; the schedules that were decided."""
    scene.clock.advance(MINUTE)
    return await fire(scene, boot_id)


async def due(scene: Scene, boot_id: str) -> DueBatch:
    return await scene.storage.ledger.due_after_boot(boot_id, scene.now, 10, at=scene.now)


async def fire(scene: Scene, boot_id: str) -> list[ScheduleUid]:
    batch = await due(scene, boot_id)
    return await scene.settle(*(decide(one, batch, boot_id) for one in batch.schedules))


def decide(one: DueSchedule, batch: DueBatch, boot_id: str) -> Firing:
    context = RoundContext(batch.now, batch.jobs, SchedulerSettings(), make_run, iter(an_id, None))
    firing = fire_after_boot(one, boot_id, context)
    assert firing is not None
    return firing


def faults(ledger: ScheduleLedger, ticks: Sequence[TickRecord]) -> list[Fault]:
    schedule = ledger.schedule
    timetable = ledger.timetable
    found = audit(timetable, ticks, ledger.planned, after=schedule.created_at, until=schedule.settled_until)
    return [finding.fault for finding in found]
