"""Several real processes on one file."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any

import pytest

from foliot.adapters.clock import SystemClock
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.ids import RunId
from foliot.testing.builders import some_runs
from tests.adapters.storage.sqlite.files import rows

WORKER = """
import asyncio, json, pathlib, sys
from foliot.adapters.clock import SystemClock
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.run.lease import Finish, Worker
from foliot.domain.run.outcome import Success
from foliot.ports.topic import Topic

async def main(path, name):
    storage = await SqliteStorage.open(path, clock=SystemClock(), synchronous="NORMAL")
    await storage.work.register(Worker(name, name, ("default",), 10), 60_000)
    print(json.dumps("ready"), flush=True)
    bell, done = storage.signal(Topic.RUNS), []
    while "last" not in done:
        await bell.wait()
        bell.clear()
        while claims := (await storage.work.claim(name, ["default", name], 5)).claims:
            done += [claim.job_id for claim in claims if claim.queue == name] + [c.run_id for c in claims]
            await storage.work.finish([Finish(c.run_id, c.worker_id, c.token, Success()) for c in claims])
    print(json.dumps([run_id for run_id in done if run_id != "last"]), flush=True)
    await storage.close()

asyncio.run(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
"""


async def start_worker(path: Path, name: str) -> Process:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, path, name, stdout=PIPE)
    assert await message_of(process) == "ready"
    return process


async def message_of(process: Process) -> Any:
    assert process.stdout is not None
    return json.loads(await process.stdout.readline())


@pytest.mark.proves("L1", "M1")
async def test_workers_in_other_processes_are_woken_and_share_all_runs(tmp_path: Path) -> None:
    path = tmp_path / "foliot.db"
    storage = await SqliteStorage.open(path, clock=SystemClock(), synchronous="NORMAL")
    workers = [await start_worker(path, name) for name in ("alice", "bob")]
    runs = [run for _ in range(60) for run in some_runs(5)]

    for first in range(0, len(runs), 5):
        await storage.orders.create(runs[first : first + 5])
    last = [run for name in ("alice", "bob") for run in some_runs(1, job_id="last", queue=name)]
    await storage.orders.create(last)
    shares: list[list[RunId]] = [await message_of(worker) for worker in workers]
    for worker in workers:
        await worker.wait()
    await storage.close()

    assert sorted(run_id for share in shares for run_id in share) == sorted(run.id for run in runs + last)
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    assert rows(path, "SELECT (SELECT count(*) FROM ready), (SELECT count(*) FROM leases)") == [(0, 0)]
