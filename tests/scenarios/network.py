"""A network between a worker and its server that a test can disturb."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import cycle
from urllib.parse import urlsplit


class Network:
    """Forwards connections to servers, in turn. It can delay or drop bytes, or cut connections."""

    def __init__(self, *urls: str) -> None:
        self._writers: set[asyncio.StreamWriter] = set()
        self.retarget(*urls)
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.delay = 0.0
        """Seconds that each piece takes."""
        self.cut_after: int | None = None
        """Cut each connection after so many bytes from the server."""
        self.url = ""

    def retarget(self, *urls: str) -> None:
        """Forward new connections to these servers, and cut the present ones."""
        self._targets = cycle([(parts.hostname or "", parts.port or 0) for parts in map(urlsplit, urls)])
        self.cut()

    def blackhole(self) -> None:
        """Deliver nothing from now on. Connections stay open, and new ones are accepted."""
        self._open.clear()

    def restore(self) -> None:
        """Deliver again. What was held back is lost: its connections are cut."""
        self.cut()
        self._open.set()

    def cut(self) -> None:
        """Cut all connections."""
        for writer in self._writers:
            writer.transport.abort()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Network"]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            self._open.set()
            self.cut()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            target_reader, target = await asyncio.open_connection(*next(self._targets))
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, target}
        for task in (
            asyncio.create_task(self._forward(reader, target, None)),
            asyncio.create_task(self._forward(target_reader, writer, self.cut_after)),
        ):
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None) -> None:
        left = most
        try:
            while piece := await reader.read(65_536):
                await self._open.wait()
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(piece if left is None else piece[:left])
                await writer.drain()
                if left is not None:
                    left -= len(piece)
                    if left <= 0:
                        break
        except OSError:
            pass  # the connection was cut
        finally:
            writer.close()
            self._writers.discard(writer)
