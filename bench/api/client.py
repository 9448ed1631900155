"""A small HTTP client that costs little: several connections, each with one request at a time."""

import asyncio
import json
import time
from typing import Any
from urllib.parse import urlsplit


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        self.reader = reader
        self._writer = writer
        self._host = host

    @classmethod
    async def open(cls, url: str, limit: int = 1 << 20) -> "Connection":
        parts = urlsplit(url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=limit)
        return cls(reader, writer, parts.netloc)

    def request(self, method: str, path: str, body: bytes = b"", headers: str = "") -> bytes:
        length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        return f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\n{length}{headers}\r\n".encode() + body

    def send(self, request: bytes) -> None:
        self._writer.write(request)

    async def answer(self) -> tuple[int, bytes]:
        """Return the status and the body of the next answer, which has a length."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        lower = head.lower()
        length = int(lower.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        return int(head[9:12]), await self.reader.readexactly(length)

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        self.send(self.request(method, path, body))
        return await self.answer()

    async def json(self, method: str, path: str, body: bytes = b"") -> Any:
        status, content = await self.ask(method, path, body)
        assert status < 300, (path, status, content[:500])
        return json.loads(content)

    def close(self) -> None:
        self._writer.close()


async def rate(url: str, method: str, path: str, body: bytes, *, count: int, connections: int = 16) -> float:
    """Return the answered requests per second."""
    opened = [await Connection.open(url) for _ in range(connections)]
    left = count

    async def work(connection: Connection) -> None:
        nonlocal left
        request = connection.request(method, path, body)
        while left > 0:
            left -= 1
            connection.send(request)
            status, content = await connection.answer()
            assert status < 300, content

    began = time.perf_counter()
    await asyncio.gather(*map(work, opened))
    took = time.perf_counter() - began
    for connection in opened:
        connection.close()
    return count / took
