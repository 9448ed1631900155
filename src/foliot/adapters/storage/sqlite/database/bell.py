"""Wakes waiting loops, in this process and in others that have the same file open.

Each process binds a datagram socket in `<database>.bell/`; ringing sends one datagram to every other socket there. A
lost datagram only causes a delay: a waiting loop also polls now and then.

A process that waits for the write lock sends a request the same way. SQLite gives the lock to the first process that
asks when it is free, and a writer with a full queue asks again at once: so after a request it pauses between commits.
"""

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Final, Protocol

from foliot.adapters.storage.shared.signals import Signals
from foliot.ports.topic import Topic

_LONGEST_ADDRESS: Final = 100
_CLOCK_STEP: Final = 2_000_000_000
"""Nanoseconds after which a change of a directory has a later time than the change before, on any file system."""
_LOCK: Final = b"lock"
_TOPICS: Final = {topic.value.encode(): topic for topic in Topic}


class Bell(Protocol):
    def signal(self, topic: Topic) -> asyncio.Event: ...

    def subscribe(self, *topics: Topic) -> AbstractContextManager[asyncio.Event]: ...

    def ring_here(self, topics: Collection[Topic]) -> None:
        """Wake the waiting loops of this process. Called in the event loop."""
        ...

    def ring_others(self, topics: Collection[Topic]) -> None:
        """Wake the other processes. Called in the writer's thread."""
        ...

    def request_lock(self) -> None:
        """Ask the other processes to leave the write lock free for a moment. Called in the writer's thread."""
        ...

    def take_lock_request(self) -> bool:
        """Return whether another process requested the lock since the last call."""
        ...

    def close(self) -> None: ...


class LocalBell(Signals):
    """For storages without threads: all of them are in one process and are rung directly, in order."""

    _open_bells: Final[dict[Path, list["LocalBell"]]] = {}
    """The bells of all storages that are open in this process, by file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._open_bells.setdefault(self._path, []).append(self)

    def request_lock(self) -> None:
        """Does nothing: no other process has the file open."""

    def take_lock_request(self) -> bool:
        return False

    def ring_others(self, topics: Collection[Topic]) -> None:
        for bell in self._open_bells[self._path]:
            if bell is not self:
                bell.ring_here(topics)

    def close(self) -> None:
        bells = self._open_bells[self._path]
        if self in bells:
            bells.remove(self)
        if not bells:
            del self._open_bells[self._path]


class SocketBell(Signals):
    """For storages of several processes."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop
        self._directory = Path(f"{path}.bell")
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._handle: int | None = None
        self._others: Sequence[str] = ()
        """The sockets of other processes, as they were listed last."""
        self._listed_change: int | None = None
        """The time of the last change of the directory, if the list includes every change up to then."""
        self._is_lock_requested = False
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
                self._is_lock_requested |= _LOCK in words
                self.ring_here([_TOPICS[word] for word in words if word in _TOPICS])

    def request_lock(self) -> None:
        self._send_all(_LOCK)

    def take_lock_request(self) -> bool:
        was_requested, self._is_lock_requested = self._is_lock_requested, False
        return was_requested

    def ring_others(self, topics: Collection[Topic]) -> None:
        if topics:
            self._send_all(" ".join(sorted(topics)).encode())

    def _send_all(self, message: bytes) -> None:
        with suppress(OSError):
            self._list_others()
        for name in self._others:
            self._send(name, message)

    def _list_others(self) -> None:
        """List the directory, if it changed since the last time."""
        changed = os.stat(self._directory).st_mtime_ns  # noqa: PTH116 - called after every commit, and twice as fast
        if changed != self._listed_change:
            self._others = [name for name in os.listdir(self._directory) if name != self._name]  # noqa: PTH208
            self._listed_change = changed if time.time_ns() - changed > _CLOCK_STEP else None

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
