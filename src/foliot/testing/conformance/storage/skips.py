"""Contracts for ticks that are skipped because the job has succeeded meanwhile (`skip_if_successful`)."""

from foliot.domain.instant import HOUR, MINUTE
from foliot.domain.run.lease import Finish
from foliot.domain.schedule.schedule import Catchup
from foliot.testing.builders import a_run, every, failed, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene


async def outcomes(scene: Scene) -> list[tuple[str, str]]:
    uid = (await scene.stored()).uid
    return [(tick.outcome, tick.reason) for tick in await scene.ticks(uid)]


async def finish_all(scene: Scene) -> None:
    finishes: list[Finish] = [succeeded(claim) for claim in await scene.claim()]
    await scene.finish(*finishes)


class SkipContract(Contract):
    async def test_a_tick_is_skipped_after_a_success_by_hand(self, scene: Scene) -> None:
        await scene.schedule(every(3600, skip_if_successful=True))
        scene.clock.advance(10 * MINUTE)
        await scene.finish(succeeded(await scene.start(a_run())))

        await scene.fire_after(50 * MINUTE)
        await scene.fire_after(HOUR)

        assert await outcomes(scene) == [("skipped", "successful"), ("ran", "on_time")]

    async def test_a_run_of_the_schedule_itself_skips_no_tick(self, scene: Scene) -> None:
        await scene.schedule(every(3600, skip_if_successful=True))

        await scene.fire_after(HOUR)
        for _ in range(2):
            scene.clock.advance(MINUTE)
            await finish_all(scene)
            await scene.fire_after(59 * MINUTE)

        assert await outcomes(scene) == [("ran", "on_time")] * 3

    async def test_a_failure_by_hand_skips_no_tick(self, scene: Scene) -> None:
        await scene.schedule(every(3600, skip_if_successful=True))
        await scene.finish(failed(await scene.start(a_run())))

        await scene.fire_after(HOUR)

        assert await outcomes(scene) == [("ran", "on_time")]

    async def test_a_schedule_without_the_option_skips_no_tick(self, scene: Scene) -> None:
        await scene.schedule(every(3600))
        scene.clock.advance(MINUTE)
        await scene.finish(succeeded(await scene.start(a_run())))

        await scene.fire_after(59 * MINUTE)

        assert await outcomes(scene) == [("ran", "on_time")]

    async def test_a_missed_tick_is_not_caught_up_after_a_success_by_hand(self, scene: Scene) -> None:
        await scene.schedule(every(3600, skip_if_successful=True, catchup=Catchup.ONCE))
        scene.clock.advance(HOUR + 10 * MINUTE)
        await scene.finish(succeeded(await scene.start(a_run())))

        await scene.fire()

        assert await outcomes(scene) == [("skipped", "successful")]

    async def test_a_success_before_the_option_was_set_counts(self, scene: Scene) -> None:
        await scene.schedule(every(3600))
        scene.clock.advance(MINUTE)
        await scene.finish(succeeded(await scene.start(a_run())))

        await scene.schedule(every(3600, skip_if_successful=True))
        await scene.fire_after(59 * MINUTE)

        assert await outcomes(scene) == [("skipped", "successful")]
