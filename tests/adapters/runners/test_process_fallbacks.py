"""Systems that lack features of Linux: the same outcomes, by slower or coarser means."""

import asyncio
import ctypes
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from foliot.adapters.runners.process.children import process_table, process_tag, subreaper
from foliot.adapters.runners.process.children.exit_watch import PidfdWatch, ThreadWatch
from foliot.adapters.runners.process.spawn import program
from foliot.domain.run.outcome import Failure, Reason, Success
from tests.adapters.runners.attempts import living, open_descriptors, output_of, run, unique, until, zombies

Cripple = Callable[[pytest.MonkeyPatch], None]


def without_pidfds(patch: pytest.MonkeyPatch) -> None:
    patch.delattr(os, "pidfd_open")


def without_descriptors_for_pidfds(patch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> int:
        raise OSError(24, "too many open files")

    patch.setattr(os, "pidfd_open", refuse)


def without_a_loop_that_takes_pidfds(patch: pytest.MonkeyPatch) -> None:
    """A loop that believes that the descriptor belongs to a connection."""
    add_reader = asyncio.SelectorEventLoop.add_reader

    def refuse(loop: asyncio.SelectorEventLoop, descriptor: int, *callback: Any) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink() == Path("anon_inode:[pidfd]"):
            raise RuntimeError("used by a transport")
        add_reader(loop, descriptor, *callback)

    patch.setattr(asyncio.SelectorEventLoop, "add_reader", refuse)


def without_posix_spawn(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(program, "CAN_POSIX_SPAWN", False)


def without_a_list_of_children(patch: pytest.MonkeyPatch) -> None:
    be_subreaper(False)
    patch.setattr(subreaper, "_adopt_and_list", lambda: None)
    patch.setattr(subreaper, "_current", None)


def without_tags(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(process_tag, "_find_bit", lambda: 0)
    patch.setattr(subreaper, "_current", None)


def without_proc(patch: pytest.MonkeyPatch) -> None:
    """As on macOS: no feature at all."""
    without_pidfds(patch)
    without_posix_spawn(patch)
    without_a_list_of_children(patch)
    without_tags(patch)
    patch.setattr(process_table, "_read", lambda _: b"")
    patch.setattr(process_table, "names_in", lambda _: [])


def be_subreaper(wanted: bool) -> None:
    assert ctypes.CDLL(None).prctl(36, int(wanted), 0, 0, 0) == 0


LACKS = [
    without_pidfds,
    without_descriptors_for_pidfds,
    without_a_loop_that_takes_pidfds,
    without_posix_spawn,
    without_a_list_of_children,
    without_tags,
    without_proc,
]


@pytest.fixture(params=LACKS, ids=lambda lack: lack.__name__)
def lack(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cripple]:
    subreaper.subreaper()
    cripple: Cripple = request.param
    cripple(monkeypatch)
    yield cripple
    be_subreaper(True)


@pytest.mark.usefixtures("lack")
async def test_outcomes_are_the_same_with_reduced_system_support() -> None:
    assert await run("true") == Success(exit_code=0)
    assert await run("exit 3") == Failure("exit code 3", Reason.EXIT_CODE, 3)
    assert await run("kill -9 $$") == Failure("killed by SIGKILL", Reason.SIGNAL, 137)
    assert await output_of("echo hello; pwd", working_dir="/") == b"hello\n/\n"
    assert isinstance(await run("true", working_dir="/no/such/place"), Failure)


@pytest.mark.usefixtures("lack")
async def test_processes_in_the_group_of_the_head_are_ended() -> None:
    word = unique()

    assert await run(f"sleep {word} & (trap '' TERM; sleep {word}) &") == Success(exit_code=0)

    assert living(word) == []


@pytest.mark.usefixtures("lack")
async def test_cancelling_ends_a_command_with_reduced_system_support() -> None:
    word = unique()
    running = asyncio.create_task(run(f"sleep {word} & sleep {word}"))
    await until(lambda: len(living(word)) >= 3)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert living(word) == []


@pytest.mark.parametrize("kind", [PidfdWatch, ThreadWatch])
async def test_an_exit_after_the_waiter_was_cancelled_raises_no_error(kind: type[PidfdWatch | ThreadWatch]) -> None:
    loop, faults = asyncio.get_running_loop(), list[dict[str, Any]]()
    loop.set_exception_handler(lambda _, fault: faults.append(fault))
    process = subprocess.Popen(["sleep", "600"])  # noqa: ASYNC220 - short
    watch = kind(process.pid, loop)

    watch.ended.cancel()
    process.kill()
    await until(lambda: watch.has_ended)
    await asyncio.sleep(0)

    assert faults == []
    watch.collect()
    process.wait()


def test_an_exit_after_the_loop_was_closed_raises_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, faults = asyncio.new_event_loop(), list[object]()
    monkeypatch.setattr(threading, "excepthook", faults.append)
    before = set(threading.enumerate())
    process = subprocess.Popen(["sleep", "600"])
    watch = ThreadWatch(process.pid, loop)
    loop.close()

    process.kill()
    for thread in set(threading.enumerate()) - before:
        thread.join()

    assert (watch.has_ended, faults) == (True, [])
    process.wait()


async def test_without_tags_an_orphan_with_a_cleared_environment_is_found_by_its_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    word = unique()
    without_tags(monkeypatch)

    assert await run(f"env -i sleep {word} &") == Success(exit_code=0)

    assert (living(word), zombies()) == ([], [])


async def test_with_proc_a_process_outside_the_group_is_ended(lack: Cripple) -> None:
    if lack is without_proc:
        return
    word = unique()

    await run(f"setsid -f sleep {word}")

    assert living(word) == []


@pytest.mark.parametrize("lack", [without_tags], indirect=True)
@pytest.mark.usefixtures("lack")
async def test_without_tags_a_process_inside_exec_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    word, looks = unique(), Counter[int]()
    environ_of = process_table.environ_of

    def for_a_moment_none(pid: int) -> bytes:
        looks[pid] += 1
        return environ_of(pid) if looks[pid] > 3 else b""

    monkeypatch.setattr(process_table, "environ_of", for_a_moment_none)
    await run(f"setsid -f sleep {word}")

    assert living(word) == []


@pytest.mark.parametrize("lack", [without_a_list_of_children], indirect=True)
@pytest.mark.usefixtures("lack")
async def test_without_a_list_of_children_a_process_is_found_by_its_tag() -> None:
    word = unique()

    await run(f"env -i setsid -f sleep {word}")

    assert living(word) == []


@pytest.mark.usefixtures("lack")
async def test_no_zombies_and_descriptors_are_left_with_reduced_system_support() -> None:
    await run("true")
    before = open_descriptors()

    await asyncio.gather(*(run("true") for _ in range(20)))

    assert zombies() == []
    assert open_descriptors() == before


async def test_a_run_that_cannot_start_a_thread_is_retryable(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    without_pidfds(monkeypatch)
    monkeypatch.setattr("threading.Thread.start", refuse)
    word = unique()

    outcome = await run(f"sleep {word}")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable) == (Reason.LAUNCH_FAILED, True)
    await until(lambda: living(word) == [])
