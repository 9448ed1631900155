"""The dispatcher makes due runs ready, and announces them until they are claimed."""

import pytest

from foliot.adapters.queue.memory import MemoryQueue
from foliot.domain.ids import RunId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Millis
from foliot.domain.run.outcome import Failure, Reason
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import Status
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.scheduler import dispatcher as dispatcher_module
from foliot.engine.scheduler.dispatcher import ANNOUNCE_AGAIN, ANNOUNCED_PER_SLOT
from foliot.ports.storage import Storage
from foliot.testing.builders import every
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Another
from tests.engine.rig import Rig


@pytest.fixture
async def brokered(storage: Storage, clock: VirtualClock, queue: MemoryQueue) -> Rig:
    """A process with a broker, whose worker is registered."""
    rig = Rig(storage, clock, queue=queue, slots=2)
    await rig.heartbeat.round()
    return rig


async def heard(queue: MemoryQueue) -> list[RunId]:
    return list(await queue.take(["default"], 1_000))


# -- release


@pytest.mark.proves("R1-26", "R1-27", "R1-28", "R1-40", "R1-43")
async def test_a_scheduled_run_is_queued_when_it_is_due(rig: Rig) -> None:
    run_id = await rig.enqueue(delay=SECOND)
    await rig.dispatcher.round()
    assert await rig.status(run_id) is Status.SCHEDULED

    rig.clock.advance(SECOND)
    await rig.dispatcher.round()

    assert await rig.status(run_id) is Status.QUEUED


async def test_the_dispatcher_sleeps_until_the_next_run_is_due(rig: Rig) -> None:
    await rig.enqueue(delay=700)

    assert await rig.dispatcher.round() == 700


async def test_a_full_batch_is_followed_by_the_next_immediately(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher_module, "BATCH", 2)
    for _ in range(3):
        await rig.enqueue(delay=SECOND)
    rig.clock.advance(SECOND)

    assert await rig.dispatcher.round() == IMMEDIATELY
    assert await rig.dispatcher.round() == SECOND


@pytest.mark.proves("R1-45", "R1-04")
async def test_one_round_announces_delayed_runs_retries_and_ticks(brokered: Rig, queue: MemoryQueue) -> None:
    rig = brokered
    await rig.job(retry=Retry(retries=1, base=Millis(MINUTE)))
    rig.stage.answer = Failure("not yet", Reason.EXIT_CODE)
    retried = await rig.enqueue()
    await rig.dispatcher.round()
    await rig.work()
    delayed = await rig.enqueue(delay=MINUTE)
    await rig.schedule(every(60))

    rig.clock.advance(MINUTE)
    await rig.heartbeat.round()
    await rig.scheduler.round()
    await rig.dispatcher.round()

    runs = await rig.runs()
    assert [run.status for run in runs] == [Status.QUEUED] * 3
    assert {retried, delayed} < {run.id for run in runs} == set(await heard(queue))


async def test_admission_is_repeated_regularly(rig: Rig) -> None:
    swept = []
    admit = rig.storage.admission.admit

    async def note(limit: int) -> int:
        swept.append(rig.clock.elapsed())
        return await admit(limit)

    rig.storage.admission.admit = note  # type: ignore[method-assign, assignment]
    for _ in range(20):
        await rig.dispatcher.round()
        rig.clock.advance(SECOND)

    assert len(swept) == 4


# -- announcing


@pytest.mark.proves("R1-07")
async def test_ready_runs_are_announced_by_id(brokered: Rig, queue: MemoryQueue) -> None:
    run_id = await brokered.enqueue()

    await brokered.dispatcher.round()

    assert await heard(queue) == [run_id]


@pytest.mark.proves("R1-40")
async def test_runs_that_are_not_due_are_not_announced(brokered: Rig, queue: MemoryQueue) -> None:
    await brokered.enqueue(delay=HOUR)

    await brokered.dispatcher.round()

    assert await heard(queue) == []


@pytest.mark.proves("Q2", "R1-06")
async def test_a_run_that_stays_unclaimed_is_announced_again(brokered: Rig, queue: MemoryQueue) -> None:
    run_id = await brokered.enqueue()
    await brokered.dispatcher.round()
    assert await heard(queue) == [run_id]

    brokered.clock.advance(ANNOUNCE_AGAIN - 1)
    await brokered.dispatcher.round()
    assert await heard(queue) == []
    brokered.clock.advance(1)
    await brokered.dispatcher.round()

    assert await heard(queue) == [run_id]


@pytest.mark.proves("Q2")
async def test_a_new_dispatcher_announces_runs_of_the_former_one(
    brokered: Rig, queue: MemoryQueue, another: Another, clock: VirtualClock
) -> None:
    run_id = await brokered.enqueue()
    await brokered.dispatcher.round()
    await queue.close()

    await Rig(await another(), clock, queue=queue).dispatcher.round()

    assert await heard(queue) == [run_id]


async def test_a_claimed_run_is_not_announced_again(brokered: Rig, queue: MemoryQueue) -> None:
    brokered.stage.answer = None
    await brokered.enqueue()
    await brokered.dispatcher.round()
    await brokered.claim()

    brokered.clock.advance(ANNOUNCE_AGAIN)
    await brokered.dispatcher.round()

    assert await heard(queue) == []


async def test_announcements_are_limited_by_the_slots_of_workers(brokered: Rig, queue: MemoryQueue) -> None:
    for _ in range(20):
        await brokered.enqueue()

    await brokered.dispatcher.round()

    assert len(await heard(queue)) == ANNOUNCED_PER_SLOT * 2


async def test_without_a_live_worker_nothing_is_announced(
    storage: Storage, clock: VirtualClock, queue: MemoryQueue
) -> None:
    rig = Rig(storage, clock, queue=queue)
    await rig.enqueue()

    await rig.dispatcher.round()

    assert await heard(queue) == []


async def test_nothing_is_announced_for_an_expired_worker(brokered: Rig, queue: MemoryQueue) -> None:
    await brokered.enqueue()
    brokered.clock.advance(brokered.settings.lease)

    await brokered.dispatcher.round()

    assert await heard(queue) == []
