"""Reads on connections of their own: a long listing neither waits for the writer nor holds it up."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Final, TypeVar

import apsw

from foliot.adapters.storage.sqlite.connection import Row, Session, Values, connect
from foliot.adapters.storage.sqlite.fetching import fetch_all
from foliot.adapters.storage.sqlite.line import Line
from foliot.adapters.storage.sqlite.trouble import translate, translated
from foliot.errors import Unstorable

T = TypeVar("T")
Look = Callable[[Session], T]

_THREADS: Final = 2
_CACHE_KIB: Final = 2_048


class Reader:
    """Answers questions about one state of the database, in a thread or (inline) at once."""

    def __init__(self, path: Path, *, inline: bool) -> None:
        self._path = path
        self._threads = None if inline else ThreadPoolExecutor(_THREADS, thread_name_prefix="foliot-sqlite-reader")
        self._idle: LifoQueue[Line] = LifoQueue()
        self._lines: list[Line] = []
        self._here = self._new_line()

    async def read(self, look: Look[T]) -> T:
        """Ask several things of one snapshot."""
        if self._threads is None:
            await asyncio.sleep(0)
            return self._look(self._here, look)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._look_in_thread, look)

    def peek(self, sql: str, values: Values = ()) -> Row | None:
        """One row by one step into an index: quicker than any hop to a thread."""
        try:
            with self._here as connection:
                found = fetch_all(connection, sql, values)
        except apsw.Error as error:
            raise translate(error, self._path) from error
        except UnicodeEncodeError as error:
            raise Unstorable(error) from error
        return found[0] if found else None

    async def close(self) -> None:
        if self._threads is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)
        for line in self._lines:
            line.close()

    def _look_in_thread(self, look: Look[T]) -> T:
        try:
            line = self._idle.get_nowait()
        except Empty:
            line = self._new_line()
        try:
            return self._look(line, look)
        finally:
            self._idle.put(line)

    def _look(self, line: Line, look: Look[T]) -> T:
        try:
            with translated(self._path), line as connection, Session(connection).snapshot() as session:
                return look(session)
        except UnicodeEncodeError as error:
            raise Unstorable(error) from error

    def _new_line(self) -> Line:
        line = Line(self._connect)
        self._lines.append(line)
        return line

    def _connect(self) -> apsw.Connection:
        connection = connect(self._path, synchronous="NORMAL", cache_kib=_CACHE_KIB)
        connection.pragma("query_only", 1)
        return connection
