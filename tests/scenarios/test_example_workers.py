"""The workers in examples/workers execute runs of a real server, from the documented protocol alone."""

import asyncio
import os
import shutil
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.interfaces.api.access import StoredAccess
from foliot.service.commands.run_request import RunRequest
from foliot.service.services import Services
from tests.interfaces.api.serving import Client, serving

EXAMPLES = Path(__file__).parents[2] / "examples/workers"
PROGRAMS = {"worker.py": sys.executable, "worker.mjs": "node", "worker.sh": "sh"}
NEEDS = {"worker.py": (), "worker.mjs": ("node",), "worker.sh": ("curl", "setsid")}
PATIENCE = 60
QUOTES = """printf '%s|' "a\\\\b" 'c"d' é; echo "$FOLIOT_PAYLOAD"; echo oops >&2"""
JOBS: dict[str, dict[str, Any]] = {
    "echo": {"command": QUOTES},
    "fail": {"command": "echo no; exit 3", "retries": 0},
    "long": {"command": "echo begun; sleep 100"},
    "url": {"kind": "http", "url": "http://127.0.0.1:9/", "retries": 0},
    "slow": {"command": "sleep 100", "timeout": 1, "retries": 0},
    "large": {"command": "head -c 1500000 /dev/zero | tr '\\\\0' x"},
}


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    async with app:
        services = await app.open()
        for job_id, document in JOBS.items():
            await services.job_documents.put(document, job_id)
        yield services


@pytest.fixture
async def server(services: Services) -> AsyncIterator[Client]:
    async with serving(services, StoredAccess(services, may_be_development=False)) as client:
        yield client


@pytest.fixture(params=PROGRAMS)
async def name(request: pytest.FixtureRequest) -> str:
    """The file of each example whose programs are installed."""
    missing = [program for program in NEEDS[request.param] if shutil.which(program) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    return str(request.param)


@pytest.fixture
async def worker(name: str, services: Services, server: Client, tmp_path: Path) -> AsyncIterator[Process]:
    async with running(name, services, server, tmp_path) as process:
        yield process


@asynccontextmanager
async def running(name: str, services: Services, server: Client, directory: Path) -> AsyncIterator[Process]:
    """Run an example with its credentials: a secret, or for the shell a token."""
    view, secret = await services.enrolments.register("example")
    token = await services.tokens.create(role="worker")
    kept = {one: os.environ[one] for one in ("PATH", "LANG", "HOME") if one in os.environ}
    environment = {**kept, "FOLIOT_SERVER": server.base, "FOLIOT_LEASE": "6"}
    if name == "worker.sh":
        environment["FOLIOT_TOKEN"] = token.secret
    else:
        environment |= {"FOLIOT_WORKER_ID": view.id, "FOLIOT_WORKER_SECRET": secret}
    process = await asyncio.create_subprocess_exec(
        PROGRAMS[name], str(EXAMPLES / name), env=environment, cwd=directory, stderr=PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        _, errors = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert errors == b""


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await is_so():
            await asyncio.sleep(0.05)


async def ended(services: Services, run_id: str) -> tuple[str, int | None]:
    async def is_over() -> bool:
        return (await services.queries.runs.get(run_id)).finished_at is not None

    await until(is_over)
    run = await services.queries.runs.get(run_id)
    return str(run.status), run.exit_code


async def output(services: Services, run_id: str) -> str:
    return "".join(piece.text for piece in (await services.logs.tail(run_id, 10_000)).pieces)


async def begun(services: Services, run_id: str) -> None:
    async def has_output() -> bool:
        return await output(services, run_id) == "begun\n"

    await until(has_output)


@pytest.mark.proves("R1-09")
@pytest.mark.usefixtures("worker")
async def test_an_example_executes_commands_and_sends_their_output(services: Services) -> None:
    good = await services.runs.enqueue("echo", RunRequest(payload={"day": 3}))
    bad = await services.runs.enqueue("fail")
    large = await services.runs.enqueue("large")

    assert await ended(services, good) == ("success", 0)
    assert sorted((await output(services, good)).splitlines()) == ['a\\b|c"d|é|{"day":3}', "oops"]
    assert await ended(services, bad) == ("failed", 3)
    assert await output(services, bad) == "no\n"
    assert await ended(services, large) == ("success", 0)
    assert len(await output(services, large)) == 1_500_000


@pytest.mark.usefixtures("worker")
async def test_an_example_gets_no_run_that_it_cannot_execute(services: Services) -> None:
    foreign, after = await services.runs.enqueue("url"), await services.runs.enqueue("echo")

    assert await ended(services, after) == ("success", 0)
    assert (await services.queries.runs.get(foreign)).status == "queued"


@pytest.mark.usefixtures("worker")
async def test_an_example_ends_a_run_that_is_cancelled_or_takes_too_long(services: Services) -> None:
    run_id = await services.runs.enqueue("long")
    await begun(services, run_id)
    await services.runs.cancel(run_id)
    slow = await services.runs.enqueue("slow")

    assert (await ended(services, run_id))[0] == "cancelled"
    assert (await ended(services, slow))[0] == "timeout"


async def test_an_example_gives_its_run_back_when_it_stops(services: Services, worker: Process) -> None:
    run_id = await services.runs.enqueue("long")
    await begun(services, run_id)

    worker.send_signal(signal.SIGTERM)
    await asyncio.wait_for(worker.wait(), PATIENCE)

    assert (await services.queries.runs.get(run_id)).status == "queued"
    assert await services.storage.admission.workers() == []


async def test_an_example_stops_when_it_is_drained(services: Services, worker: Process, name: str) -> None:
    await ended(services, await services.runs.enqueue("echo"))

    await services.enrolments.drain(name)

    assert await asyncio.wait_for(worker.wait(), PATIENCE) == 0
    assert await services.storage.admission.workers() == []


def test_the_python_example_is_short() -> None:
    assert len((EXAMPLES / "worker.py").read_text().splitlines()) <= 150
