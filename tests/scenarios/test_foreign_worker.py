"""A worker built from the protocol alone works beside Foliot's own."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.domain.events import EventKind
from foliot.domain.run.logs import LogEnd, LogState
from foliot.testing.invariants import check_invariants

ROOT = Path(__file__).parents[2]
WORKER = ROOT / "examples" / "worker_in_sql.py"
PAGE = ROOT / "docs" / "reference" / "protocol.md"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Foliot]:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    app.shell("greet", 'echo hello; echo "not good" >&2', queue="foreign")
    app.shell("fail", "exit 3", queue="foreign", max_concurrent=1)
    app.shell("after", "true", queue="foreign", depends_on="greet")
    app.shell("long", "sleep 600", queue="foreign", max_concurrent=1)
    app.http("call", "https://example.com", queue="foreign")
    async with app:
        yield app


def command(tmp_path: Path, how_many: int) -> list[str]:
    """Return the command of a process that cannot import Foliot."""
    return [sys.executable, "-I", "-S", str(WORKER), f"{tmp_path}/foliot.db", "foreign", str(how_many)]


def work(tmp_path: Path, how_many: int) -> list[str]:
    """Run such a process."""
    done = subprocess.run(command(tmp_path, how_many), capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


async def sound(app: Foliot) -> bool:
    """Return whether all invariants hold."""
    services = await app.open()
    return await check_invariants(services.storage, now=services.clock.now()) == []


@pytest.mark.proves("R1-09")
async def test_a_foreign_worker_executes_runs(app: Foliot, tmp_path: Path) -> None:
    good, bad = await app.enqueue("greet"), await app.enqueue("fail")

    told = work(tmp_path, 2)

    runs = [await app.runs.get(good), await app.runs.get(bad)]
    assert told == [f"{good} 0", f"{bad} 3"]
    assert [(run.status, run.reason, run.exit_code, run.attempt) for run in runs] == [
        ("success", None, 0, 1),
        ("failed", "exit_code", 3, 1),
    ]
    assert [piece.data for piece in await app.runs.logs(good) if piece.stream == "stdout"] == [b"hello\n"]
    assert [item async for item in app.runs.follow(good)][-1] == LogEnd(LogState.COMPLETE)


@pytest.mark.proves("R1-09")
async def test_the_storage_is_sound_after_a_foreign_worker(app: Foliot, tmp_path: Path) -> None:
    for job in ("greet", "fail", "greet"):
        await app.enqueue(job)
    work(tmp_path, 3)

    assert await sound(app)
    services = await app.open()
    events = await services.storage.queries.events(after=0, limit=1_000)
    assert [event.kind for event in events if event.kind == EventKind.RUNS_ENDED] == [EventKind.RUNS_ENDED] * 3


async def test_a_foreign_worker_retries_by_the_options_of_job_and_run(app: Foliot, tmp_path: Path) -> None:
    run_id = await app.enqueue("fail", retries=1, retry_delay=60)

    work(tmp_path, 1)

    run, [attempt] = await app.runs.get(run_id), await app.runs.attempts(run_id)
    assert (run.status, run.reason, run.exit_code, run.attempt) == ("scheduled", "exit_code", 3, 1)
    assert run.due_at == attempt.finished_at + timedelta(minutes=1)
    assert (attempt.status, attempt.reason, attempt.exit_code) == ("failed", "exit_code", 3)
    assert await sound(app)
    assert await app.runs.cancel(run_id) == "cancelled"


async def test_a_foreign_worker_ends_runs_that_time_out(app: Foliot, tmp_path: Path) -> None:
    run_id = await app.enqueue("long", timeout=0.1)

    work(tmp_path, 1)

    run = await app.runs.get(run_id)
    assert (run.status, run.reason, run.error_message) == ("timeout", "timeout", "took longer than 0.1 s")
    assert await sound(app)


async def test_a_foreign_worker_fails_runs_of_unsupported_kinds(app: Foliot, tmp_path: Path) -> None:
    run_id = await app.enqueue("call")

    work(tmp_path, 1)

    run = await app.runs.get(run_id)
    assert (run.status, run.reason) == ("failed", "handler_missing")


async def test_a_foreign_worker_ends_cancelled_runs(app: Foliot, tmp_path: Path) -> None:
    run_id = await app.enqueue("long", retries=3)
    worker = await asyncio.create_subprocess_exec(*command(tmp_path, 1))
    await until_started(app, run_id)

    await app.runs.cancel(run_id)
    await worker.wait()

    assert (await app.runs.get(run_id)).status == "cancelled"
    assert await sound(app)


async def test_a_stopped_foreign_worker_gives_its_runs_back(app: Foliot, tmp_path: Path) -> None:
    run_id = await app.enqueue("long")
    worker = await asyncio.create_subprocess_exec(*command(tmp_path, 1))
    await until_started(app, run_id)

    worker.terminate()
    await worker.wait()

    run = await app.runs.get(run_id)
    assert (run.status, run.attempt, await app.runs.attempts(run_id)) == ("queued", 0, [])
    assert (await (await app.open()).queries.overview.page()).workers == []
    assert await sound(app)


async def until_started(app: Foliot, run_id: str) -> None:
    async with asyncio.timeout(60):
        while (await app.runs.get(run_id)).status != "running":
            await asyncio.sleep(0.02)


async def test_every_kind_of_event_is_documented() -> None:
    told = set(re.findall(r"`([a-z]+\.[a-z_]+)`", PAGE.read_text()))

    assert {kind.value for kind in EventKind} <= told
