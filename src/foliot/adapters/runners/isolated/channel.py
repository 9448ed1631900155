"""The worker's end of the socket to one interpreter. Never waits, and never trusts the other end to read or to stop."""

import asyncio
import socket
from contextlib import suppress
from typing import Final

from foliot.adapters.runners.isolated.messages import LARGEST_ANSWER

_READ: Final = 65_536


class Channel:
    """Sends one order and keeps what comes back."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket, self._other_end = socket.socketpair()
        self._socket.setblocking(False)
        self._unsent = memoryview(b"")
        self._received = bytearray()

    @property
    def other_end(self) -> int:
        return self._other_end.fileno()

    def hand_over(self) -> None:
        """The interpreter has its end: from now on the socket closes when it dies."""
        self._other_end.close()

    def send(self, order: bytes, descriptors: tuple[int, int]) -> None:
        """Begin to send; the rest follows by itself. OSError means that nobody is there to read it."""
        sent = socket.send_fds(self._socket, [order], descriptors)
        self._unsent = memoryview(order)[sent:]
        self._loop.add_reader(self._socket, self._receive)
        if self._unsent:
            self._loop.add_writer(self._socket, self._go_on)

    def finish(self) -> bytes:
        """All that came, without waiting for more, and close. To be called when the interpreter has ended."""
        while self._receive():
            pass
        self.close()
        return bytes(self._received)

    def close(self) -> None:
        if self._socket.fileno() >= 0 and not self._loop.is_closed():
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
        self._socket.close()
        self._other_end.close()

    def _go_on(self) -> None:
        with suppress(BlockingIOError):
            try:
                self._unsent = self._unsent[self._socket.send(self._unsent) :]
            except OSError:
                # It has died; its end says what happened.
                self._unsent = self._unsent[:0]
        if not self._unsent:
            self._loop.remove_writer(self._socket)

    def _receive(self) -> bool:
        """Take what is there. More than an answer can have is read and dropped, so that the writer never waits."""
        try:
            data = self._socket.recv(_READ)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._socket)
            return False
        if len(self._received) <= LARGEST_ANSWER:
            self._received += data
        return True
