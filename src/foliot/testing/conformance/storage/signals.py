"""The promises of a storage about its signals."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from foliot.domain.instant import MINUTE
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import Claim, Finish
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.testing.builders import a_chunk, a_run, every, failed, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import a_child, claim_child, opened

TIMEOUT = 30
"""Seconds after which a test stops waiting for a signal. Signals normally arrive immediately."""


class SignalContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("R1-39")
    async def test_a_ready_run_signals_the_workers(self, scene: Scene) -> None:
        signal = cleared(scene.storage, Topic.RUNS)

        await scene.create(a_run())

        await signalled(signal)

    async def test_a_ready_tree_signals_the_coordinator(self, scene: Scene) -> None:
        signal = cleared(scene.storage, Topic.TREES)

        await scene.create(a_run(queue=TREES_QUEUE))

        await signalled(signal)

    async def test_a_scheduled_run_signals_the_dispatcher(self, scene: Scene) -> None:
        signal = cleared(scene.storage, Topic.LATER)

        await scene.create(a_run(due_at=scene.after(MINUTE)))

        await signalled(signal)

    async def test_a_run_that_is_due_before_all_others_signals_the_dispatcher(self, scene: Scene) -> None:
        await scene.create(a_run(due_at=scene.after(2 * MINUTE)))
        signal = cleared(scene.storage, Topic.LATER)

        await scene.create(a_run(due_at=scene.after(MINUTE)))

        await signalled(signal)

    async def test_a_scheduled_retry_signals_the_dispatcher(self, scene: Scene) -> None:
        claim = await scene.start(a_run(retry_delay=MINUTE))
        signal = cleared(scene.storage, Topic.LATER)

        await scene.finish(to_retry(claim))

        await signalled(signal)

    async def test_a_released_run_signals_the_workers(self, scene: Scene) -> None:
        await scene.create(a_run(due_at=scene.after(MINUTE)))
        scene.clock.advance(MINUTE)
        signal = cleared(scene.storage, Topic.RUNS)

        await scene.release()

        await signalled(signal)

    async def test_a_freed_place_signals_the_workers(self, scene: Scene) -> None:
        claim = await scene.start(a_run(max_concurrent=1))
        await scene.create(a_run(max_concurrent=1))
        signal = cleared(scene.storage, Topic.RUNS)

        await scene.finish(succeeded(claim))

        await signalled(signal)

    @pytest.mark.parametrize("seconds", [60, 30])
    async def test_a_new_or_edited_schedule_signals_the_scheduler(self, scene: Scene, seconds: int) -> None:
        await scene.schedule(every(3_600), schedule_id="nightly" if seconds == 30 else "other")
        signal = cleared(scene.storage, Topic.SCHEDULES)

        await scene.schedule(every(seconds))

        await signalled(signal)

    async def test_a_resumed_schedule_signals_the_scheduler(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.pause(paused=True)
        signal = cleared(scene.storage, Topic.SCHEDULES)

        await scene.pause(paused=False)

        await signalled(signal)

    async def test_a_cancellation_request_signals_the_workers(self, scene: Scene) -> None:
        claim = await scene.start()
        signal = cleared(scene.storage, Topic.CANCELS)

        await scene.cancel(claim.run_id)

        await signalled(signal)

    @pytest.mark.parametrize("finish", [succeeded, failed])
    async def test_an_ended_child_signals_the_settler(self, scene: Scene, finish: Callable[[Claim], Finish]) -> None:
        claim = await claim_child(scene, await opened(scene))
        signal = cleared(scene.storage, Topic.NOTES)

        await scene.finish(finish(claim))

        await signalled(signal)

    async def test_a_cancellation_request_for_an_execution_signals_the_settler(self, scene: Scene) -> None:
        execution = await opened(scene)
        signal = cleared(scene.storage, Topic.NOTES)

        await scene.cancel(execution.run_id)

        await signalled(signal)

    async def test_a_fired_tick_signals_the_workers(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        signal = cleared(scene.storage, Topic.RUNS)

        await scene.fire_after(MINUTE)

        await signalled(signal)

    async def test_every_change_of_a_run_signals_an_event(self, scene: Scene) -> None:
        with scene.storage.subscribe(Topic.EVENTS) as signal:
            await scene.create(a_run(), a_run(max_concurrent=1))
            await signalled(signal, again=True)
            [claim, other] = await scene.claim(limit=2)
            await signalled(signal, again=True)
            await scene.finish(succeeded(claim))
            await signalled(signal, again=True)
            await scene.finish(failed(other))
            await signalled(signal)

    async def test_a_fired_tick_signals_an_event(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        with scene.storage.subscribe(Topic.EVENTS) as signal:
            await scene.fire_after(MINUTE)

            await signalled(signal)

    async def test_output_signals_every_subscriber(self, scene: Scene) -> None:
        claim = await scene.start()
        with scene.storage.subscribe(Topic.LOGS) as one, scene.storage.subscribe(Topic.LOGS, Topic.RUNS) as two:
            await scene.storage.work.append_log([a_chunk(claim, 0, b"printed\n")])

            await signalled(one, again=True)
            await signalled(two)

    async def test_a_subscription_ends_with_its_block(self, scene: Scene) -> None:
        claim = await scene.start()
        with scene.storage.subscribe(Topic.LOGS) as signal:
            pass

        await scene.storage.work.append_log([a_chunk(claim, 0, b"printed\n")])

        assert not signal.is_set()

    async def test_signals_reach_other_processes(self, scene: Scene, another: Callable[[], Awaitable[Storage]]) -> None:
        other = Scene(await another(), scene.clock)
        claim = await scene.start()
        signals = [cleared(scene.storage, topic) for topic in Topic]

        part = a_child(claim.run_id, "load", due_at=scene.after(MINUTE))
        await other.create(a_run(), a_run(queue=TREES_QUEUE), part, a_run(is_gated=True))
        await other.schedule(every(60))
        await other.cancel(claim.run_id, part.id)
        await other.storage.work.append_log([a_chunk(claim, 0, b"printed\n")])

        for signal in signals:
            await signalled(signal)


def cleared(storage: Storage, topic: Topic) -> asyncio.Event:
    signal = storage.signal(topic)
    signal.clear()
    return signal


async def signalled(signal: asyncio.Event, *, again: bool = False) -> None:
    """Wait for a signal; with `again` clear it, to wait for the next one."""
    async with asyncio.timeout(TIMEOUT):
        await signal.wait()
    if again:
        signal.clear()
