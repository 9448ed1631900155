"""Connections to a database file, closed before the process forks and opened again after it.

SQLite keeps one table of its locks for all connections of a process. A child inherits that table without the locks: a
connection that it opens itself would assume to hold them, and lose the log it writes to when its parent closes the
file. So before a fork every connection is closed as soon as its user has finished; the next user opens it again.
"""

import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from weakref import WeakSet

import apsw

from foliot.errors import StorageUnavailable

STATEMENTS_KEPT: Final = 256
_MAX_WAITS: Final = 1_000
"""How often a lock is requested before giving up: about five seconds."""
_NAP: Final = 0.0005
_LONGEST_NAP: Final = 0.005
_CHECKPOINT: Final = 4_000
"""Pages (16 MB) after which the log is copied into the file. The default would interrupt bursts of writes too often."""

Connect = Callable[[], apsw.Connection]


def connect(path: Path, *, synchronous: str, cache_kib: int) -> apsw.Connection:
    """Open an existing file. Waits for locks of other processes."""
    # No mutex: a `Connection` is used by one thread at a time, and a lock for each call is expensive.
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOMUTEX
    connection = apsw.Connection(str(path), flags=flags, statementcachesize=STATEMENTS_KEPT)
    connection.set_busy_handler(wait_for_lock)
    connection.pragma("synchronous", synchronous)
    connection.pragma("cache_size", -cache_kib)
    connection.pragma("temp_store", "memory")
    connection.wal_autocheckpoint(_CHECKPOINT)
    connection.pragma("trusted_schema", 0)
    return connection


def wait_for_lock(asked: int) -> bool:
    """Sleep briefly before the next request: SQLite's own wait grows to 100 ms, but the lock is free for only 1 ms."""
    if asked > _MAX_WAITS:
        return False
    jitter = random.random()  # noqa: S311 - spreads processes that wait for one lock, no security
    time.sleep(min(_NAP * (1 + asked / 10), _LONGEST_NAP) * (0.5 + jitter))
    return True


class Connection:
    """A connection for one thread at a time: `with connection as handle`."""

    def __init__(self, connect: Connect, *, again: Connect | None = None) -> None:
        """`again` connects after a fork, if that differs from the first time."""
        self._connect = connect
        self._again = again or connect
        self._handle: apsw.Connection | None = None
        self._turn = threading.Lock()
        self.on_wait: Callable[[], None] = _ignore
        """Called before each pause of a statement that waits for the lock of another process."""
        _FORK.include(self)

    @classmethod
    def open(cls, connect: Connect, *, again: Connect) -> Self:
        """Return a connection that is already open."""
        connection = cls(connect, again=again)
        with connection:
            return connection

    def __enter__(self) -> apsw.Connection:
        self._turn.acquire()
        if self._handle is None:
            try:
                self._handle = self._connect()
                self._handle.set_busy_handler(self._wait_for_lock)
            except BaseException:
                self._turn.release()
                raise
            self._connect = self._again
        return self._handle

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._turn.release()

    def close(self) -> None:
        """Close for good: using the connection afterwards raises `StorageUnavailable`."""
        with self._turn:
            self._connect = self._again = _refuse
            self._close_handle()

    def suspend(self) -> None:
        """Close the handle, and block all users until `resume`."""
        self._turn.acquire()
        with suppress(apsw.Error):
            self._close_handle()

    def resume(self) -> None:
        """Let the next user connect again."""
        self._turn.release()

    def _wait_for_lock(self, asked: int) -> bool:
        self.on_wait()
        return wait_for_lock(asked)

    def _close_handle(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.close()


def _ignore() -> None:
    """Does nothing."""


def _refuse() -> apsw.Connection:
    raise StorageUnavailable("the storage is closed", hint="Open it again.")


class _Fork:
    """A fork in progress in one thread. Other threads cannot use a connection until it has ended."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._thread: int | None = None
        self._connections: WeakSet[Connection] = WeakSet()
        self._suspended: list[Connection] = []

    def include(self, connection: Connection) -> None:
        """Register a connection. Waits during a fork: a connection is created before it or after it."""
        with self._turn:
            self._connections.add(connection)

    def begin(self) -> None:
        """Suspend all connections. A second call by the same thread does nothing."""
        if self._thread == threading.get_ident():
            return
        self._turn.acquire()
        self._thread = threading.get_ident()
        for connection in list(self._connections):
            connection.suspend()
            self._suspended.append(connection)

    def end(self) -> None:
        """Called in both processes: the thread that forked holds every lock in each of them."""
        if self._thread != threading.get_ident():
            return  # this module was loaded by another thread while the fork was beginning
        while self._suspended:
            self._suspended.pop().resume()
        self._thread = None
        self._turn.release()


_FORK: Final = _Fork()
before_fork: Final = _FORK.begin
after_fork: Final = _FORK.end
os.register_at_fork(before=before_fork, after_in_parent=after_fork, after_in_child=after_fork)
