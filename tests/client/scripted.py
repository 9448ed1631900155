"""A server whose answers are written in the test, and which records the requests."""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import msgspec

LOST = None
"""Close the connection instead of an answer."""


class Received(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Reply(NamedTuple):
    status: int
    body: Any
    headers: Mapping[str, str] = MappingProxyType({})


class ScriptedServer:
    """Gives the answers in their order, and the last one again and again."""

    def __init__(self) -> None:
        self.replies: list[Reply | None] = []
        self.received: list[Received] = []

    @property
    def url(self) -> str:
        host, port = self._server.sockets[0].getsockname()
        return f"http://{host}:{port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *reason: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        method, path, _ = first.split(" ")
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.received.append(Received(method, path, headers, body))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if reply is not None:
            content = b"" if reply.status == 204 else msgspec.json.encode(reply.body)
            answer = {"Content-Length": str(len(content)), "Connection": "close", **reply.headers}
            rows = "".join(f"{name}: {value}\r\n" for name, value in answer.items())
            writer.write(f"HTTP/1.1 {reply.status} Reply\r\n{rows}\r\n".encode() + content)
            await writer.drain()
        writer.close()


class CuttingProxy:
    """Passes connections on, and cuts them when told."""

    def __init__(self, target: str) -> None:
        self._host, _, port = target.removeprefix("http://").partition(":")
        self._port = int(port)
        self._writers: list[asyncio.StreamWriter] = []
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *reason: object) -> None:
        self._server.close()
        self.cut()

    def cut(self) -> None:
        """End all connections, as a network does."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        inner_reader, inner_writer = await asyncio.open_connection(self._host, self._port)
        self._writers += [writer, inner_writer]
        await asyncio.gather(_pass(reader, inner_writer), _pass(inner_reader, writer))


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while part := await reader.read(1 << 16):
            writer.write(part)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
