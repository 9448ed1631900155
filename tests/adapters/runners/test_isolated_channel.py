"""The socket to an isolated interpreter: whatever the other end does, the loop has nothing to do for it afterwards."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot.adapters.runners.isolated.channel import Channel
from tests.adapters.runners.attempts import until

LARGE = bytes(8 << 20)
"""More than any socket holds."""


class Pair:
    """A channel, and its other end in our hands."""

    def __init__(self) -> None:
        self.channel = Channel()
        self.other = socket.socket(fileno=os.dup(self.channel.other_end))
        self.channel.hand_over()
        self.faults: list[dict[str, Any]] = []
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(lambda _, fault: self.faults.append(fault))

    def send(self, order: bytes) -> None:
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - only its descriptor matters
            self.channel.send(order, (nothing.fileno(), nothing.fileno()))

    async def read(self, size: int) -> None:
        """As an interpreter does that takes its order whole."""

        def take() -> None:
            left = size
            while left:
                left -= len(self.other.recv(left))

        await asyncio.to_thread(take)

    def is_written(self) -> bool:
        """Whether the loop has nothing left to write."""
        return not self.channel._unsent

    def is_watched(self) -> tuple[bool, bool]:
        """Whether the loop still waits until it can read, and until it can write. It does not any more."""
        ours = self.channel._socket
        return self._loop.remove_reader(ours), self._loop.remove_writer(ours)


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    made = Pair()
    yield made
    made.channel.close()
    made.other.close()


async def test_an_order_that_was_sent_keeps_the_loop_busy_no_longer(pair: Pair) -> None:
    pair.send(LARGE)
    assert not pair.is_written()

    await pair.read(len(LARGE))
    await until(pair.is_written)
    await asyncio.sleep(0)

    assert pair.is_watched() == (True, False)
    assert pair.faults == []


async def test_an_interpreter_that_dies_amid_its_order_is_given_up(pair: Pair) -> None:
    pair.send(LARGE)

    pair.other.close()
    await until(pair.is_written)
    for _ in range(3):
        await asyncio.sleep(0)

    assert pair.is_watched() == (False, False)
    assert pair.faults == []


async def test_all_that_was_answered_is_there_at_the_end_however_little_was_read_meanwhile(pair: Pair) -> None:
    pair.send(b"an order")
    answer = os.urandom(150_000)
    pair.other.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * len(answer))
    pair.other.sendall(answer)

    assert pair.channel.finish() == answer
