"""The promises of a storage about the overlap key of schedules."""

import pytest
from msgspec.structs import replace

from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.schedule.tick import TickOutcome, TickReason
from foliot.testing.builders import a_run, cancelled, every, failed, given_back, retries_after, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Contract, Scene


class OverlapContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("R4-37", "T10")
    async def test_with_allow_every_tick_runs(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.ALLOW))

        runs = [run_id for _ in range(3) for run_id in await scene.fire_after(MINUTE)]

        assert await scene.ready() == runs

    @pytest.mark.proves("R4-38", "R4-64", "T10")
    async def test_with_skip_a_tick_during_a_run_is_skipped(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, overlap=Overlap.SKIP))
        await scene.fire_after(MINUTE)

        assert await scene.fire_after(MINUTE) == []

        skipped = (await scene.ticks(schedule.uid))[-1]
        assert (skipped.outcome, skipped.reason) == (TickOutcome.SKIPPED, TickReason.OVERLAP)

    @pytest.mark.proves("R4-64")
    async def test_with_skip_the_next_tick_runs_when_the_run_is_over(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.SKIP))
        await scene.fire_after(MINUTE)
        [claim] = await scene.claim()

        await scene.finish(failed(claim))

        assert len(await scene.fire_after(MINUTE)) == 1

    @pytest.mark.proves("R4-64")
    @pytest.mark.parametrize("max_concurrent", [None, 5])
    async def test_a_run_counts_for_overlap_until_it_is_terminal(
        self, scene: Scene, max_concurrent: int | None
    ) -> None:
        await scene.job(max_concurrent=max_concurrent, retry=retries_after(MINUTE))
        await scene.schedule(every(60, overlap=Overlap.SKIP))
        await scene.fire_after(MINUTE)
        assert await in_flight(scene) == 1
        [claim] = await scene.claim()
        assert await in_flight(scene) == 1

        await scene.finish(to_retry(claim))
        assert await in_flight(scene) == 1

        await scene.cancel(claim.run_id)
        assert await in_flight(scene) == 0

    @pytest.mark.proves("S11")
    async def test_a_run_without_a_tick_does_not_count_for_overlap(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.SKIP))
        await scene.start()

        assert len(await scene.fire_after(MINUTE)) == 1

    @pytest.mark.proves("R4-39", "T10")
    async def test_with_queue_ticks_run_one_at_a_time_in_planned_order(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.QUEUE))
        runs = [run_id for _ in range(4) for run_id in await scene.fire_after(MINUTE)]
        served = []

        while claims := await scene.claim():
            served.append([claim.run_id for claim in claims])
            await scene.finish(*(succeeded(claim) for claim in claims))

        assert served == [[run_id] for run_id in runs]

    @pytest.mark.proves("R4-39", "T10")
    async def test_a_tick_that_waits_for_overlap_is_queued_and_not_ready(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.QUEUE))
        [first] = await scene.fire_after(MINUTE)
        [second] = await scene.fire_after(MINUTE)

        assert await scene.ready() == [first]
        assert await scene.status(second) is Status.QUEUED

    @pytest.mark.proves("T10")
    @pytest.mark.parametrize("max_concurrent", [None, 5])
    async def test_a_tick_waits_until_retries_of_the_previous_run_have_ended(
        self, scene: Scene, max_concurrent: int | None
    ) -> None:
        await scene.job(max_concurrent=max_concurrent)
        await scene.schedule(every(60, overlap=Overlap.QUEUE))
        [first] = await scene.fire_after(MINUTE)
        [claim] = await scene.claim()
        await scene.fire_after(MINUTE)

        await scene.finish(to_retry(claim))
        [again] = await scene.claim()
        await scene.finish(given_back(again))

        assert [claim.run_id for claim in await scene.claim()] == [first]

    @pytest.mark.proves("T7", "T10")
    @pytest.mark.parametrize("is_due", [True, False], ids=["due", "for later"])
    async def test_a_run_that_gets_the_overlap_key_before_it_is_due_starts_once(
        self, scene: Scene, *, is_due: bool
    ) -> None:
        await scene.schedule(every(60, overlap=Overlap.QUEUE))
        await scene.fire_after(MINUTE)
        [holder] = await scene.claim()
        scene.clock.advance(MINUTE)
        [firing] = await scene.decide()
        [run] = firing.runs
        await scene.settle(replace(firing, runs=[replace(run, due_at=scene.after(SECOND))]))
        scene.clock.advance(SECOND if is_due else 0)

        await scene.finish(succeeded(holder))

        assert (await scene.ready(), await scene.status(run.id)) == ([], Status.SCHEDULED)
        scene.clock.advance(SECOND)
        assert (await scene.release()).count == 1
        assert [claim.run_id for claim in await scene.claim()] == [run.id]
        assert await scene.release() == (0, None)

    async def test_cancelling_the_running_tick_starts_the_next(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.QUEUE))
        [first] = await scene.fire_after(MINUTE)
        [second] = await scene.fire_after(MINUTE)

        await scene.cancel(first)

        assert await scene.ready() == [second]

    async def test_a_cancelled_waiting_tick_is_skipped_in_the_queue(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.QUEUE))
        first, second, third = [run_id for _ in range(3) for run_id in await scene.fire_after(MINUTE)]

        await scene.cancel(second)
        assert await scene.ready() == [first]
        await scene.cancel(first)

        assert await scene.ready() == [third]

    async def test_a_tick_that_waits_for_overlap_takes_no_place(self, scene: Scene) -> None:
        await scene.job(max_concurrent=2)
        await scene.schedule(every(60, overlap=Overlap.QUEUE))
        await scene.fire_after(MINUTE)
        await scene.claim()
        await scene.fire_after(MINUTE)

        [manual] = await scene.create(a_run(max_concurrent=2))

        assert await scene.ready() == [manual]

    @pytest.mark.proves("L10")
    async def test_a_tick_with_the_overlap_key_still_waits_for_its_limit(self, scene: Scene) -> None:
        await scene.job(max_concurrent=1)
        await scene.schedule(every(60, overlap=Overlap.QUEUE))
        await scene.fire_after(MINUTE)
        [claim] = await scene.claim()
        [second] = await scene.fire_after(MINUTE)
        [manual] = await scene.create(a_run(max_concurrent=1, priority=9))

        await scene.finish(succeeded(claim))

        assert await scene.ready() == [manual]
        assert await scene.status(second) is Status.QUEUED

    async def test_with_cancel_running_a_waiting_run_is_cancelled_immediately(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.CANCEL_RUNNING))
        [old] = await scene.fire_after(MINUTE)

        [new] = await scene.fire_after(MINUTE)

        assert await scene.status(old) is Status.CANCELLED
        assert await scene.ready() == [new]

    async def test_with_cancel_running_the_new_run_waits_until_the_old_one_has_ended(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.CANCEL_RUNNING))
        [old] = await scene.fire_after(MINUTE)
        [claim] = await scene.claim()

        [new] = await scene.fire_after(MINUTE)

        assert await scene.status(old) is Status.CANCELLING
        assert await scene.ready() == []
        await scene.finish(cancelled(claim))
        assert await scene.ready() == [new]

    async def test_with_cancel_running_only_the_newest_waits(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.CANCEL_RUNNING))
        await scene.fire_after(MINUTE)
        [claim] = await scene.claim()
        [second] = await scene.fire_after(MINUTE)
        [third] = await scene.fire_after(MINUTE)

        await scene.finish(cancelled(claim))

        assert await scene.status(second) is Status.CANCELLED
        assert await scene.ready() == [third]

    async def test_overlap_of_one_schedule_does_not_affect_another(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.QUEUE), schedule_id="a")
        await scene.schedule(every(60, overlap=Overlap.QUEUE), schedule_id="b")

        runs = await scene.fire_after(MINUTE)

        assert len(runs) == 2
        assert set(await scene.ready()) == set(runs)


async def in_flight(scene: Scene) -> int:
    """Return the open runs that the next decision is based on."""
    scene.clock.advance(MINUTE)
    [due] = (await scene.due()).schedules
    return due.in_flight
