"""Test servers on loopback with given responses, and a resolver with given addresses."""

import asyncio
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from types import TracebackType
from typing import Self

from foliot.domain.outbound.addresses import Address


@dataclass(frozen=True)
class Asked:
    """One request as received; header names in lower case, values of repeated headers joined."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""A function that a server calls instead of sending bytes."""


def reply(status: int = 200, body: bytes = b"", **headers: str) -> bytes:
    """Return a response; `content_encoding="gzip"` is the header Content-Encoding."""
    named = {"content_length": str(len(body)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in named.items()]
    return "\r\n".join([f"HTTP/1.1 {status} Whatever", *lines, "", ""]).encode("utf-8", "surrogateescape") + body


def redirect(location: str, status: int = 302) -> bytes:
    return reply(status, location=location)


class Server:
    """Listens on a loopback address, counts connections, and responds by path; with 404 for other paths."""

    def __init__(
        self,
        answers: Mapping[str, bytes | Script] | None = None,
        *,
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.answers = dict(answers or {})
        self.connections = 0
        self.asked: list[Asked] = []
        self.is_left = asyncio.Event()
        """Set when a client closed its connection before the response was complete."""
        self._host = host
        self._tls = tls

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._host, 0, ssl=self._tls, limit=4 << 20)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        await self._server.wait_closed()

    def url(self, path: str = "/", host: str | None = None) -> str:
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://{host or self._host}:{self.port}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            asked = await _read_request(reader)
            self.asked.append(asked)
            answer = self.answers.get(asked.target.partition("?")[0], reply(404))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await self._play(answer, reader, writer)
        writer.close()

    async def _play(self, script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await script(reader, writer)
            await reader.read()
        finally:
            self.is_left.set()


async def _read_request(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.rstrip().split("\r\n")
    headers: dict[str, str] = {}
    for name, _, value in (line.partition(": ") for line in lines):
        headers[name.lower()] = f"{headers[name.lower()]}, {value}" if name.lower() in headers else value
    method, target, _ = first.split(" ")
    return Asked(method, target, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


def saying(data: bytes) -> Script:
    """Return a response that sends these bytes and then keeps the connection open."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return script


async def resetting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reset the connection in the middle of a response."""
    writer.write(reply(200, b"", content_length="1000") + b"begin")
    await writer.drain()
    writer.transport.abort()


class Names:
    """A resolver that returns the given results in turn, and then repeats the last one."""

    def __init__(self, *answers: Iterable[str]) -> None:
        self._answers = deque([tuple(ip_address(text) for text in answer) for answer in answers])
        self.questions: list[str] = []

    async def __call__(self, host: str) -> Sequence[Address]:
        self.questions.append(host)
        return self._answers.popleft() if len(self._answers) > 1 else self._answers[0]


async def no_answer(host: str) -> Sequence[Address]:
    """A resolver that never returns."""
    await asyncio.Event().wait()
    return ()
