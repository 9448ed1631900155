"""Reads on connections of their own: a long read neither waits for the writer nor blocks it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Final, TypeVar

import apsw

from foliot.adapters.storage.sqlite.database.connection import Connection, connect
from foliot.adapters.storage.sqlite.database.errors import translate, translated
from foliot.adapters.storage.sqlite.database.session import Row, Session, Values
from foliot.errors import Unstorable

T = TypeVar("T")
Look = Callable[[Session], T]

_THREADS: Final = 2
_CACHE_KIB: Final = 2_048


class Reader:
    """Reads from one snapshot of the database, in a thread or (inline) in the caller's task."""

    def __init__(self, path: Path, *, inline: bool) -> None:
        self._path = path
        self._threads = None if inline else ThreadPoolExecutor(_THREADS, thread_name_prefix="foliot-sqlite-reader")
        self._idle: LifoQueue[Connection] = LifoQueue()
        self._connections: list[Connection] = []
        self._here = self._new_connection()

    async def read(self, look: Look[T]) -> T:
        """Call `look` with a session; all its reads see one snapshot."""
        if self._threads is None:
            await asyncio.sleep(0)
            return self._look(self._here, look)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._look_in_thread, look)

    def peek(self, sql: str, values: Values = ()) -> Row | None:
        """One row by one step into an index, in the caller's thread: faster than a hop to another one."""
        try:
            with self._here as handle:
                return Session(handle).row(sql, values)
        except apsw.Error as error:
            raise translate(error, self._path) from error
        except UnicodeEncodeError as error:
            raise Unstorable(error) from error

    async def close(self) -> None:
        if self._threads is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)
        for connection in self._connections:
            connection.close()

    def _look_in_thread(self, look: Look[T]) -> T:
        try:
            connection = self._idle.get_nowait()
        except Empty:
            connection = self._new_connection()
        try:
            return self._look(connection, look)
        finally:
            self._idle.put(connection)

    def _look(self, connection: Connection, look: Look[T]) -> T:
        try:
            with translated(self._path), connection as handle, Session(handle).snapshot() as session:
                return look(session)
        except UnicodeEncodeError as error:
            raise Unstorable(error) from error

    def _new_connection(self) -> Connection:
        connection = Connection(self._connect)
        self._connections.append(connection)
        return connection

    def _connect(self) -> apsw.Connection:
        handle = connect(self._path, synchronous="NORMAL", cache_kib=_CACHE_KIB)
        handle.pragma("query_only", 1)
        return handle
