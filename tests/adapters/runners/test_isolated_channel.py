"""The socket to an isolated interpreter: the loop stops watching it when nothing is left to do."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot.adapters.runners.isolated.channel import Channel
from tests.adapters.runners.attempts import until

LARGE = bytes(8 << 20)
"""More than the buffer of a socket."""


class Pair:
    """A channel, with access to its other end."""

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
        """Read as much as an interpreter that reads its whole message."""

        def take() -> None:
            left = size
            while left:
                left -= len(self.other.recv(left))

        await asyncio.to_thread(take)

    def is_written(self) -> bool:
        """Return whether the whole message was written."""
        return not self.channel._unsent

    def is_watched(self) -> tuple[bool, bool]:
        """Return whether the loop watched the socket for reading and for writing, and stop watching it."""
        ours = self.channel._socket
        return self._loop.remove_reader(ours), self._loop.remove_writer(ours)


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    made = Pair()
    yield made
    made.channel.close()
    made.other.close()


async def test_the_loop_stops_watching_for_writes_after_the_message_was_sent(pair: Pair) -> None:
    pair.send(LARGE)
    assert not pair.is_written()

    await pair.read(len(LARGE))
    await until(pair.is_written)
    await asyncio.sleep(0)

    assert pair.is_watched() == (True, False)
    assert pair.faults == []


async def test_sending_stops_if_the_interpreter_dies(pair: Pair) -> None:
    pair.send(LARGE)

    pair.other.close()
    await until(pair.is_written)
    for _ in range(3):
        await asyncio.sleep(0)

    assert pair.is_watched() == (False, False)
    assert pair.faults == []


async def test_finish_returns_the_whole_answer(pair: Pair) -> None:
    pair.send(b"a message")
    answer = os.urandom(150_000)
    pair.other.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * len(answer))
    pair.other.sendall(answer)

    assert pair.channel.finish() == answer
