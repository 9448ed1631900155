"""A relay to a server whose connections can become silent, as behind a firewall that dropped their state."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Self


class Relay:
    """Listens on its own Unix socket. Connections opened before `silence` transfer nothing more; later ones work."""

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
        """Close every connection, so that no client waits for it."""
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
                both.create_task(_forward(reader, back, silent))
                both.create_task(_forward(there, writer, silent))
        finally:
            back.close()
            writer.close()


async def _forward(source: asyncio.StreamReader, target: asyncio.StreamWriter, silent: asyncio.Event) -> None:
    with suppress(OSError):
        while data := await source.read(65_536):
            if silent.is_set():
                await asyncio.Event().wait()
            target.write(data)
            await target.drain()
        target.close()
