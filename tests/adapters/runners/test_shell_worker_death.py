"""When a worker is killed, the next one finds the processes of its commands."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot.adapters.runners.process import kill_tree_of, sweep_orphans
from foliot.adapters.runners.process.children import process_tag
from foliot.adapters.runners.process.children.process_tag import ProcessTag, ProcessTags
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from tests.adapters.runners.attempts import living, unique, until, zombies

WORKER = """
import asyncio, sys
from foliot.adapters.runners.shell import ShellRunner
from tests.adapters.runners.attempts import an_attempt

async def main():
    await asyncio.gather(*(ShellRunner().run(an_attempt(sys.argv[1], run_id=run_id)) for run_id in sys.argv[2:]))

asyncio.run(main())
"""
PATH = os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])

LEAVES = {
    "a child without variables": "env -i sleep {word}; :",
    "a daemon without variables": "env -i setsid -f sleep {word}; sleep {word}",
    "one without variables that ignores TERM": "trap '' TERM; env -i setsid -f sleep {word}; trap - TERM; sleep {word}",
}


@pytest.fixture(autouse=True)
def reaped() -> Iterator[None]:
    """Reap processes of a killed worker: they become children of the test process, which did not tag them."""
    yield
    for pid in zombies():
        os.waitpid(pid, os.WNOHANG)


async def a_worker(command: str, *run_ids: str) -> subprocess.Popen[bytes]:
    """Start a worker process that runs the command for each run."""
    words = [sys.executable, "-c", WORKER, command, *run_ids]
    return subprocess.Popen(words, env=os.environ | {"PYTHONPATH": PATH})  # noqa: ASYNC220 - short


@pytest.mark.proves("E1")
@pytest.mark.parametrize("leaves", LEAVES.values(), ids=LEAVES.keys())
async def test_a_sweep_ends_processes_that_cleared_their_environment(leaves: str) -> None:
    run_id, word = unique(), unique()
    worker = await a_worker(leaves.format(word=word), run_id)
    await until(lambda: len(living(f"sleep\0{word}")) == leaves.count("sleep"))
    worker.send_signal(signal.SIGKILL)
    worker.wait()

    left = await sweep_orphans([AttemptKey(run_id, 1)], grace=0.1)

    assert left == set()
    assert living(f"sleep\0{word}") == []


async def test_a_sweep_does_not_end_other_runs_of_the_killed_worker(tmp_path: Path) -> None:
    lost, other, word = unique(), unique(), unique()
    command = f"env -i setsid -f sleep {word}; touch {tmp_path}/$FOLIOT_RUN_ID; sleep {word}"
    worker = await a_worker(command, lost, other)
    await until(lambda: len(list(tmp_path.iterdir())) == 2 and len(living(f"sleep\0{word}")) == 4)
    worker.send_signal(signal.SIGKILL)
    worker.wait()

    await sweep_orphans([AttemptKey(lost, 1)])

    assert len(living(f"sleep\0{word}")) == 2
    await kill_tree_of(other)
    assert living(f"sleep\0{word}") == []


def test_the_tag_of_a_dead_worker_is_ignored_in_another_pid_namespace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In another container the same pid is another process, which may be alive."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    ours, tag = ProcessTags(), ProcessTag((1 << 30 | dead.pid) << 32 | 7)
    with ours.applied(tag):
        left = subprocess.Popen(["sleep", "600"])

    try:
        assert ours.of_dead_worker(left.pid) == tag
        monkeypatch.setattr(process_tag, "_pid_namespace", lambda pid: Path(f"pid:[{pid}]"))
        assert ours.of_dead_worker(left.pid) is None
    finally:
        left.kill()
        left.wait()


async def test_a_sweep_does_not_use_tags_of_a_living_worker(tmp_path: Path) -> None:
    run_id, word = unique(), unique()
    worker = await a_worker(f"env -i setsid -f sleep {word}; touch {tmp_path}/ready; sleep {word}; :", run_id)
    await until(lambda: (tmp_path / "ready").exists() and len(living(f"sleep\0{word}")) == 2)
    worker.send_signal(signal.SIGSTOP)

    await sweep_orphans([AttemptKey(run_id, 1)])

    assert len(living(f"sleep\0{word}")) == 1
    worker.send_signal(signal.SIGCONT)
    worker.wait()
    assert living(f"sleep\0{word}") == []
