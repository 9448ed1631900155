"""Descriptors: the worker raises its limit, programs get the original one, and runs wait for free descriptors."""

import asyncio
import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from foliot.adapters.runners.isolated import IsolatedCalls, WarmPool
from foliot.adapters.runners.process import SpawnRequest
from foliot.adapters.runners.process.limits import descriptors
from foliot.domain.run.outcome import Failure, Reason, Success
from tests.adapters.runners.attempts import ListLog, an_attempt, living, open_descriptors, output_of, run, unique, until

USUAL = 256
NOBODY = -1


@pytest.fixture
def raised(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Return the limit of a worker that was started with 256 and has raised its limit."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setattr(descriptors, "_usual", None)
    resource.setrlimit(resource.RLIMIT_NOFILE, (USUAL, limits[1]))
    yield descriptors.raise_limit()
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def soft_limit(pid: int = 0) -> int:
    return resource.prlimit(pid, resource.RLIMIT_NOFILE)[0]


def test_raise_limit_allows_as_many_open_files_as_the_system(raised: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]

    assert soft_limit() == raised == min(hard, 1 << 20)


def test_raising_the_limit_twice_keeps_the_original_limit_for_children(raised: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised - 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    assert descriptors.raise_limit() == raised
    assert descriptors._usual == USUAL


def test_an_unlimited_worker_keeps_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    unlimited = resource.RLIM_INFINITY
    monkeypatch.setattr(descriptors, "_usual", None)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (unlimited, unlimited))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: pytest.fail("it was lowered"))

    assert descriptors.raise_limit() == 1 << 20
    assert descriptors._usual is None


@pytest.mark.parametrize("error", [OSError(1, "Operation not permitted"), ValueError("not allowed")], ids=repr)
def test_raise_limit_keeps_a_limit_that_cannot_be_raised(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def refuse(kind: int, limits: tuple[int, int]) -> None:
        raise error

    monkeypatch.setattr(descriptors, "_usual", None)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (USUAL, 4 * USUAL))
    monkeypatch.setattr(resource, "setrlimit", refuse)

    assert descriptors.raise_limit() == USUAL
    assert descriptors._usual is None


def test_lowering_the_limit_of_a_child_respects_its_own_limit() -> None:
    with subprocess.Popen(["sleep", "600"]) as process:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (100, 200))

        descriptors._lower(process.pid, 50)

        assert soft_limit(process.pid) == 100
        process.kill()


def test_seal_descriptors_opens_no_descriptor() -> None:
    before = open_descriptors()

    descriptors.seal_descriptors()

    assert open_descriptors() == before


@pytest.mark.parametrize("closed", ["<&-", "<&- >&- 2>&-"])
def test_a_worker_started_with_a_closed_stream_does_not_reuse_its_number(tmp_path: Path, closed: str) -> None:
    code = (
        "import os; from foliot.adapters.runners.process.limits.descriptors import seal_descriptors; "
        "seal_descriptors(); "
        f"opened = os.open({str(tmp_path / 'number')!r}, os.O_WRONLY | os.O_CREAT); os.write(opened, b'%d' % opened)"
    )
    words = ["/bin/sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, code]
    subprocess.run(words, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, check=True)

    assert int((tmp_path / "number").read_text()) > 2


@pytest.mark.parametrize("way", [{}, {"working_dir": "/"}, {"umask": 0o77}, {"limits": {"cpu_sec": 9}}], ids=str)
async def test_programs_get_the_original_limit_of_open_files(raised: int, way: dict[str, Any]) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]

    assert await output_of("ulimit -Sn; ulimit -Hn", **way) == f"{USUAL}\n{hard}\n".encode()
    assert soft_limit() == raised


async def test_a_job_may_set_a_higher_limit_of_open_files(raised: int) -> None:
    assert await output_of("ulimit -Sn", limits={"files": USUAL + 1}) == f"{USUAL + 1}\n".encode()


async def test_isolated_functions_get_the_original_limit_of_open_files(raised: int) -> None:
    calls = IsolatedCalls()
    outcome = await calls.run(an_attempt(call="resource:getrlimit", payload=resource.RLIMIT_NOFILE))
    await calls.close()

    assert isinstance(outcome, Success), outcome
    assert outcome.output is not None
    assert json.loads(outcome.output)[0] == USUAL


async def test_programs_get_the_original_limit_if_the_worker_has_more_files_open(raised: int) -> None:
    word = unique()
    with many_open(USUAL):
        running = asyncio.create_task(run(argv=["sleep", word]))
        await until(lambda: [soft_limit(pid) for pid in living(word)] == [USUAL])
        assert soft_limit() == raised
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@pytest.mark.parametrize("holes", range(8))
async def test_a_run_starts_with_few_free_descriptors_below_the_original_limit(raised: int, holes: int) -> None:
    """Runs that ended leave gaps, which are enough for the streams of another run but not to lower our limit."""
    await run("true")
    with all_open_below(USUAL, but=holes):
        assert await run("true", working_dir="/") == Success(exit_code=0)


@pytest.mark.parametrize(("free", "worn"), [(31, False), (32, True)])
def test_our_limit_is_lowered_only_while_other_threads_have_free_numbers(raised: int, free: int, worn: bool) -> None:
    with all_open_below(USUAL, but=free):
        assert limit_at_the_start(highest=2) == (USUAL if worn else raised)


def test_our_limit_is_not_lowered_for_a_stream_with_a_higher_number(raised: int) -> None:
    """The system would refuse the descriptor, no matter how many numbers are free."""
    assert limit_at_the_start(highest=USUAL - 1) == USUAL
    assert limit_at_the_start(highest=USUAL) == raised


def limit_at_the_start(highest: int) -> int:
    """Return the limit of this process while it starts another one with this descriptor."""
    seen: list[int] = []

    def start() -> int:
        seen.append(soft_limit())
        return NOBODY

    descriptors.with_usual_limit(start, highest)
    return seen[0]


async def test_runs_wait_for_each_other_if_descriptors_run_out() -> None:
    await run("true")
    before = open_descriptors()
    log = ListLog()
    with few_free(40):
        outcomes = await asyncio.gather(*[run("sleep 0.05", log=log) for _ in range(40)])

    assert outcomes == [Success(exit_code=0)] * 40
    assert b"waiting for another run to end: too many open files\n" in log.text("meta")
    assert open_descriptors() == before


async def test_running_runs_leave_reserved_descriptors_to_the_worker() -> None:
    await run("true")
    with few_free(40):
        running = [asyncio.create_task(run("sleep 600")) for _ in range(20)]
        for _ in range(5):
            await asyncio.sleep(0)
        with many_open(12):
            pass
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


@pytest.mark.parametrize(("free", "is_enough"), [(19, False), (20, True)])
def test_free_descriptors_are_counted_in_all_gaps(free: int, is_enough: bool) -> None:
    """A run that ended leaves a gap, so the lowest free number does not show how many are free."""
    with few_free(free - 4) as taken:
        for descriptor in taken[100:104]:
            os.close(descriptor)
        try:
            with nullcontext() if is_enough else pytest.raises(OSError, match="Too many open files"):
                descriptors.check_reserve()
        finally:
            for descriptor in taken[100:104]:
                os.dup2(taken[0], descriptor, inheritable=False)


def test_counting_free_descriptors_opens_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may need the last one at that moment."""
    with few_free(20), monkeypatch.context() as patch:
        for opener in ("dup", "dup2", "open", "pipe"):
            patch.delattr(os, opener)
        descriptors.check_reserve()


async def test_no_warm_interpreter_uses_the_reserved_descriptors(caplog: pytest.LogCaptureFixture) -> None:
    await run("true")
    spares = WarmPool()
    with few_free(16):
        assert spares.take(SpawnRequest(("sleep", "600"), {})) is None
        await until(lambda: "warm_interpreter_not_started" in caplog.text)
        with many_open(16):
            pass
    await spares.close()


async def test_a_run_that_waits_for_descriptors_can_be_cancelled() -> None:
    word, log = unique(), ListLog()
    first = asyncio.create_task(run(f"exec sleep {word}"))
    await until(lambda: living(word))
    with few_free(3):
        second = asyncio.create_task(run("true", log=log))
        await until(lambda: b"waiting for" in log.text("meta"))
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
    assert not first.done()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_run_waits_for_descriptors_for_its_output_file() -> None:
    word, log = unique(), ListLog()
    first = asyncio.create_task(run(f"exec sleep {word}"))
    await until(lambda: living(word))
    with few_free(0):
        second = asyncio.create_task(run("true", log=log, output="file"))
        await until(lambda: b"waiting for" in log.text("meta"))
    assert await second == Success(exit_code=0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_program_that_was_started_is_not_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no descriptor and no thread to wait for it, so it is killed and the attempt fails."""
    word = unique()
    other = asyncio.create_task(run(f"exec sleep {word}"))
    await until(lambda: living(word))
    starts: list[str] = []
    spawn = os.posix_spawn

    def counted(program: str, *words: Any, **how: Any) -> int:
        starts.append(program)
        return spawn(program, *words, **how)

    monkeypatch.setattr(os, "posix_spawn", counted)
    monkeypatch.delattr(os, "pidfd_open")
    monkeypatch.setattr(threading.Thread, "start", no_thread)

    outcome = await run("true")

    assert isinstance(outcome, Failure)
    assert outcome.reason is Reason.LAUNCH_FAILED
    assert len(starts) == 1
    monkeypatch.undo()
    other.cancel()
    with pytest.raises(asyncio.CancelledError):
        await other


def no_thread(_self: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


@contextmanager
def many_open(count: int) -> Iterator[None]:
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(count)]
    try:
        yield
    finally:
        for descriptor in opened:
            os.close(descriptor)


@contextmanager
def all_open_below(limit: int, *, but: int) -> Iterator[None]:
    """Open every number up to some above the limit, except for a few low ones."""
    opened: list[int] = []
    while not opened or opened[-1] < limit + 50:
        opened.append(os.open(os.devnull, os.O_RDONLY))
    for descriptor in opened[10 : 10 + but]:
        os.close(descriptor)
    try:
        yield
    finally:
        for descriptor in opened[:10] + opened[10 + but :]:
            os.close(descriptor)


@contextmanager
def few_free(count: int) -> Iterator[list[int]]:
    """Set the limit so that this process can open this many more."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, limits[1]))
    taken = []
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(count):
            os.close(taken.pop())
        yield taken
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
