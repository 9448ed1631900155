"""Isolated calls as runs of the engine."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.input.job import job_options
from foliot.domain.job.job import JobSpec, Options, overlay
from foliot.testing.inline import InlineEngine
from tests.adapters.runners.attempts import until

TASKS = """
def loop():
    open('ready', 'w').close()
    while True: pass
def add(a, b): return a + b
def fail(): raise ConnectionError('not yet')
"""


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[InlineEngine]:
    (tmp_path / "tasks.py").write_text(TASKS)
    async with InlineEngine(Foliot()) as engine:
        yield engine


async def start(engine: InlineEngine, directory: Path, function: str, payload: Any = None, **options: Any) -> str:
    services = await engine.app.open()
    spec = {"call": f"tasks:{function}", "working_dir": str(directory)}
    job = JobSpec(kind="python", spec=spec, options=overlay(Options(), job_options(**options)))
    await services.jobs.put({JobId(function): job})
    run_id = await engine.app.enqueue(function, payload)
    await engine.run_until_idle()
    return run_id


async def test_the_result_of_an_isolated_function_is_the_output_of_its_run(
    engine: InlineEngine, tmp_path: Path
) -> None:
    run_id = await start(engine, tmp_path, "add", {"a": 1, "b": 2})
    await engine.join()

    run = await engine.app.runs.get(run_id)
    assert (run.status, run.output_payload) == ("success", 3)


@pytest.mark.proves("S7", "E7")
async def test_the_timeout_ends_an_endless_loop(engine: InlineEngine, tmp_path: Path) -> None:
    run_id = await start(engine, tmp_path, "loop", timeout=60)
    await until((tmp_path / "ready").exists)

    await engine.advance(timedelta(seconds=61))
    await engine.join()

    assert (await engine.app.runs.get(run_id)).status == "timeout"


async def test_cancelling_a_run_ends_its_isolated_call(engine: InlineEngine, tmp_path: Path) -> None:
    run_id = await start(engine, tmp_path, "loop")
    await until((tmp_path / "ready").exists)

    await engine.app.runs.cancel(run_id)
    await engine.join()

    assert (await engine.app.runs.get(run_id)).status == "cancelled"


async def test_a_failed_isolated_call_is_retried(engine: InlineEngine, tmp_path: Path) -> None:
    run_id = await start(engine, tmp_path, "fail", retries=1, retry_delay=10)
    await engine.join()
    assert (await engine.app.runs.get(run_id)).status == "scheduled"

    await engine.advance(timedelta(minutes=1))
    await engine.join()

    run = await engine.app.runs.get(run_id)
    assert (run.status, run.attempt, run.reason) == ("failed", 2, "exception")
