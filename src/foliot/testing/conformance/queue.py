"""What it means to be a queue: every promise of `foliot.ports.queue` as a test.

Subclass `QueueContract`, or `MessageContract` for a queue that carries run ids, and give a `queue` fixture; the
second one also asks for `deliver`, which puts raw bytes where a message of that queue would be.
"""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from foliot.domain.ids import RunId
from foliot.ports.queue import Queue
from foliot.testing.builders import a_run_id

PATIENCE = 30
"""Seconds after which a signal will not come any more. A bound, not a wait: signals arrive at once."""

GARBAGE = {
    "nothing": b"",
    "no JSON": b"\x00\xff\xfe",
    "cut off": b'{"v":1,"run_id":"01J',
    "a list": b"[]",
    "a number": b"1",
    "no version": b'{"run_id":"01JQZ8W3F07M4T5V6W8X9YABCD"}',
    "another version": b'{"v":2,"run_id":"01JQZ8W3F07M4T5V6W8X9YABCD"}',
    "a version that is no number": b'{"v":"1","run_id":"01JQZ8W3F07M4T5V6W8X9YABCD"}',
    "no id": b'{"v":1}',
    "an id of the wrong shape": b'{"v":1,"run_id":"../../etc/passwd"}',
    "an id of the wrong type": b'{"v":1,"run_id":1}',
    "one key too many": b'{"v":1,"run_id":"01JQZ8W3F07M4T5V6W8X9YABCD","payload":{}}',
    "something behind it": b'{"v":1,"run_id":"01JQZ8W3F07M4T5V6W8X9YABCD"} x',
    "too long": b'{"v":1,' + b" " * 4_096 + b'"run_id":"01JQZ8W3F07M4T5V6W8X9YABCD"}',
    "a million bytes": b"x" * 1_048_576,
    "too deep": b"[" * 4_000,
}
"""What anybody who can reach a broker may have put there."""

Deliver = Callable[[str, bytes], Awaitable[None]]


class QueueContract:
    """Every queue passes these, unchanged."""

    @pytest.mark.proves("R1-55")
    async def test_an_announcement_sets_the_signal(self, queue: Queue) -> None:
        queue.signal.clear()

        await queue.announce("default", [a_run_id()])

        await heard(queue)

    async def test_nothing_to_take_is_taken_without_waiting(self, queue: Queue) -> None:
        assert list(await queue.take(["default"], 10)) == []

    @pytest.mark.proves("Q3")
    async def test_an_announcement_may_be_repeated(self, queue: Queue) -> None:
        run_id = a_run_id()
        for _ in range(3):
            await queue.announce("default", [run_id])

        assert set(await taken(queue)) <= {run_id}

    async def test_what_was_never_taken_can_be_done(self, queue: Queue) -> None:
        await queue.done([a_run_id()])
        await queue.done([])

    async def test_a_queue_that_carries_nothing_gives_nothing(self, queue: Queue) -> None:
        run_id = a_run_id()
        await queue.announce("default", [run_id])

        assert await taken(queue) == ([run_id] if queue.carries_ids else [])


class MessageContract(QueueContract):
    """Every queue that carries run ids passes these, unchanged."""

    async def test_it_says_that_it_carries_ids(self, queue: Queue) -> None:
        assert queue.carries_ids

    @pytest.mark.proves("R1-07", "R1-55")
    async def test_what_was_announced_is_taken_in_order(self, queue: Queue) -> None:
        run_ids = [a_run_id() for _ in range(5)]

        await queue.announce("default", run_ids)

        assert await taken(queue) == run_ids

    async def test_no_more_is_taken_than_asked_for(self, queue: Queue) -> None:
        run_ids = [a_run_id() for _ in range(5)]
        await queue.announce("default", run_ids)

        first, second = await queue.take(["default"], 3), await queue.take(["default"], 3)

        assert [*first, *second] == run_ids
        assert len(first) == 3

    async def test_asking_for_nothing_takes_nothing(self, queue: Queue) -> None:
        await queue.announce("default", [a_run_id()])

        assert list(await queue.take(["default"], 0)) == []
        assert list(await queue.take([], 10)) == []
        assert len(await taken(queue)) == 1

    @pytest.mark.proves("R1-05", "R1-29")
    async def test_two_consumers_share_what_there_is(self, queue: Queue) -> None:
        run_ids = [a_run_id() for _ in range(20)]
        await queue.announce("default", run_ids)

        shares = await asyncio.gather(*(queue.take(["default"], 3) for _ in range(10)))

        assert sorted(run_id for share in shares for run_id in share) == sorted(run_ids)

    async def test_what_is_left_sets_the_signal_again(self, queue: Queue) -> None:
        await queue.announce("default", [a_run_id(), a_run_id()])
        queue.signal.clear()

        await queue.take(["default"], 1)

        await heard(queue)

    async def test_queues_are_apart(self, queue: Queue) -> None:
        fast, slow = a_run_id(), a_run_id()
        await queue.announce("fast", [fast])
        await queue.announce("slow", [slow])

        assert await taken(queue, "other") == []
        assert await taken(queue, "slow") == [slow]
        assert await taken(queue, "fast") == [fast]

    async def test_several_queues_are_taken_from_at_once(self, queue: Queue) -> None:
        fast, slow = a_run_id(), a_run_id()
        await queue.announce("fast", [fast])
        await queue.announce("slow", [slow])

        assert set(await taken(queue, "slow", "fast")) == {fast, slow}

    @pytest.mark.proves("Q6")
    async def test_what_is_done_does_not_come_again(self, queue: Queue) -> None:
        await queue.announce("default", [a_run_id()])
        await queue.done(await taken(queue))

        assert await taken(queue) == []

    @pytest.mark.proves("Q1", "R1-23")
    async def test_a_message_of_the_protocol_is_understood(self, queue: Queue, deliver: Deliver) -> None:
        run_id = a_run_id()

        await deliver("default", b'{"v":1,"run_id":"%s"}' % run_id.encode())

        assert await taken(queue) == [run_id]

    @pytest.mark.proves("Q4", "R1-46")
    @pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE)
    async def test_garbage_is_never_returned_and_does_not_stop_what_follows(
        self, queue: Queue, deliver: Deliver, body: bytes
    ) -> None:
        run_id = a_run_id()
        await deliver("default", body)
        await queue.announce("default", [run_id])

        assert await taken(queue) == [run_id]
        assert await taken(queue) == []


async def taken(queue: Queue, *names: str) -> list[RunId]:
    return list(await queue.take(names or ("default",), 100))


async def heard(queue: Queue) -> None:
    async with asyncio.timeout(PATIENCE):
        await queue.signal.wait()
