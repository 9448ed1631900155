"""Reads on separate connections: a long read neither waits for the writer nor blocks it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Final, TypeVar

import apsw

from foliot.adapters.storage.sqlite.database.connection import Connection, connect
from foliot.adapters.storage.sqlite.database.errors import translate, translated
from foliot.adapters.storage.sqlite.database.session import Session
from foliot.errors import Unstorable

T = TypeVar("T")
ReadFunction = Callable[[Session], T]

_THREADS: Final = 2
_CACHE_KIB: Final = 2_048


class Reader:
    """Reads from one snapshot of the database, in a thread or (inline) in the caller's task."""

    def __init__(self, path: Path, *, inline: bool) -> None:
        self.path = path
        self._threads = None if inline else ThreadPoolExecutor(_THREADS, thread_name_prefix="foliot-sqlite-reader")
        self._idle: LifoQueue[Connection] = LifoQueue()
        self._connections: list[Connection] = []
        self._here = self._new_connection()

    async def read(self, query: ReadFunction[T]) -> T:
        """Call `query` with a session; all its reads use one snapshot."""
        if self._threads is None:
            await asyncio.sleep(0)
            return self._read(self._here, query)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._read_in_thread, query)

    def peek(self, query: ReadFunction[T]) -> T:
        """Call `query`, one statement with a few index look-ups, in the caller's thread: faster than switching
        threads."""
        try:
            with self._here as handle:
                return query(Session(handle))
        except apsw.Error as error:
            raise translate(error, self.path) from error
        except UnicodeEncodeError as error:
            raise Unstorable(error) from error

    async def close(self) -> None:
        if self._threads is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)
        for connection in self._connections:
            connection.close()

    def _read_in_thread(self, query: ReadFunction[T]) -> T:
        try:
            connection = self._idle.get_nowait()
        except Empty:
            connection = self._new_connection()
        try:
            return self._read(connection, query)
        finally:
            self._idle.put(connection)

    def _read(self, connection: Connection, query: ReadFunction[T]) -> T:
        try:
            with translated(self.path), connection as handle, Session(handle).snapshot() as session:
                return query(session)
        except UnicodeEncodeError as error:
            raise Unstorable(error) from error

    def _new_connection(self) -> Connection:
        connection = Connection(self._connect)
        self._connections.append(connection)
        return connection

    def _connect(self) -> apsw.Connection:
        handle = connect(self.path, synchronous="NORMAL", cache_kib=_CACHE_KIB)
        handle.pragma("query_only", 1)
        return handle
