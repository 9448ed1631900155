"""A way to a server on which connections can fall silent, as behind a firewall that has forgotten them."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Self


class Relay:
    """Listens on a Unix socket of its own. What was connected before `silence` says nothing more; what comes later
    does."""

    def __init__(self, server: Path, directory: Path) -> None:
        self._server = server
        self._path = directory / ".s.PGSQL.5432"
        self._silent = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_unix_server(self._accept, self._path)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listener.close()
        await self.hang_up()

    def silence(self) -> None:
        self._silent.set()
        self._silent = asyncio.Event()

    async def hang_up(self) -> None:
        """Close every connection, so that nobody waits for it any more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._connect(reader, writer, self._silent))
        self._tasks.add(task)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, silent: asyncio.Event) -> None:
        there, back = await asyncio.open_unix_connection(self._server)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_pass_on(reader, back, silent))
                both.create_task(_pass_on(there, writer, silent))
        finally:
            back.close()
            writer.close()


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter, silent: asyncio.Event) -> None:
    with suppress(OSError):
        while data := await source.read(65_536):
            if silent.is_set():
                await asyncio.Event().wait()
            target.write(data)
            await target.drain()
        target.close()
