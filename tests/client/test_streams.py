"""Streams are opened again after a lost connection, and calls of other threads end with the client."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

import foliot
from foliot.client import AsyncClient, Client
from foliot.client.frames import Frame, read_frames
from foliot.client.http import RawStream
from foliot.errors import FoliotError, ServerUnavailable, WrongLoop

FRAME = [b"id: 7", b"data: {}", b""]
ALIVE = [b": alive", b""]


async def lines_of(lines: list[bytes]) -> AsyncIterator[bytes]:
    for line in lines:
        yield line


class Streams:
    """Connections with these lines, each of which is then lost."""

    def __init__(self, *connections: list[bytes]) -> None:
        self._connections = list(connections)
        self.asked: list[str | None] = []

    @asynccontextmanager
    async def stream(self, path: str, headers: Mapping[str, str]) -> AsyncIterator[RawStream]:
        self.asked.append(headers.get("Last-Event-ID"))
        if not self._connections:
            raise ServerUnavailable("gone")
        yield RawStream(200, {}, lines_of(self._connections.pop(0)))


async def followed(streams: Streams, retries: int) -> list[Frame]:
    async def pause(seconds: float) -> None:
        pass

    async def opened() -> Any:
        return streams

    transport = AsyncClient(retries=retries)._transport
    transport._pause, transport._open = pause, opened  # type: ignore[method-assign]
    found: list[Frame] = []

    async def read() -> None:
        async for frame in transport.follow("/api/events"):
            found.append(frame)  # noqa: PERF401 - the frames before the error are needed

    with pytest.raises(ServerUnavailable):
        await read()
    return found


async def test_frames_have_an_id_an_event_and_data() -> None:
    lines = [b"retry: 1000", b"", b"id: 1", b"event: end\r", b"data: {}", b"", b": alive", b"", b"data: cut"]

    assert [one async for one in read_frames(lines_of(lines))] == [Frame("{}", "1", "end"), None]


async def test_a_stream_is_opened_again_after_its_last_frame() -> None:
    streams = Streams(FRAME, [])

    assert await followed(streams, retries=1) == [Frame("{}", "7")]
    assert streams.asked == [None, "7"]


@pytest.mark.parametrize(("connection", "opened"), [(ALIVE, 9), ([b"retry: 1", b""], 2)])
async def test_only_a_stream_that_worked_counts_as_a_new_beginning(connection: list[bytes], opened: int) -> None:
    streams = Streams(*[connection] * 8)

    assert await followed(streams, retries=1) == []
    assert len(streams.asked) == opened


def test_closing_a_client_ends_the_calls_of_other_threads(url: str) -> None:
    client = Client(url)
    client.jobs.put("endless", {"command": "sleep 60"})
    run, ended = client.jobs.run("endless"), []
    follower = client.runs.follow(run.id)
    next(follower)

    def wait() -> None:
        try:
            client.runs.wait(run.id)
        except FoliotError as error:
            ended.append(type(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not any("wait" in str(task.get_coro()) for task in _tasks(client)):
        pass
    client.close()
    waiting.join()

    assert ended == [WrongLoop]
    with client:
        client.runs.cancel(run.id)


def _tasks(client: Client) -> Any:
    loop = client._thread._loop
    return [] if loop is None else asyncio.all_tasks(loop)


@pytest.mark.parametrize("end", ["", "del client; import gc; gc.collect()"])
def test_a_program_that_does_not_close_its_client_ends_without_a_warning(url: str, end: str) -> None:
    program = f"from foliot.client import Client; client = Client({url!r}); print(client.server.version()); {end}"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

    assert (done.stdout.strip(), done.stderr) == (foliot.__version__, "")
