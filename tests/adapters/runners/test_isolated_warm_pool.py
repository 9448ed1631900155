"""The pool of warm interpreters: it follows the demand, and none outlives its use."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from foliot.adapters.runners.isolated import IsolatedCalls, WarmPool, interpreter, warm_pool
from foliot.adapters.runners.isolated.interpreter import Interpreter
from foliot.adapters.runners.process.limits.control_groups import ControlGroup
from foliot.adapters.runners.process.spawn.program import SpawnRequest
from foliot.adapters.runners.shell import ShellRunner
from foliot.domain.run.outcome import Failure, Success
from tests.adapters.runners.attempts import ListLog, an_attempt, living, open_descriptors, until, zombies
from tests.adapters.runners.isolated_scene import Scene, scene

__all__ = ["scene"]

PID = "import os\ndef job(): return os.getpid()"


def waiting() -> list[int]:
    """Return the interpreters of this process that wait for a call."""
    ours = f"stub.py\0{os.getpid()}\0"
    return [pid for pid in living(ours) if f"FOLIOT_RUN_ID={'-' * 64}".encode() in environ(pid)]


def environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


async def test_no_interpreter_is_started_before_the_first_call(scene: Scene) -> None:
    await asyncio.sleep(0)

    assert waiting() == []


async def test_after_a_call_a_warm_interpreter_serves_the_next(scene: Scene) -> None:
    await scene.call(PID)
    await until(lambda: len(waiting()) == 1)
    [warm] = waiting()

    assert await scene.call(PID) == Success(str(warm).encode())

    await until(lambda: len(waiting()) == 1)
    assert waiting() != [warm]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that records each start of a warm interpreter."""
    found: list[object] = []
    start = warm_pool._start

    def start_and_note(launch: SpawnRequest) -> Interpreter:
        found.append(launch)
        return start(launch)

    monkeypatch.setattr(warm_pool, "_start", start_and_note)
    return found


def is_kept() -> bool:
    return any(task.get_name() == "foliot-warm-pool" for task in asyncio.all_tasks())


async def test_a_burst_starts_no_more_interpreters_than_the_pool_size(scene: Scene, started: list[object]) -> None:
    scene.calls = IsolatedCalls(warm_pool=WarmPool(size=3))

    await asyncio.gather(*(scene.call(PID, env={"SHADE": shade}) for shade in ["blue", "red"] * 3))

    await until(lambda: len(waiting()) == 3)
    assert len(started) == 3


async def test_all_idle_interpreters_of_a_burst_end_together(scene: Scene, started: list[object]) -> None:
    scene.calls = IsolatedCalls(warm_pool=WarmPool(size=2, idle=0.1))

    await asyncio.gather(*(scene.call(PID) for _ in range(6)))

    await until(lambda: not is_kept())
    assert len(started) == 2
    assert waiting() == zombies() == []


async def test_an_idle_interpreter_is_ended(scene: Scene) -> None:
    scene.calls = IsolatedCalls(warm_pool=WarmPool(idle=0.2))
    seen = asyncio.create_task(until(waiting))

    await scene.call(PID)

    await seen
    await until(lambda: not is_kept())
    assert waiting() == zombies() == []
    assert isinstance(await scene.call(PID), Success)


async def test_the_youngest_warm_interpreter_serves_a_call(scene: Scene) -> None:
    scene.calls = IsolatedCalls(warm_pool=WarmPool(size=2))
    await asyncio.gather(*(scene.call(PID) for _ in range(2)))
    await until(lambda: len(waiting()) == 2)
    youngest = max(waiting(), key=started_at)

    assert await scene.call(PID) == Success(str(youngest).encode())


def started_at(pid: int) -> tuple[int, int]:
    """Return the start time in clock ticks, and the pid to order processes of the same tick."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]), pid


async def test_a_warm_interpreter_serves_only_calls_with_the_same_variables(scene: Scene) -> None:
    await scene.call(PID, env={"SHADE": "blue"})
    await until(lambda: len(waiting()) == 1)
    [blue] = waiting()

    assert await scene.call(PID, env={"SHADE": "red"}) != Success(str(blue).encode())
    assert await scene.call(PID, env={"SHADE": "blue"}) == Success(str(blue).encode())


@pytest.mark.parametrize("is_noticed", [False, True])
async def test_a_call_skips_a_warm_interpreter_that_was_killed(scene: Scene, is_noticed: bool) -> None:
    await scene.call(PID)
    await until(lambda: len(waiting()) == 1)

    os.kill(waiting()[0], signal.SIGKILL)
    while not zombies():
        pass
    if is_noticed:
        await asyncio.sleep(0.001)  # one turn of the loop
    assert isinstance(await scene.call(PID), Success)


async def test_a_failed_start_of_a_warm_interpreter_does_not_fail_calls(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise OSError(11, "no more processes")

    monkeypatch.setattr("foliot.adapters.runners.isolated.warm_pool._start", refuse)

    for _ in range(3):
        assert isinstance(await scene.call(PID), Success)


@pytest.mark.parametrize("step", ["watch_exit", "set_limits"])
async def test_an_interpreter_that_cannot_be_watched_or_limited_is_ended(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    scene.calls = IsolatedCalls(warm_pool=WarmPool(size=0))
    await scene.call(PID)
    before = open_descriptors()
    monkeypatch.setattr(interpreter, step, refuse)

    assert isinstance(await scene.call(PID, limits={"files": 64}), Failure)

    await until(lambda: living(f"stub.py\0{os.getpid()}\0") == [])
    await ShellRunner().run(an_attempt("true"))  # reaps an interpreter that did not die at once
    assert zombies() == []
    assert open_descriptors() == before


async def test_the_control_group_of_an_interpreter_that_cannot_join_it_is_removed(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place := tmp_path / "group").mkdir()  # without the files of a real group, no process can be added
    monkeypatch.setattr(interpreter, "make_control_group", lambda limits: ControlGroup({"pids": place}))

    assert isinstance(await scene.call(PID, limits={"processes": 20}), Failure)

    assert not place.exists()


async def test_a_cancellation_while_interpreters_end_is_raised_after_all_are_reaped() -> None:
    class Slow:
        """An interpreter that takes a while to die."""

        def __init__(self) -> None:
            self.exit_watch = SimpleNamespace(ended=asyncio.get_running_loop().create_future())
            self.is_reaped = False

        def kill(self) -> None:
            pass

        def forget(self) -> None:
            self.is_reaped = True

    slow: Any = [Slow(), Slow()]
    ending = asyncio.create_task(warm_pool._kill_all(slow))
    await asyncio.sleep(0)

    ending.cancel()
    for one in slow:
        await asyncio.sleep(0)
        one.exit_watch.ended.set_result(None)

    with pytest.raises(asyncio.CancelledError):
        await ending
    assert [one.is_reaped for one in slow] == [True, True]


async def test_close_ends_all_warm_interpreters_and_later_calls_work(scene: Scene) -> None:
    for _ in range(2):
        await scene.call(PID)
        await until(lambda: len(waiting()) == 1)

        await scene.calls.close()

        assert waiting() == zombies() == []


CallOnce = Callable[[], Coroutine[Any, Any, None]]


@pytest.fixture
def call_once(tmp_path: Path) -> CallOnce:
    """Return a function that makes a call and waits for the next warm interpreter."""
    (tmp_path / "tasks.py").write_text(PID)
    calls = IsolatedCalls()

    async def once() -> None:
        attempt = an_attempt(call="tasks:job", working_dir=str(tmp_path), log=ListLog())
        assert isinstance(await calls.run(attempt), Success)
        await until(lambda: len(waiting()) == 1)

    return once


def test_warm_interpreters_end_with_their_event_loop(call_once: CallOnce) -> None:
    for _ in range(2):
        asyncio.run(call_once())

        assert waiting() == zombies() == []
