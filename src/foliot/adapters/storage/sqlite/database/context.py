"""What every port of the storage needs to reach the database."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from foliot.adapters.storage.sqlite.database.group_commit import WriteFunction
from foliot.adapters.storage.sqlite.database.reader import Reader, ReadFunction
from foliot.adapters.storage.sqlite.database.session import Row, Values
from foliot.adapters.storage.sqlite.database.writer import ActingWriter, Writer
from foliot.domain.access.actor import Actor
from foliot.domain.instant import Instant
from foliot.errors import StorageMissing
from foliot.ports.clock import Clock

T = TypeVar("T")


class LogFile:
    """The file with the output of jobs. It is opened on first use."""

    def __init__(self, open_file: Callable[[], Awaitable[tuple[Writer, Reader]]]) -> None:
        self._open_file = open_file
        self._opened: tuple[Writer, Reader] | None = None
        self._opening = asyncio.Lock()

    async def submit(self, name: str, work: WriteFunction[T]) -> T:
        writer, _ = await self._open()
        return await writer.submit(name, work)

    async def read(self, query: ReadFunction[T], *, missing: T) -> T:
        """Read from one snapshot. Returns `missing` if there is no file and this process does not create one."""
        try:
            _, reader = await self._open()
        except StorageMissing:
            return missing
        return await reader.read(query)

    async def rows(self, sql: str, values: Values) -> list[Row]:
        """Return the rows of one query; no rows if there is no file and this process does not create one."""
        nothing: list[Row] = []
        return await self.read(lambda session: session.rows(sql, values), missing=nothing)

    async def close(self) -> None:
        if self._opened is not None:
            writer, reader = self._opened
            await reader.close()
            await writer.close()

    async def _open(self) -> tuple[Writer, Reader]:
        async with self._opening:
            if self._opened is None:
                self._opened = await self._open_file()
            return self._opened


class Context(NamedTuple):
    """The writer for calls that change something, the reader for all others."""

    writer: Writer
    reader: Reader
    logs: LogFile
    clock: Clock
    project: str

    def now(self, at: Instant | None) -> Instant:
        return self.clock.now() if at is None else at

    def acting_as(self, actor: Actor) -> "Context":
        """Return the same context, with a writer that writes in the name of an actor."""
        writer = self.writer.writer if isinstance(self.writer, ActingWriter) else self.writer
        return self._replace(writer=ActingWriter(writer, actor))

    async def close(self) -> None:
        """Save pending writes and close both files."""
        await self.logs.close()
        await self.reader.close()
        await self.writer.close()


class PortBase:
    """The base of the classes that fill the ports of this storage, one each."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._writer = context.writer
        self._reader = context.reader
        self._project = context.project
