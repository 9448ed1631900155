"""A shell attempt leaves no process, no matter what it started and how it ended."""

import asyncio
import os
import random
import signal
import subprocess
from pathlib import Path

import pytest

from foliot.adapters.runners.process import kill_tree_of, sweep_orphans
from foliot.adapters.runners.process.children import process_table
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from foliot.adapters.runners.process.termination import process_tree
from foliot.adapters.runners.shell import ShellRunner
from foliot.domain.run.outcome import Success
from tests.adapters.runners.attempts import ListLog, an_attempt, carrying, living, run, sleeping, unique, until

TERMINATED = 143
"""The exit code of a shell whose last command was ended by TERM."""

LEAVES = {
    "a background process that holds the pipes": "sleep {word} &",
    "nohup": "nohup sleep {word} >/dev/null 2>&1 &",
    "a session of its own": "setsid -f sleep {word}",
    "a double fork": "(setsid sh -c 'sleep {word} & sleep {word} &' &) ; sleep 0.05",
    "a group of its own": "set -m; sleep {word} &",
    "a cleared environment": "env -i setsid -f sleep {word}",
    "one that ignores TERM": "(trap '' TERM; sleep {word}; sleep {word}) &",
    "one that ignores TERM in a session of its own": "setsid -f sh -c 'trap \"\" TERM; sleep {word}; sleep {word}'",
    "one that answers TERM with a new process": "setsid -f sh -c 'trap \"setsid -f sleep {word}\" TERM; sleep {word}'",
    "one that never stays": 'export HOP=\'setsid -f sh -c "$HOP"; : {word}\'; setsid -f sh -c "$HOP"',
    "a stopped process": "sleep {word} & kill -STOP $!",
    "a crowd": "for n in 1 2 3 4 5 6 7 8 9; do setsid -f sleep {word}; sleep {word} & done",
}


@pytest.mark.proves("E1", "E6")
@pytest.mark.parametrize("leaves", LEAVES.values(), ids=LEAVES.keys())
async def test_leftover_processes_are_ended_and_do_not_change_the_outcome(leaves: str) -> None:
    word = unique()

    outcome = await run(leaves.format(word=word))

    assert outcome == Success(exit_code=0)
    assert living(word) == []


@pytest.mark.proves("S5")
@pytest.mark.parametrize("leaves", LEAVES.values(), ids=LEAVES.keys())
async def test_cancelling_a_command_ends_all_processes_that_it_started(leaves: str, tmp_path: Path) -> None:
    word, ready = unique(), tmp_path / "ready"
    command = leaves.format(word=word) + f"\n touch {ready}; sleep {word}"
    running = asyncio.create_task(run(command))
    await until(ready.exists)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert living(word) == []


@pytest.mark.proves("S7")
async def test_a_command_that_ignores_term_is_killed(tmp_path: Path) -> None:
    word, ready = unique(), tmp_path / "ready"
    running = asyncio.create_task(run(f"trap '' TERM; touch {ready}; while :; do sleep {word}; done"))
    await until(ready.exists)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert living(word) == []


async def test_a_command_may_clean_up_during_its_grace_period() -> None:
    log = ListLog()
    command = "trap 'echo got TERM; exit 0' TERM; echo ready; while :; do sleep 0.01; done"
    running = asyncio.create_task(run(command, log=log))
    await until(lambda: log.text("stdout") == b"ready\n")

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert log.text("stdout") == b"ready\ngot TERM\n"


async def test_a_command_gets_term_only_once() -> None:
    """Some programs exit immediately on a second TERM."""
    log = ListLog()
    command = (
        "trap 'echo got TERM; left=20' TERM; echo ready; "
        'while [ "$left" != 0 ]; do sleep 0.01; left=${left:+$((left - 1))}; done'
    )
    running = asyncio.create_task(run(command, log=log, grace=60))
    await until(lambda: log.text("stdout") == b"ready\n")

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert log.text("stdout") == b"ready\ngot TERM\n"


async def test_without_grace_a_command_is_killed_immediately() -> None:
    log = ListLog()
    command = "trap 'echo got TERM' TERM; echo ready; while :; do sleep 0.01; done"
    running = asyncio.create_task(run(command, log=log, grace=0))
    await until(lambda: log.text("stdout") == b"ready\n")

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert log.text("stdout") == b"ready\n"


A_LONG_GOODBYE = (
    "trap 'echo got TERM' TERM; echo ready; until test -e {finish}; do sleep 0.01; : {word}; done; echo bye"
)


async def test_a_second_cancellation_does_not_shorten_the_grace_period(tmp_path: Path) -> None:
    log, word, finish = ListLog(), unique(), tmp_path / "finish"
    running = asyncio.create_task(run(A_LONG_GOODBYE.format(word=word, finish=finish), log=log, grace=60))
    await until(lambda: log.text("stdout") == b"ready\n")
    running.cancel()
    await until(lambda: b"got TERM" in log.text("stdout"))

    running.cancel()

    await asyncio.sleep(0)
    finish.touch()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert log.text("stdout") == b"ready\ngot TERM\nbye\n"
    assert living(word) == []


async def test_a_cancellation_while_leftovers_end_is_raised_afterwards(tmp_path: Path) -> None:
    log, word, finish, trapped = ListLog(), unique(), tmp_path / "finish", tmp_path / "trapped"
    leftover = A_LONG_GOODBYE.format(word=word, finish=finish).replace("echo ready", f"touch {trapped}")
    command = f"({leftover}) & until test -e {trapped}; do sleep 0.01; done"
    running = asyncio.create_task(run(command, log=log, grace=60))
    await until(lambda: b"got TERM" in log.text("stdout"))

    running.cancel()

    await asyncio.sleep(0)
    finish.touch()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert log.text("stdout") == b"got TERM\nbye\n"
    assert living(word) == []


def test_an_event_loop_that_ends_ends_its_commands_first() -> None:
    word = unique()

    async def start() -> asyncio.Task[object]:
        running: asyncio.Task[object] = asyncio.create_task(run(f"setsid -f sleep {word}; sleep {word}"))
        await until(lambda: len(living(word)) >= 3)
        return running

    running = asyncio.run(start())

    assert running.cancelled()
    assert living(word) == []


async def test_a_cancellation_at_any_moment_leaves_no_process() -> None:
    word, moments = unique(), random.Random(7)
    command = f"sleep {word} & setsid -f sleep {word}; (setsid sh -c 'sleep {word} &' &); wait"
    for _ in range(40):
        running = asyncio.create_task(run(command))
        await asyncio.sleep(moments.uniform(0, 0.02))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

        assert living(word) == []


async def test_many_commands_are_ended_concurrently() -> None:
    word = unique()
    commands = [run(f"sleep {word} & setsid -f sleep {word}; sleep {word}") for _ in range(32)]
    running = [asyncio.create_task(command) for command in commands]
    await until(lambda: len(living(word)) >= 4 * 32)

    for task in running:
        task.cancel()
    ended = await asyncio.gather(*running, return_exceptions=True)

    assert {type(result) for result in ended} == {asyncio.CancelledError}
    assert living(word) == []


async def test_a_run_does_not_end_processes_of_another_run(tmp_path: Path) -> None:
    word, finish = unique(), tmp_path / "finish"
    command = f"setsid -f sleep {word}; until test -e {finish}; do sleep 0.01; done"
    other = asyncio.create_task(run(command))
    await until(lambda: len(sleeping(word)) == 1)

    await run("setsid -f sleep 600; sleep 600 &")

    assert len(sleeping(word)) == 1
    finish.touch()
    assert await other == Success(exit_code=0)
    assert living(word) == []


@pytest.mark.proves("E1")
async def test_cancelling_a_run_ends_processes_that_another_daemon_started_for_it(tmp_path: Path) -> None:
    run_id = unique()
    helper = await a_stranger(run_id)
    running = asyncio.create_task(ShellRunner().run(an_attempt(f"sleep {run_id}", run_id=run_id)))
    await until(lambda: living(f"sleep\0{run_id}"))

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert helper.wait() == TERMINATED


@pytest.mark.proves("E1")
async def test_kill_tree_of_ends_processes_of_a_killed_worker() -> None:
    run_id = unique()
    left = [await a_stranger(run_id, attempt) for attempt in (1, 2)]

    survivors = await kill_tree_of(run_id)

    assert survivors == set()
    assert [process.wait() for process in left] == [TERMINATED] * 2


async def test_kill_tree_of_ends_one_attempt_without_the_next() -> None:
    run_id = unique()
    former, present = await a_stranger(run_id, 1), await a_stranger(run_id, 2)

    await kill_tree_of(run_id, attempt=1)

    assert former.wait() == TERMINATED
    assert present.poll() is None
    await kill_tree_of(run_id)
    assert present.wait() == TERMINATED


async def test_a_sweep_ends_processes_of_many_runs_and_no_others() -> None:
    lost, other = [unique() for _ in range(3)], unique()
    left, alien = [await a_stranger(run_id) for run_id in lost], await a_stranger(other)

    await sweep_orphans([AttemptKey(run_id, 1) for run_id in lost])

    assert [process.wait() for process in left] == [TERMINATED] * 3
    assert alien.poll() is None
    await kill_tree_of(other)
    assert alien.wait() == TERMINATED


async def test_a_sweep_does_not_end_the_next_attempt_of_a_run() -> None:
    run_id = unique()
    lost, present = await a_stranger(run_id, 1), await a_stranger(run_id, 2)

    await sweep_orphans([AttemptKey(run_id, 1)])

    assert lost.wait() == TERMINATED
    assert present.poll() is None
    await kill_tree_of(run_id)
    assert present.wait() == TERMINATED


async def test_a_cancellation_during_a_search_is_raised_afterwards() -> None:
    run_id = unique()
    left = await a_stranger(run_id)
    ending_it = asyncio.create_task(kill_tree_of(run_id))
    await asyncio.sleep(0)

    ending_it.cancel()

    with pytest.raises(asyncio.CancelledError):
        await ending_it
    assert left.wait() == TERMINATED


async def test_a_reused_pid_is_not_signalled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stranger = subprocess.Popen(["sleep", "600"])  # noqa: ASYNC220 - short
    monkeypatch.setattr(process_table, "search", lambda is_wanted: {stranger.pid})

    assert await kill_tree_of(unique(), grace=0) == set()

    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_a_process_that_may_not_be_signalled_does_not_protect_others(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []

    def refuse(pid: int, signum: int) -> None:
        told.append(pid)
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "kill", refuse)
    process_tree._send(signal.SIGTERM, {7, 8})

    assert sorted(told) == [7, 8]


async def a_stranger(run_id: str, attempt: int = 1) -> subprocess.Popen[bytes]:
    """Start a daemon with a child that has a run's variables. The daemon exits with the status of the child."""
    started = f"FOLIOT_RUN_ID={run_id} FOLIOT_ATTEMPT={attempt} sleep 600; exit $?"
    before = carrying(f"FOLIOT_RUN_ID={run_id}")
    daemon = subprocess.Popen(["/bin/sh", "-c", started])  # noqa: ASYNC220 - short
    await until(lambda: carrying(f"FOLIOT_RUN_ID={run_id}") != before)
    return daemon
