"""Waiting for runs: signals wake the caller, and no time has to pass."""

import asyncio
from contextlib import aclosing

import pytest

from foliot.domain.run.run import Status
from foliot.errors import StorageUnavailable, WaitTimeout
from foliot.ports.storage import Storage
from foliot.service.event_reader import FALLBACK
from foliot.service.services import Services
from foliot.testing.builders import a_run, succeeded, to_retry
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from tests.engine.ease import ease


@pytest.mark.proves("R1-39")
async def test_the_end_of_a_run_wakes_its_waiters_without_a_pause(services: Services, scene: Scene) -> None:
    claim = await scene.start(a_run(retry_delay=0))
    waiting = [asyncio.create_task(services.runs.wait(claim.run_id)) for _ in range(2)]
    await ease()

    await scene.finish(to_retry(claim))
    await ease()
    assert not any(one.done() for one in waiting)
    [again] = await scene.claim()
    await scene.finish(succeeded(again))
    await ease()

    assert [one.result().status for one in waiting] == [Status.SUCCESS] * 2


async def test_events_of_other_runs_read_nothing_for_a_waiter(
    services: Services, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = await scene.start()
    waiting = asyncio.create_task(services.runs.wait(claim.run_id))
    await ease()
    reads = 0

    async def counted(*_: object) -> dict[str, object]:
        nonlocal reads
        reads += 1
        return {}

    with monkeypatch.context() as patch:
        patch.setattr(scene.storage.queries, "get_runs", counted)
        await scene.create(a_run())
        await ease()

    assert reads == 0
    await scene.finish(succeeded(claim))
    assert (await waiting).status is Status.SUCCESS


async def test_a_lost_signal_only_delays_a_waiter(
    services: Services, scene: Scene, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = await scene.start()
    waiting = asyncio.create_task(services.runs.wait(claim.run_id))
    await ease()

    with monkeypatch.context() as patch:
        patch.setattr("foliot.adapters.storage.shared.signals.Signals.ring_here", lambda *_: None)
        await scene.finish(succeeded(claim))
    await ease()
    assert not waiting.done()
    clock.advance(FALLBACK)
    await ease()

    assert waiting.result().status is Status.SUCCESS


async def test_a_waiter_with_a_timeout_gives_up_in_time(services: Services, scene: Scene, clock: VirtualClock) -> None:
    claim = await scene.start()
    waiting = asyncio.create_task(services.runs.wait(claim.run_id, timeout=0.4))
    await ease()

    clock.advance(400)
    await ease()

    with pytest.raises(WaitTimeout):
        waiting.result()


async def test_a_reader_that_failed_is_started_again_by_a_waiter(
    services: Services, scene: Scene, storage: Storage, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(**_: object) -> list[object]:
        raise StorageUnavailable("the database is away", hint="Wait.")

    claim = await scene.start()
    with monkeypatch.context() as patch:
        patch.setattr(storage.queries, "events", unavailable)
        waiting = asyncio.create_task(services.runs.wait(claim.run_id))
        await ease()
    clock.advance(FALLBACK)
    await ease()

    await scene.finish(succeeded(claim))
    await ease()

    assert waiting.result().status is Status.SUCCESS


async def test_the_reader_stops_with_its_last_listener(services: Services, scene: Scene) -> None:
    events = services.queries.events
    async with aclosing(events.follow()) as batches:
        following = asyncio.ensure_future(anext(batches))
        await ease()
        await scene.create(a_run())
        await following
        assert [task for task in asyncio.all_tasks() if task.get_name() == "event reader"]

    await ease()
    assert events.followers == 0
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "event reader"]
