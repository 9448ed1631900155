"""500 clients of one server, of which 50 never read: the others get everything, and the memory stays bounded."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from tests.scenarios.server import Place

READERS: Final = 450
IDLE: Final = 50
HISTORY: Final = 200
"""Events of about 50 KiB each: more than the buffers of a connection hold."""
MOST_GROWTH: Final = 150 << 20
"""Bytes. The clients that never read would otherwise keep 50 times 10 MiB. We have found 60 MiB."""


def memory(pid: int) -> int:
    """Return the resident memory of a process, in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise AssertionError("the process has no memory")


@asynccontextmanager
async def streaming(url: str, path: str, buffer: int | None = None) -> AsyncIterator[asyncio.StreamReader]:
    """Open a stream."""
    parts = urlsplit(url)
    connection = socket.socket()
    if buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, (parts.hostname, parts.port))
    reader, writer = await asyncio.open_connection(sock=connection)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        await reader.readuntil(b"retry: ")
        yield reader
    finally:
        writer.close()


async def new_jobs(reader: asyncio.StreamReader, last: str) -> list[str]:
    """Return the names of the jobs whose events arrive, up to the last one."""
    names: list[str] = []
    while last not in names:
        line = await reader.readline()
        assert line, "the stream has ended"
        if line.startswith(b"data: ") and b'"job.changed"' in line:
            names += [item[0] for item in json.loads(line[6:])["items"]]
    return names


@pytest.mark.timeout(180)
@pytest.mark.proves("E5", "O2")
async def test_clients_that_never_read_cost_others_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.file.write_text('[[jobs]]\nid = "report"\ncommand = "true"\n')
    async with AsyncExitStack() as streams, Foliot(f"sqlite:///{tmp_path}/foliot.db") as app:
        server = streams.enter_context(place.serve("--roles", "api,scheduler"))
        services = await app.open()
        for _ in range(HISTORY):
            await services.runs.enqueue_many("report", [None] * 1_000)
        newest, before = await services.queries.events.newest(), memory(server.pid)
        for _ in range(IDLE):
            await streams.enter_async_context(streaming(server.url, "/api/events?after=0", 4_096))
        path = f"/api/events?after={newest}"
        readers = [await streams.enter_async_context(streaming(server.url, path)) for _ in range(READERS)]
        names = [f"new-{number}" for number in range(20)]
        reading = asyncio.gather(*(new_jobs(reader, names[-1]) for reader in readers))
        for name in names:
            await services.jobs.put({JobId(name): JobSpec(kind="shell", spec={"command": "true"})})
        found = await reading
        grown = memory(server.pid) - before

    assert found == [names] * READERS
    assert grown < MOST_GROWTH, grown
