"""When the worker is killed, its interpreters die, and a sweep finds their children."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from foliot.adapters.runners.process import sweep_orphans
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from tests.adapters.runners.attempts import carrying, living, unique, until

WORKER = """
import asyncio, sys
from foliot.adapters.runners.isolated import IsolatedCalls
from tests.adapters.runners.attempts import an_attempt

async def main():
    calls = IsolatedCalls()
    attempt = an_attempt(call="tasks:job", working_dir=sys.argv[1], run_id=sys.argv[2])
    await asyncio.gather(calls.run(attempt), calls.run(attempt))

asyncio.run(main())
"""

PATH = os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])
LOOP = "def job():\n open('ready', 'w').close()\n while True: pass"
FORKS = """
import os, time
def job():
    os.setsid if os.fork() else os.setsid()
    open('ready', 'w').close()
    time.sleep(600)
"""


async def a_worker(directory: Path, source: str, run_id: str) -> subprocess.Popen[bytes]:
    """Start a worker process that runs two calls and has warm interpreters."""
    (directory / "tasks.py").write_text(textwrap.dedent(source))
    command = [sys.executable, "-c", WORKER, str(directory), run_id]
    worker = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": PATH})  # noqa: ASYNC220 - short
    await until((directory / "ready").exists)
    await until(lambda: len(living(f"stub.py\0{worker.pid}\0")) >= 4)
    return worker


@pytest.mark.proves("E1", "E7")
async def test_busy_and_warm_interpreters_die_with_their_worker(tmp_path: Path) -> None:
    worker = await a_worker(tmp_path, LOOP, unique())

    worker.send_signal(signal.SIGKILL)

    worker.wait()
    await until(lambda: living(f"stub.py\0{worker.pid}\0") == [])


@pytest.mark.proves("E1")
async def test_a_sweep_ends_forks_of_interpreters_of_a_killed_worker(tmp_path: Path) -> None:
    run_id = unique()
    worker = await a_worker(tmp_path, FORKS, run_id)
    await until(lambda: len(carrying(f"FOLIOT_RUN_ID={run_id}")) >= 4)
    worker.send_signal(signal.SIGKILL)
    worker.wait()

    await sweep_orphans([AttemptKey(run_id, 1)])

    await until(lambda: living(f"stub.py\0{worker.pid}\0") == [])


async def test_an_interpreter_that_starts_after_its_worker_died_exits(tmp_path: Path) -> None:
    from foliot.adapters.runners.isolated.interpreter import command

    *words, _ = command()

    orphan = subprocess.run([*words, "1"], timeout=20, check=False, stdin=subprocess.DEVNULL)  # noqa: ASYNC221 - short

    assert orphan.returncode == 0
