"""The in-memory queue fulfils the queue contract and has a capacity."""

import asyncio

import pytest

from foliot.adapters.queue.memory import MemoryQueue
from foliot.testing.builders import a_run_id
from foliot.testing.conformance.queue import GARBAGE, Deliver, MessageContract


@pytest.fixture
def queue() -> MemoryQueue:
    return MemoryQueue()


@pytest.fixture
def deliver(queue: MemoryQueue) -> Deliver:
    async def put(name: str, body: bytes) -> None:
        queue.deliver(name, body)

    return put


class TestMemoryQueue(MessageContract):
    pass


@pytest.mark.proves("Q4")
async def test_invalid_messages_are_counted(queue: MemoryQueue) -> None:
    for body in GARBAGE.values():
        queue.deliver("default", body)

    await queue.take(["default"], 10)

    assert queue.dropped == len(GARBAGE)


async def test_a_full_queue_drops_new_messages() -> None:
    queue = MemoryQueue(capacity=2)
    run_ids = [a_run_id() for _ in range(3)]

    await queue.announce("default", run_ids)

    assert queue.overflowed == 1
    assert list(await queue.take(["default"], 10)) == run_ids[:2]


async def test_a_full_queue_does_not_affect_other_queues() -> None:
    queue = MemoryQueue(capacity=1)
    run_ids = [a_run_id(), a_run_id()]

    for name, run_id in zip(("fast", "slow"), run_ids, strict=True):
        await queue.announce(name, [run_id])

    assert list(await queue.take(["fast", "slow"], 10)) == run_ids


async def test_taking_all_own_messages_leaves_the_signal_clear(queue: MemoryQueue) -> None:
    await queue.announce("fast", [a_run_id()])
    await queue.announce("slow", [a_run_id()])
    queue.signal.clear()

    await queue.take(["fast"], 10)

    assert not queue.signal.is_set()


async def test_a_message_wakes_all_waiting_consumers(queue: MemoryQueue) -> None:
    waiting = [asyncio.ensure_future(queue.signal.wait()) for _ in range(3)]
    await asyncio.sleep(0)

    await queue.announce("default", [a_run_id()])

    assert await asyncio.gather(*waiting) == [True] * 3


async def test_a_closed_queue_is_empty(queue: MemoryQueue) -> None:
    await queue.announce("default", [a_run_id()])
    await queue.close()

    assert list(await queue.take(["default"], 10)) == []
