"""No more is claimed than there are free slots, whoever says what is ready."""

import asyncio

import pytest

from foliot.adapters.queue.memory import MemoryQueue
from foliot.domain.ids import RunId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.run import Status
from foliot.engine.loop import AT_ONCE
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from tests.engine.conftest import Another
from tests.engine.ease import ease
from tests.engine.rig import Rig

# -- slots


async def test_a_storage_elsewhere_is_asked_for_half_the_slots_and_at_once_for_the_other_half(
    storage: Storage, clock: VirtualClock
) -> None:
    storage.is_remote = True  # type: ignore[misc]  # the file plays a server
    rig = Rig(storage, clock, slots=5)
    rig.stage.answer = None
    runs = [await rig.enqueue() for _ in range(6)]
    await rig.membership.round()

    first = await rig.consumer.round()
    started = rig.consumer.unfinished
    second = await rig.consumer.round()
    await ease()

    assert (first, started) == (AT_ONCE, 3)
    assert second != AT_ONCE
    assert rig.stage.under_way == runs[:5]


async def test_half_of_one_slot_is_one(storage: Storage, clock: VirtualClock) -> None:
    storage.is_remote = True  # type: ignore[misc]  # the file plays a server
    rig = Rig(storage, clock, slots=1)
    run_id = await rig.enqueue()

    await rig.work()

    assert await rig.status(run_id) is Status.SUCCESS


async def test_no_more_is_claimed_than_there_are_free_slots(storage: Storage, clock: VirtualClock) -> None:
    rig = Rig(storage, clock, slots=2)
    rig.stage.answer = None
    runs = [await rig.enqueue() for _ in range(3)]

    await rig.claim()
    await rig.claim()
    assert rig.stage.under_way == runs[:2]
    rig.stage.end(runs[0])
    await ease()
    await rig.claim()

    assert rig.stage.under_way == runs[1:]


async def test_an_attempt_that_was_given_up_still_takes_its_slot(storage: Storage, clock: VirtualClock) -> None:
    rig = Rig(storage, clock, slots=2)
    rig.stage.abandoned = 2
    await rig.enqueue()

    await rig.claim()

    assert rig.stage.attempts == []


async def test_nothing_is_claimed_while_outcomes_pile_up(storage: Storage, clock: VirtualClock) -> None:
    rig = Rig(storage, clock, slots=1)
    for _ in range(4):
        await rig.enqueue()

    for _ in range(4):
        await rig.claim()
    assert rig.finisher.backlog == 2
    await rig.finisher.round()

    assert rig.consumer.wake.is_set()
    await rig.claim()
    assert len(rig.stage.attempts) == 3


@pytest.mark.proves("L10")
async def test_a_limit_holds_across_workers(rig: Rig, another: Another, clock: VirtualClock) -> None:
    await rig.job(max_concurrent=2)
    other = Rig(await another(), clock)
    rig.stage.answer = other.stage.answer = None
    for _ in range(5):
        await rig.enqueue()

    for _ in range(3):
        await rig.claim()
        await other.claim()

    assert len(rig.stage.under_way) + len(other.stage.under_way) == 2


@pytest.mark.proves("R1-05", "R1-29", "L1")
async def test_workers_share_what_there_is(rig: Rig, another: Another, clock: VirtualClock) -> None:
    other = Rig(await another(), clock)
    rig.stage.answer = other.stage.answer = None
    runs = {await rig.enqueue() for _ in range(15)}

    await asyncio.gather(rig.claim(), other.claim())

    assert set(rig.stage.under_way) | set(other.stage.under_way) == runs
    assert not set(rig.stage.under_way) & set(other.stage.under_way)


async def test_a_worker_that_is_not_registered_claims_nothing(rig: Rig) -> None:
    await rig.enqueue()

    await rig.consumer.round()

    assert rig.stage.attempts == []


# -- messages


@pytest.fixture
def queue() -> MemoryQueue:
    return MemoryQueue()


@pytest.fixture
def brokered(storage: Storage, clock: VirtualClock, queue: MemoryQueue) -> Rig:
    return Rig(storage, clock, queue=queue, slots=2)


@pytest.mark.proves("R1-35", "Q3", "R1-29")
async def test_a_message_delivered_twice_runs_its_run_once(brokered: Rig, queue: MemoryQueue) -> None:
    run_id = await brokered.enqueue()
    await queue.announce("default", [run_id, run_id])

    await brokered.work()
    await queue.announce("default", [run_id])
    await brokered.work()

    assert len(brokered.stage.attempts) == 1


@pytest.mark.proves("Q4", "R1-46", "R1-06")
async def test_messages_that_mean_nothing_cost_nothing(brokered: Rig, queue: MemoryQueue) -> None:
    run_id = await brokered.enqueue()
    later_on = await brokered.enqueue(delay=MINUTE)
    queue.deliver("default", b"garbage")
    queue.deliver("default", b'{"v":2,"run_id":"%s"}' % run_id.encode())
    await queue.announce("default", [RunId("0" * 26), later_on, run_id])

    await brokered.work()
    await brokered.work()

    assert [attempt.run_id for attempt in brokered.stage.attempts] == [run_id]


async def test_hints_that_lead_to_nothing_are_followed_by_the_next_at_once(brokered: Rig, queue: MemoryQueue) -> None:
    await brokered.membership.round()
    run_id = await brokered.enqueue()
    await queue.announce("default", [RunId("0" * 26)] * 3 + [run_id])

    assert await brokered.consumer.round() == AT_ONCE
    assert await brokered.consumer.round() == AT_ONCE
    assert await brokered.consumer.round() == SECOND
    await ease()

    assert len(brokered.stage.attempts) == 1


async def test_a_claim_whose_answer_got_lost_is_given_back(rig: Rig) -> None:
    run_id = await rig.enqueue()
    await rig.membership.round()
    worker = rig.membership.worker
    assert worker is not None
    await rig.storage.runs.claim(worker.id, worker.queues, 1)
    assert await rig.status(run_id) is Status.RUNNING

    await rig.membership.round()
    await rig.work()

    run = await rig.run(run_id)
    assert (run.status, run.attempt) == (Status.SUCCESS, 1)


async def test_a_renewal_while_a_claim_is_under_way_takes_nothing_back(rig: Rig) -> None:
    run_id = await rig.enqueue()
    await rig.membership.round()
    async with rig.membership.claiming() as worker:
        assert worker is not None
        await rig.storage.runs.claim(worker.id, worker.queues, 1)

        rest = await rig.membership.round()

    assert rest == rig.settings.lease // 3
    assert await rig.status(run_id) is Status.RUNNING
