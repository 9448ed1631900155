"""The run channel accepts requests of running attempts only, and answers every wrong one with an error."""

import asyncio
import json
import os
import shutil
import stat
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from msgspec.structs import replace

from foliot.adapters.channel import MAX_CONNECTIONS, UnixChannel
from foliot.adapters.runners.isolated import IsolatedCalls
from foliot.adapters.runners.shell import ShellRunner
from foliot.channel.client import ChannelClient, from_environment
from foliot.channel.protocol import MAX_LINE
from foliot.domain.access.run_token import RunLease
from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.run.outcome import Success
from foliot.domain.run.progress import RunProgress, read_progress
from foliot.errors import ChannelRefused, ChannelUnavailable, InvalidInput
from foliot.ports.runner import Attempt
from tests.adapters.runners.attempts import ListLog, an_attempt, only_root
from tests.architecture.examples import FENCE

HOWTO = Path(__file__).parents[2] / "docs" / "howto" / "report-progress.md"
LEASE = Token(42)
SEND = """
import json, os, socket
s = socket.socket(socket.AF_UNIX); s.connect(os.environ["FOLIOT_CHANNEL"])
request = {"version": 1, "token": os.environ["FOLIOT_RUN_TOKEN"], "type": "progress", "fraction": 0.4}
s.sendall(json.dumps(request).encode())
s.shutdown(socket.SHUT_WR)
assert json.loads(s.recv(9999))["ok"]
"""


def held(lease: Token) -> RunLease:
    return RunLease(RunId("r"), WorkerId("w"), lease)


class Scene:
    """A channel, and the reports of one attempt."""

    def __init__(self, directory: Path) -> None:
        self.channel = UnixChannel(parents=(str(directory),))
        self.reports: list[RunProgress] = []

    async def handle(self, request: Mapping[str, object]) -> Mapping[str, object]:
        self.reports.append(read_progress(request.get("fraction"), request.get("text")))
        return {}

    def grant(self, lease: Token = LEASE) -> Mapping[str, str]:
        return self.channel.grant(held(lease), {"progress": self.handle})

    async def ask(self, *lines: bytes) -> list[dict[str, Any]]:
        reader, writer = await asyncio.open_unix_connection(self.grant()["FOLIOT_CHANNEL"])
        writer.write(b"".join(lines))
        writer.write_eof()
        answers = [json.loads(line) for line in (await reader.read()).splitlines()]
        writer.close()
        return answers

    def request(self, **fields: object) -> bytes:
        token = self.grant()["FOLIOT_RUN_TOKEN"]
        request = {"version": 1, "token": token, "type": "progress", "fraction": 0.4, **fields}
        return json.dumps(request).encode() + b"\n"


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    # Not tmp_path, whose name can be too long for a socket.
    with TemporaryDirectory(prefix="foliot-") as directory:
        scene = Scene(Path(directory))
        await scene.channel.open()
        yield scene
        await scene.channel.close()
        assert [name for name in os.listdir(directory) if name.startswith("foliot-channel-")] == []  # noqa: PTH208


async def test_requests_of_one_connection_are_answered_in_order(scene: Scene) -> None:
    answers = await scene.ask(*(scene.request(fraction=step / 10, text=f"page {step}") for step in range(3)))

    assert answers == [{"version": 1, "ok": True}] * 3
    assert scene.reports == [(0.0, "page 0"), (0.1, "page 1"), (0.2, "page 2")]


async def test_a_request_without_a_line_end_is_answered(scene: Scene) -> None:
    assert (await scene.ask(scene.request().rstrip()))[0]["ok"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"hello\n", "malformed"),
        (b"[1]\n", "malformed"),
        (b"\xff\xfe\n", "malformed"),
        (b"[" * 10_000 + b"\n", "malformed"),
        (b"x" * (MAX_LINE + 1) + b"\n", "malformed"),
        (b'{"version":2}\n', "version"),
        (b'{"version":1}\n', "token"),
        (b'{"version":1,"token":7}\n', "token"),
        (b'{"version":1,"token":"42.guessed","type":"progress","fraction":1}\n', "token"),
        (b'{"version":1,"token":"' + b"9" * 9_000 + b'.x"}\n', "token"),
    ],
)
async def test_a_wrong_request_gets_an_error_with_a_hint(scene: Scene, line: bytes, code: str) -> None:
    [answer] = await scene.ask(line)

    assert (answer["ok"], answer["code"], bool(answer["error"]), bool(answer["hint"])) == (False, code, True, True)
    assert scene.reports == []


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"type": "progres"}, "type"),
        ({"type": None}, "type"),
        ({"fraction": 2}, "invalid"),
        ({"fraction": "much"}, "invalid"),
        ({"text": 7}, "invalid"),
    ],
)
async def test_a_wrong_field_is_refused_and_the_next_request_is_answered(
    scene: Scene, fields: dict[str, object], code: str
) -> None:
    wrong, right = await scene.ask(scene.request(**fields), scene.request())

    assert (wrong["code"], right["ok"]) == (code, True)


async def test_nan_is_refused(scene: Scene) -> None:
    [answer] = await scene.ask(scene.request(fraction=float("nan")))

    assert (answer["code"], scene.reports) == ("malformed", [])


async def test_a_forged_token_and_that_of_an_ended_attempt_are_refused(scene: Scene) -> None:
    variables = scene.grant()
    client = from_environment(variables)
    await asyncio.to_thread(client.ask, "progress", fraction=0.1)
    scene.channel.revoke(LEASE)

    with pytest.raises(ChannelRefused, match="no attempt that runs"):
        await asyncio.to_thread(client.ask, "progress", fraction=0.2)
    client.close()
    assert scene.grant()["FOLIOT_RUN_TOKEN"] != variables["FOLIOT_RUN_TOKEN"]
    assert scene.reports == [(0.1, None)]


async def test_the_token_of_another_attempt_does_not_reach_this_one(scene: Scene) -> None:
    other = scene.channel.grant(held(Token(43)), {})["FOLIOT_RUN_TOKEN"]

    [answer] = await scene.ask(scene.request(token=other))

    assert (answer["code"], scene.reports) == ("type", [])


async def test_a_thousand_requests_a_second_are_answered(scene: Scene) -> None:
    answers = await scene.ask(*(scene.request(fraction=step / 1_000) for step in range(1_000)))

    assert all(answer["ok"] for answer in answers)
    assert (len(scene.reports), scene.reports[-1]) == (1_000, (0.999, None))


async def test_idle_connections_do_not_keep_a_job_from_reporting(scene: Scene) -> None:
    path = scene.grant()["FOLIOT_CHANNEL"]
    idle = [await asyncio.open_unix_connection(path) for _ in range(2 * MAX_CONNECTIONS)]

    assert (await scene.ask(scene.request()))[0]["ok"]
    for _, writer in idle:
        writer.close()


async def test_a_client_connects_again_after_its_connection_was_closed(scene: Scene) -> None:
    client = from_environment(scene.grant())
    await asyncio.to_thread(client.ask, "progress", fraction=0.1)
    idle = [await asyncio.open_unix_connection(scene.grant()["FOLIOT_CHANNEL"]) for _ in range(MAX_CONNECTIONS + 1)]

    await asyncio.to_thread(client.ask, "progress", fraction=0.2)

    assert scene.reports == [(0.1, None), (0.2, None)]
    client.close()
    for _, writer in idle:
        writer.close()


async def test_the_client_raises_what_the_worker_refuses(scene: Scene) -> None:
    client = from_environment(scene.grant())

    with pytest.raises(InvalidInput, match="not between 0 and 1"):
        await asyncio.to_thread(client.ask, "progress", fraction=7)
    client.close()


def test_the_client_says_that_the_worker_is_gone(tmp_path: Path) -> None:
    with pytest.raises(ChannelUnavailable, match="could not reach the worker"):
        ChannelClient(str(tmp_path / "socket"), "42.x").ask("progress", fraction=0.1)


async def test_any_user_may_connect_and_none_may_add_files(scene: Scene) -> None:
    path = Path(scene.grant()["FOLIOT_CHANNEL"])

    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o711  # noqa: PTH116
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o666  # noqa: PTH116


async def test_a_channel_that_cannot_be_opened_grants_nothing(tmp_path: Path) -> None:
    for parent in (tmp_path / "missing", tmp_path / ("long" * 40)):
        channel = UnixChannel(parents=(str(parent),))
        await channel.open()

        assert channel.grant(held(LEASE), {}) == {}
        await channel.close()


async def test_the_directory_of_a_killed_worker_is_removed_by_the_next(scene: Scene) -> None:
    path = Path(scene.grant()["FOLIOT_CHANNEL"])
    directory = path.parents[1]
    left = directory / "foliot-channel-left"
    left.mkdir()
    program = f"import socket; socket.socket(socket.AF_UNIX).bind({str(left / 'socket')!r})"
    killed = await asyncio.create_subprocess_exec("python3", "-c", program)
    await killed.wait()
    other = UnixChannel(parents=(str(directory),))

    await other.open()

    assert [os.path.exists(one) for one in (left, path)] == [False, True]  # noqa: PTH110, ASYNC240
    await other.close()


async def test_a_command_reports_without_foliot(scene: Scene) -> None:
    attempt = an_attempt(argv=["python3", "-c", SEND])
    outcome = await ShellRunner().run(_with_channel(attempt, scene))

    assert (outcome, scene.reports) == (Success(exit_code=0), [(0.4, None)])


async def test_the_example_of_the_how_to_reports_without_foliot(scene: Scene) -> None:
    [program] = [found["body"] for found in FENCE.finditer(HOWTO.read_text()) if "import json" in found["body"]]
    log = ListLog()

    outcome = await ShellRunner().run(_with_channel(an_attempt(argv=["python3", "-c", program], log=log), scene))

    assert (outcome, scene.reports) == (Success(exit_code=0), [(0.4, None)])
    assert b'"ok":true' in log.text("stdout")


async def test_an_isolated_function_reports(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text("import foliot\ndef job(): foliot.current_run().progress(0.4, 'page 12')\n")
    calls = IsolatedCalls()

    outcome = await calls.run(_with_channel(an_attempt(call="tasks:job", working_dir=str(tmp_path)), scene))

    assert (outcome, scene.reports) == (Success(), [(0.4, "page 12")])
    await calls.close()


@only_root
async def test_a_command_of_another_user_reports() -> None:
    scene = Scene(Path("/tmp"))
    await scene.channel.open()
    python = shutil.which("python3", path=os.defpath) or "python3"

    outcome = await ShellRunner().run(_with_channel(an_attempt(argv=[python, "-c", SEND], user="nobody"), scene))

    assert (outcome, scene.reports) == (Success(exit_code=0), [(0.4, None)])
    await scene.channel.close()


def _with_channel(attempt: Attempt, scene: Scene) -> Attempt:
    return replace(attempt, channel=scene.grant)
