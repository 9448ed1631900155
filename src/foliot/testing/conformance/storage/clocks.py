"""The promises of a storage about clocks, and about the checks of `foliot doctor`."""

from foliot.domain.clock import ClockFault, ClockFaultKind, skew_of, step_between
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, Millis
from foliot.ports.health import HealthLimits
from foliot.testing.builders import a_run, every, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene


def a_step(node: str, size: int = -HOUR, at: int = 0) -> ClockFault:
    return ClockFault(node, ClockFaultKind.STEP, Millis(size), Instant(at))


async def faults_of(scene: Scene, rows: int = 1_000) -> list[ClockFault]:
    health = await scene.storage.queries.health(HealthLimits(rows, 1, scene.now, scene.now))
    return list(health.clock_faults)


class ClockFaultContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_a_process_has_its_latest_step_and_its_latest_skew(self, scene: Scene) -> None:
        skew = ClockFault("north", ClockFaultKind.SKEW, Millis(9_000), Instant(3))
        for fault in (a_step("north", at=1), skew, a_step("south", at=2), a_step("north", HOUR, at=4)):
            await scene.storage.upkeep.save_clock_fault(fault)

        assert await faults_of(scene) == [a_step("north", HOUR, at=4), skew, a_step("south", at=2)]
        assert await faults_of(scene, rows=1) == [a_step("north", HOUR, at=4)]

    async def test_only_the_newest_hundred_faults_are_kept(self, scene: Scene) -> None:
        for number in range(103):
            await scene.storage.upkeep.save_clock_fault(a_step(f"node-{number}", at=number))

        kept = await faults_of(scene)

        assert (len(kept), kept[0].at, kept[-1].at) == (100, 102, 3)

    async def test_clocks_that_were_not_set_have_no_step_and_no_skew(self, scene: Scene) -> None:
        first = await scene.storage.upkeep.read_clocks()
        scene.clock.advance(MINUTE)
        second = await scene.storage.upkeep.read_clocks()

        assert (step_between(first, second), skew_of(second)) == (None, None)

    async def test_schedules_with_decided_ticks_in_the_future_wait_for_the_clock(self, scene: Scene) -> None:
        for name in ("hourly", "paused"):
            await scene.schedule(every(3_600), schedule_id=name)
        await scene.fire_after(2 * HOUR)
        await scene.schedule(every(60), schedule_id="new")
        await scene.pause(paused=True, schedule_id=ScheduleId("paused"))
        assert not (await scene.storage.queries.clock_effects(scene.now, limit=10)).schedules

        scene.clock.step(-90 * MINUTE)

        effects = await scene.storage.queries.clock_effects(scene.now, limit=10)
        assert [schedule.id for schedule in effects.schedules] == ["hourly", "new"]
        assert len((await scene.storage.queries.clock_effects(scene.now, limit=1)).schedules) == 1

    async def test_runs_whose_attempt_started_long_ago_are_listed_oldest_first(self, scene: Scene) -> None:
        oldest = await scene.start(a_run())
        scene.clock.advance(SECOND)
        second = await scene.start(a_run())
        await scene.finish(succeeded(await scene.start(a_run())))
        scene.clock.advance(SECOND)
        await scene.start(a_run())

        found = await scene.storage.queries.long_runs(scene.now, limit=10)
        assert [run.id for run in found] == [oldest.run_id, second.run_id]
        assert [run.id for run in await scene.storage.queries.long_runs(scene.now, limit=1)] == [oldest.run_id]

    async def test_a_healthy_storage_can_be_written_and_is_not_damaged(self, scene: Scene) -> None:
        await scene.storage.upkeep.probe()
        await scene.storage.upkeep.probe()

        assert await scene.storage.upkeep.damages() == []
