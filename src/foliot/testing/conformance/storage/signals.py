"""Waking whoever waits: what a storage promises about its signals."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from foliot.domain.instant import MINUTE
from foliot.domain.run.lease import Claim, Finish
from foliot.domain.tree.tree import TREES_QUEUE
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.testing.builders import a_run, every, failed, succeeded, to_retry
from foliot.testing.conformance.storage.passages import a_part, begun, opened
from foliot.testing.conformance.storage.scene import Contract, Scene

PATIENCE = 30
"""Seconds after which a signal will not come any more. A bound, not a wait: signals arrive at once."""


class SignalContract(Contract):
    """Every storage passes these, unchanged."""

    @pytest.mark.proves("R1-39")
    async def test_a_run_that_is_ready_wakes_the_workers(self, scene: Scene) -> None:
        signal = cleared(scene.storage, Topic.RUNS)

        await scene.create(a_run())

        await heard(signal)

    async def test_a_tree_that_is_ready_to_be_opened_wakes_the_coordinator(self, scene: Scene) -> None:
        signal = cleared(scene.storage, Topic.TREES)

        await scene.create(a_run(queue=TREES_QUEUE))

        await heard(signal)

    async def test_a_run_for_later_wakes_the_dispatcher(self, scene: Scene) -> None:
        signal = cleared(scene.storage, Topic.LATER)

        await scene.create(a_run(due_at=scene.after(MINUTE)))

        await heard(signal)

    async def test_a_run_that_is_due_before_all_that_wait_wakes_the_dispatcher(self, scene: Scene) -> None:
        await scene.create(a_run(due_at=scene.after(2 * MINUTE)))
        signal = cleared(scene.storage, Topic.LATER)

        await scene.create(a_run(due_at=scene.after(MINUTE)))

        await heard(signal)

    async def test_a_retry_for_later_wakes_the_dispatcher(self, scene: Scene) -> None:
        claim = await scene.start(a_run(retry_delay=MINUTE))
        signal = cleared(scene.storage, Topic.LATER)

        await scene.finish(to_retry(claim))

        await heard(signal)

    async def test_a_released_run_wakes_the_workers(self, scene: Scene) -> None:
        await scene.create(a_run(due_at=scene.after(MINUTE)))
        scene.clock.advance(MINUTE)
        signal = cleared(scene.storage, Topic.RUNS)

        await scene.release()

        await heard(signal)

    async def test_a_place_that_is_free_wakes_the_workers(self, scene: Scene) -> None:
        claim = await scene.start(a_run(max_concurrent=1))
        await scene.create(a_run(max_concurrent=1))
        signal = cleared(scene.storage, Topic.RUNS)

        await scene.finish(succeeded(claim))

        await heard(signal)

    @pytest.mark.parametrize("seconds", [60, 30])
    async def test_a_new_or_edited_schedule_wakes_the_scheduler(self, scene: Scene, seconds: int) -> None:
        await scene.schedule(every(3_600), schedule_id="nightly" if seconds == 30 else "other")
        signal = cleared(scene.storage, Topic.SCHEDULES)

        await scene.schedule(every(seconds))

        await heard(signal)

    async def test_a_resumed_schedule_wakes_the_scheduler(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.pause(paused=True)
        signal = cleared(scene.storage, Topic.SCHEDULES)

        await scene.pause(paused=False)

        await heard(signal)

    async def test_a_request_to_cancel_wakes_the_worker(self, scene: Scene) -> None:
        claim = await scene.start()
        signal = cleared(scene.storage, Topic.CANCELS)

        await scene.cancel(claim.run_id)

        await heard(signal)

    @pytest.mark.parametrize("finish", [succeeded, failed])
    async def test_a_part_that_has_ended_wakes_the_settler(
        self, scene: Scene, finish: Callable[[Claim], Finish]
    ) -> None:
        claim = await begun(scene, await opened(scene))
        signal = cleared(scene.storage, Topic.NOTES)

        await scene.finish(finish(claim))

        await heard(signal)

    async def test_a_request_to_cancel_an_execution_wakes_the_settler(self, scene: Scene) -> None:
        execution = await opened(scene)
        signal = cleared(scene.storage, Topic.NOTES)

        await scene.cancel(execution.run_id)

        await heard(signal)

    async def test_a_tick_that_fires_wakes_the_workers(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        signal = cleared(scene.storage, Topic.RUNS)

        await scene.fire_after(MINUTE)

        await heard(signal)

    async def test_what_another_does_is_heard_as_well(
        self, scene: Scene, another: Callable[[], Awaitable[Storage]]
    ) -> None:
        other = Scene(await another(), scene.clock)
        claim = await scene.start()
        signals = [cleared(scene.storage, topic) for topic in Topic]

        part = a_part(claim.run_id, "load", due_at=scene.after(MINUTE))
        await other.create(a_run(), a_run(queue=TREES_QUEUE), part, a_run(is_gated=True))
        await other.schedule(every(60))
        await other.cancel(claim.run_id, part.id)

        for signal in signals:
            await heard(signal)


def cleared(storage: Storage, topic: Topic) -> asyncio.Event:
    signal = storage.signal(topic)
    signal.clear()
    return signal


async def heard(signal: asyncio.Event) -> None:
    async with asyncio.timeout(PATIENCE):
        await signal.wait()
