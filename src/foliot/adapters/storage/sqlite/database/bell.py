"""Wakes waiting loops, in this process and in others that have the same file open.

Each process binds a datagram socket in `<database>.bell/`; ringing sends one datagram to every other socket there. A
lost datagram only causes a delay: a waiting loop also polls now and then.
"""

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from foliot.ports.topic import Topic

_LONGEST_ADDRESS: Final = 100
_LOOK_EVERY: Final = 0.1
_TOPICS: Final = {topic.value.encode(): topic for topic in Topic}


class Bell(Protocol):
    def signal(self, topic: Topic) -> asyncio.Event: ...

    def ring_here(self, topics: Collection[Topic]) -> None:
        """Wake the waiting loops of this process. Called in the event loop."""
        ...

    def ring_others(self, topics: Collection[Topic]) -> None:
        """Wake the other processes. Called in the writer's thread."""
        ...

    @property
    def has_peers(self) -> bool:
        """Whether another process has the file open."""
        ...

    def close(self) -> None: ...


class _Events:
    def __init__(self) -> None:
        self._events = {topic: asyncio.Event() for topic in Topic}

    def signal(self, topic: Topic) -> asyncio.Event:
        return self._events[topic]

    def ring_here(self, topics: Collection[Topic]) -> None:
        for topic in topics:
            self._events[topic].set()


class LocalBell(_Events):
    """For storages without threads: all of them are in one process and are rung directly, in order."""

    _rooms: Final[dict[Path, list["LocalBell"]]] = {}

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._rooms.setdefault(self._path, []).append(self)

    @property
    def has_peers(self) -> bool:
        return len(self._rooms[self._path]) > 1

    def ring_others(self, topics: Collection[Topic]) -> None:
        for bell in self._rooms[self._path]:
            if bell is not self:
                bell.ring_here(topics)

    def close(self) -> None:
        bells = self._rooms[self._path]
        if self in bells:
            bells.remove(self)
        if not bells:
            del self._rooms[self._path]


class SocketBell(_Events):
    """For storages of several processes."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop
        self._directory = Path(f"{path}.bell")
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._handle: int | None = None
        self._looked_at = float("-inf")
        self._has_company = False
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        with suppress(OSError):  # without a socket, other processes poll
            self._bind()

    def _bind(self) -> None:
        self._directory.mkdir(mode=0o700, exist_ok=True)
        if len(os.fsencode(self._directory)) + len(self._name) >= _LONGEST_ADDRESS:
            # The address of a Unix socket has at most 108 bytes; relative to an open directory every path is short.
            self._handle = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._socket.bind(self._address(self._name))
        self._loop.add_reader(self._socket, self._receive)
        self._send_all(b"")  # removes the sockets of dead processes, so that they do not count as peers

    def _address(self, name: str) -> str:
        return str(self._directory / name) if self._handle is None else f"/proc/self/fd/{self._handle}/{name}"

    def _receive(self) -> None:
        with suppress(BlockingIOError):
            while True:
                words = self._socket.recv(256).split()
                self.ring_here([_TOPICS[word] for word in words if word in _TOPICS])

    @property
    def has_peers(self) -> bool:
        if time.monotonic() - self._looked_at > _LOOK_EVERY:
            self._others()
        return self._has_company

    def ring_others(self, topics: Collection[Topic]) -> None:
        if topics:
            self._send_all(" ".join(sorted(topics)).encode())

    def _send_all(self, message: bytes) -> None:
        for name in self._others():
            self._send(name, message)

    def _others(self) -> list[str]:
        try:
            names = [entry.name for entry in self._directory.iterdir() if entry.name != self._name]
        except OSError:
            names = []
        self._looked_at = time.monotonic()
        self._has_company = bool(names)
        return names

    def _send(self, name: str, message: bytes) -> None:
        try:
            self._socket.sendto(message, self._address(name))
        except ConnectionRefusedError:
            # The process died without removing its socket.
            with suppress(OSError):
                (self._directory / name).unlink()
        except OSError:
            # The socket was removed, or its buffer is full, and then another datagram is not needed.
            pass

    def close(self) -> None:
        if not self._loop.is_closed():
            self._loop.remove_reader(self._socket)
        self._socket.close()
        with suppress(OSError):
            (self._directory / self._name).unlink()
        with suppress(OSError):
            self._directory.rmdir()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
