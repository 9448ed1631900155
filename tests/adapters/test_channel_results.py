"""Processes of a job read the results of their fanout: by the run channel, and from a manifest."""

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from msgspec.structs import replace

from foliot.adapters.channel import UnixChannel
from foliot.adapters.runners.isolated import IsolatedCalls
from foliot.adapters.runners.shell import ShellRunner
from foliot.channel.results import ChannelResults
from foliot.domain.access.run_token import RunLease
from foliot.domain.fanout.result import ChildResult, ItemResult, record_of, result_of
from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.run.outcome import Success
from foliot.domain.run.run import Status
from foliot.errors import ChannelRefused, ChannelUnavailable, ResultsUnavailable
from tests.adapters.runners.attempts import ListLog, an_attempt, only_root

LEASE = Token(42)
PAGE = 3
FUNCTIONS = """
import foliot

def plain():
    return [result.output for result in foliot.current_run().results()]

async def asynchronous():
    return [result.output async for result in foliot.current_run().results(failed=True)]
"""


class Scene:
    """A channel, and the results that one attempt may read."""

    def __init__(self, directory: Path) -> None:
        self.channel = UnixChannel(parents=(str(directory),))
        self.children: list[ChildResult] = []
        self.requests: list[Mapping[str, object]] = []

    async def handle(self, request: Mapping[str, object]) -> Mapping[str, object]:
        self.requests.append(request)
        after = request["after"]
        assert isinstance(after, int)
        if not self.children:
            raise ResultsUnavailable("this run has no results to read")
        page = [child for child in self.children if child.index > after][:PAGE]
        return {"results": [record_of(child) for child in page]}

    def grant(self) -> Mapping[str, str]:
        return self.channel.grant(RunLease(RunId("r"), WorkerId("w"), LEASE), {"results": self.handle})

    def add(self, output: bytes | None = None) -> None:
        index = len(self.children)
        document = f'"item {index}"'.encode()
        self.children.append(
            ChildResult(index, RunId("run"), Status.SUCCESS, 0, None, document, output is not None, output)
        )


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    # Not tmp_path, whose name can be too long for a socket.
    with TemporaryDirectory(prefix="foliot-", dir="/tmp") as directory:
        Path(directory).chmod(0o755)  # noqa: ASYNC240
        scene = Scene(Path(directory))
        await scene.channel.open()
        yield scene
        await scene.channel.close()


async def read(scene: Scene) -> list[ItemResult]:
    return [result async for result in ChannelResults(environ=scene.grant())]


async def test_results_are_read_page_by_page_in_order(scene: Scene) -> None:
    for index in range(7):
        scene.add(str(index).encode())

    assert await read(scene) == list(map(result_of, scene.children))
    assert [request["after"] for request in scene.requests] == [-1, 2, 5, 6]


async def test_large_outputs_are_read_whole(scene: Scene) -> None:
    output = json.dumps("☃" * 300_000, ensure_ascii=False).encode()
    scene.add(output)
    scene.add(output)

    assert [one.output for one in await read(scene)] == ["☃" * 300_000] * 2


async def test_a_run_without_results_is_refused(scene: Scene) -> None:
    with pytest.raises(ChannelRefused, match="no results to read"):
        await read(scene)


def test_outside_of_a_job_there_are_no_results() -> None:
    with pytest.raises(ChannelUnavailable, match="FOLIOT_CHANNEL is not set"):
        list(ChannelResults(environ={}))


@pytest.mark.parametrize(("function", "failed"), [("plain", False), ("asynchronous", True)])
async def test_an_isolated_function_reads_results(scene: Scene, tmp_path: Path, function: str, failed: bool) -> None:
    for index in range(5):
        scene.add(str(index).encode())
    (tmp_path / "tasks.py").write_text(FUNCTIONS)
    calls = IsolatedCalls()
    attempt = an_attempt(call=f"tasks:{function}", working_dir=str(tmp_path))

    outcome = await calls.run(replace(attempt, channel=scene.grant))

    assert outcome == Success(b"[0,1,2,3,4]")
    assert {request["failed"] for request in scene.requests} == {failed}
    await calls.close()


# -- files


async def pages(*lines: bytes) -> AsyncIterator[bytes]:
    for line in lines:
        await asyncio.sleep(0)
        yield line


async def test_a_published_file_is_written_whole_and_removed(scene: Scene) -> None:
    async with scene.channel.publish(pages(b"1\n", b"2\n")) as path:
        assert path is not None
        assert Path(path).read_bytes() == b"1\n2\n"  # noqa: ASYNC240

    assert not os.path.exists(path)  # noqa: PTH110, ASYNC240


async def test_a_file_that_could_not_be_written_is_removed(scene: Scene) -> None:
    async def failing() -> AsyncIterator[bytes]:
        yield b"1\n"
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        async with scene.channel.publish(failing()):
            pass

    directory = Path(scene.grant()["FOLIOT_CHANNEL"]).parent
    assert [path.name for path in directory.iterdir()] == ["socket"]


async def test_a_published_file_may_be_read_whatever_the_umask_is(scene: Scene) -> None:
    before = os.umask(0o077)
    try:
        async with scene.channel.publish(pages(b"1\n")) as path:
            mode = os.stat(str(path)).st_mode  # noqa: PTH116
    finally:
        os.umask(before)

    assert stat.S_IMODE(mode) == 0o644


async def test_without_a_channel_nothing_is_published(tmp_path: Path) -> None:
    channel = UnixChannel(parents=(str(tmp_path / "missing"),))
    await channel.open()

    async with channel.publish(pages(b"1\n")) as path:
        assert path is None


@only_root
async def test_a_command_of_another_user_reads_the_file_and_cannot_find_it_otherwise(scene: Scene) -> None:
    async with scene.channel.publish(pages(b"first\n", b"second\n")) as path:
        log = ListLog()
        command = 'cat "$FOLIOT_MANIFEST"; ls "$(dirname "$FOLIOT_MANIFEST")" 2>/dev/null || echo hidden'
        attempt: Any = an_attempt(
            command, log=log, environment={"FOLIOT_MANIFEST": str(path)}, user="nobody", working_dir="/"
        )
        await ShellRunner().run(attempt)

    assert log.text("stdout") == b"first\nsecond\nhidden\n"
