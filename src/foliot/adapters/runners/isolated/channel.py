"""The worker's end of the socket to one interpreter.

It never blocks, and does not rely on the other end to read or to stop writing.
"""

import asyncio
import socket
from contextlib import suppress
from typing import Final

from foliot.adapters.runners.isolated.messages import LARGEST_ANSWER

_READ: Final = 65_536


class Channel:
    """Sends one message and collects the answer."""

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
        """Close our copy of the interpreter's end, so that the socket closes when the interpreter dies."""
        self._other_end.close()

    def send(self, message: bytes, descriptors: tuple[int, int]) -> None:
        """Send what fits; the loop sends the rest. Raises OSError if the interpreter has died."""
        sent = socket.send_fds(self._socket, [message], descriptors)
        self._unsent = memoryview(message)[sent:]
        self._loop.add_reader(self._socket, self._receive)
        if self._unsent:
            self._loop.add_writer(self._socket, self._send_more)

    def finish(self) -> bytes:
        """Return everything received, without waiting for more, and close. Only after the interpreter has ended."""
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

    def _send_more(self) -> None:
        with suppress(BlockingIOError):
            try:
                self._unsent = self._unsent[self._socket.send(self._unsent) :]
            except OSError:
                # The interpreter has died; its exit status is the outcome.
                self._unsent = self._unsent[:0]
        if not self._unsent:
            self._loop.remove_writer(self._socket)

    def _receive(self) -> bool:
        """Read what is there. Data beyond the largest answer is dropped, so that the writer never blocks."""
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
