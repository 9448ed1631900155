"""The promises of `foliot.ports.queue` as tests.

Subclass `QueueContract`, or `MessageContract` for a queue that carries run ids, and provide a `queue` fixture.
`MessageContract` also needs `deliver`, which puts raw bytes into a queue as a message.
"""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from foliot.domain.ids import RunId
from foliot.ports.queue import Queue
from foliot.testing.builders import a_run_id

TIMEOUT = 30
"""Seconds after which a test stops waiting for a signal. Signals normally arrive immediately."""

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
"""Invalid messages, as any client of a broker could send them."""

Deliver = Callable[[str, bytes], Awaitable[None]]


class QueueContract:
    """Every queue must pass these tests unchanged."""

    @pytest.mark.proves("R1-55")
    async def test_an_announcement_sets_the_signal(self, queue: Queue) -> None:
        queue.signal.clear()

        await queue.announce("default", [a_run_id()])

        await signalled(queue)

    async def test_taking_from_an_empty_queue_does_not_wait(self, queue: Queue) -> None:
        assert list(await queue.take(["default"], 10)) == []

    @pytest.mark.proves("Q3")
    async def test_an_announcement_may_be_repeated(self, queue: Queue) -> None:
        run_id = a_run_id()
        for _ in range(3):
            await queue.announce("default", [run_id])

        assert set(await taken(queue)) <= {run_id}

    async def test_acknowledging_an_unknown_message_is_a_no_op(self, queue: Queue) -> None:
        await queue.done([a_run_id()])
        await queue.done([])

    async def test_take_returns_announced_ids_only_if_the_queue_carries_ids(self, queue: Queue) -> None:
        run_id = a_run_id()
        await queue.announce("default", [run_id])

        assert await taken(queue) == ([run_id] if queue.carries_ids else [])


class MessageContract(QueueContract):
    """Every queue that carries run ids must pass these tests unchanged."""

    async def test_a_message_queue_carries_ids(self, queue: Queue) -> None:
        assert queue.carries_ids

    @pytest.mark.proves("R1-07", "R1-55")
    async def test_announced_runs_are_taken_in_order(self, queue: Queue) -> None:
        run_ids = [a_run_id() for _ in range(5)]

        await queue.announce("default", run_ids)

        assert await taken(queue) == run_ids

    async def test_take_returns_at_most_the_limit(self, queue: Queue) -> None:
        run_ids = [a_run_id() for _ in range(5)]
        await queue.announce("default", run_ids)

        first, second = await queue.take(["default"], 3), await queue.take(["default"], 3)

        assert [*first, *second] == run_ids
        assert len(first) == 3

    async def test_taking_with_a_limit_of_zero_takes_nothing(self, queue: Queue) -> None:
        await queue.announce("default", [a_run_id()])

        assert list(await queue.take(["default"], 0)) == []
        assert list(await queue.take([], 10)) == []
        assert len(await taken(queue)) == 1

    @pytest.mark.proves("R1-05")
    async def test_two_consumers_share_the_messages(self, queue: Queue) -> None:
        run_ids = [a_run_id() for _ in range(20)]
        await queue.announce("default", run_ids)

        shares = await asyncio.gather(*(queue.take(["default"], 3) for _ in range(10)))

        assert sorted(run_id for share in shares for run_id in share) == sorted(run_ids)

    async def test_remaining_messages_set_the_signal_again(self, queue: Queue) -> None:
        await queue.announce("default", [a_run_id(), a_run_id()])
        queue.signal.clear()

        await queue.take(["default"], 1)

        await signalled(queue)

    async def test_queues_do_not_share_messages(self, queue: Queue) -> None:
        fast, slow = a_run_id(), a_run_id()
        await queue.announce("fast", [fast])
        await queue.announce("slow", [slow])

        assert await taken(queue, "other") == []
        assert await taken(queue, "slow") == [slow]
        assert await taken(queue, "fast") == [fast]

    async def test_one_take_reads_several_queues(self, queue: Queue) -> None:
        fast, slow = a_run_id(), a_run_id()
        await queue.announce("fast", [fast])
        await queue.announce("slow", [slow])

        assert set(await taken(queue, "slow", "fast")) == {fast, slow}

    @pytest.mark.proves("Q6")
    async def test_acknowledged_messages_are_not_delivered_again(self, queue: Queue) -> None:
        await queue.announce("default", [a_run_id()])
        await queue.done(await taken(queue))

        assert await taken(queue) == []

    @pytest.mark.proves("R1-55")
    async def test_a_message_in_the_documented_format_is_accepted(self, queue: Queue, deliver: Deliver) -> None:
        run_id = a_run_id()

        await deliver("default", b'{"v":1,"run_id":"%s"}' % run_id.encode())

        assert await taken(queue) == [run_id]

    @pytest.mark.proves("Q4", "R1-46")
    @pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE)
    async def test_an_invalid_message_is_dropped_and_later_ones_are_delivered(
        self, queue: Queue, deliver: Deliver, body: bytes
    ) -> None:
        run_id = a_run_id()
        await deliver("default", body)
        await queue.announce("default", [run_id])

        assert await taken(queue) == [run_id]
        assert await taken(queue) == []


async def taken(queue: Queue, *names: str) -> list[RunId]:
    return list(await queue.take(names or ("default",), 100))


async def signalled(queue: Queue) -> None:
    async with asyncio.timeout(TIMEOUT):
        await queue.signal.wait()
