"""What functions in the worker's process print and log goes to the logs of their runs, and nowhere else."""

import asyncio
import io
import logging
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from contextvars import copy_context
from typing import Any

import pytest

from foliot.adapters.runners.function import Handler
from foliot.adapters.runners.python import PythonRunner
from foliot.domain.job.kinds.process import OUTPUT_CAP
from foliot.domain.run.context import current_run
from foliot.domain.run.logs import Stream
from foliot.domain.run.outcome import Success
from tests.adapters.runners.attempts import ListLog, an_attempt

REPORTS = logging.getLogger("shop.reports")


class SlowLog(ListLog):
    """A log that has no room until it is told to have some."""

    def __init__(self) -> None:
        super().__init__()
        self.room = asyncio.Event()
        self.drains = 0

    async def drain(self) -> None:
        self.drains += 1
        await self.room.wait()


async def run(function: Callable[..., Any], log: ListLog | None = None, **options: Any) -> ListLog:
    """Run a function as a job would be run, in a task of its own, and return its log."""
    log = log or ListLog()
    runner = PythonRunner({"f": Handler.of(function)}, threads=2, **options)

    async def attempt() -> None:
        outcome = await runner.run(an_attempt(log=log, handler="f"))
        assert isinstance(outcome, Success), outcome

    await asyncio.create_task(attempt())
    return log


def plain() -> None:
    print("one")
    print("two", file=sys.stderr)
    sys.stdout.buffer.write(b"three\xff\n")


async def coroutine() -> None:
    plain()


async def nested() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(coroutine())


async def in_thread() -> None:
    await asyncio.to_thread(plain)


async def in_executor() -> None:
    with ThreadPoolExecutor(1) as pool:
        await asyncio.get_running_loop().run_in_executor(pool, copy_context().run, plain)


@pytest.mark.parametrize("function", [plain, coroutine, nested, in_thread, in_executor])
async def test_printed_text_is_in_the_log_of_the_run_with_its_stream(
    function: Callable[[], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    log = await run(function)

    assert log.text("stdout") == b"one\nthree\xff\n"
    assert log.text("stderr") == b"two\n"
    assert b"".join(data for _, data in log.written) == b"one\ntwo\nthree\xff\n"
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("is_thread", [False, True])
async def test_log_records_are_in_the_log_of_the_run_with_level_and_logger(is_thread: bool) -> None:
    def report() -> None:
        REPORTS.warning("%s rows are missing", 3)
        try:
            raise ValueError("no file")
        except ValueError:
            logging.exception("the report failed")

    async def report_on_loop() -> None:
        report()

    log = await run(report if is_thread else report_on_loop)

    text = log.text("stderr").decode()
    assert text.startswith("WARNING shop.reports: 3 rows are missing\nERROR root: the report failed\nTraceback ")
    assert text.endswith("ValueError: no file\n")


async def test_events_of_foliot_are_not_in_the_log_of_a_run(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        logging.getLogger("foliot.engine").warning("an_event")

    log = await run(work)

    assert log.written == []
    assert "an_event" in caplog.text
    assert not hasattr(caplog.records[0], "foliot_run")


async def test_partial_lines_and_lines_of_current_run_keep_their_order() -> None:
    async def work() -> None:
        print("a", end="")
        print("b", end="", file=sys.stderr)
        current_run().log("c")
        print("d", end="")

    assert (await run(work)).written == [("stdout", b"a"), ("stderr", b"b"), ("stdout", b"c\nd")]


async def test_output_is_in_the_log_while_the_function_runs() -> None:
    log, printed, may_end = ListLog(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        print("begun")
        printed.set()
        await may_end.wait()

    running = asyncio.create_task(run(work, log))
    await printed.wait()
    await asyncio.sleep(0)

    assert log.written == [("stdout", b"begun\n")]
    may_end.set()
    await running


async def test_concurrent_runs_never_mix() -> None:
    def counting(name: str) -> Callable[[], Any]:
        def in_pool() -> None:
            for number in range(50):
                print(name, number)

        async def on_loop() -> None:
            for number in range(50):
                print(name, number)
                REPORTS.warning(name)
                await asyncio.sleep(0)

        return on_loop if name < "m" else in_pool

    names = ["a", "b", "x", "y"]
    logs = await asyncio.gather(*(run(counting(name)) for name in names))

    for name, log in zip(names, logs, strict=True):
        assert log.text("stdout").decode() == "".join(f"{name} {number}\n" for number in range(50))
        assert log.text("stderr").decode() == (f"WARNING shop.reports: {name}\n" * 50 if name < "m" else "")


async def test_code_outside_of_a_run_prints_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    may_end, begun = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await may_end.wait()

    running = asyncio.create_task(run(work))
    await begun.wait()
    print("outside")
    print("also outside", file=sys.stderr)
    threading.Thread(target=print, args=("a thread without the context",)).start()
    may_end.set()
    log = await running

    assert log.written == []
    assert capsys.readouterr() == ("outside\na thread without the context\n", "also outside\n")


async def test_the_streams_are_restored_when_no_function_runs() -> None:
    before = sys.stdout, sys.stderr, logging.root.handlers[:]

    await run(coroutine)
    await asyncio.sleep(0)

    assert (sys.stdout, sys.stderr, logging.root.handlers) == before


async def test_output_after_the_end_belongs_to_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    left: list[asyncio.Task[None]] = []
    may_print = asyncio.Event()

    async def late() -> None:
        await may_print.wait()
        print("late")

    async def work() -> None:
        left.append(asyncio.create_task(late()))

    async def other() -> None:
        may_print.set()
        await left[0]
        print("mine")

    first, second = await run(work), await run(other)

    assert first.written == []
    assert second.written == [("stdout", b"mine\n")]
    assert capsys.readouterr().out == "late\n"


async def test_redirected_output_goes_to_the_target_and_later_output_to_the_log() -> None:
    target = io.StringIO()

    async def work() -> None:
        with redirect_stdout(target):
            print("redirected")
        print("after")

    log = await run(work)

    assert (target.getvalue(), log.text("stdout")) == ("redirected\n", b"after\n")


async def test_redirects_that_overlap_do_not_keep_the_output_of_later_runs() -> None:
    first_may_end, second_may_end, last_may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def redirect(may_end: asyncio.Event) -> None:
        with redirect_stdout(io.StringIO()):
            await may_end.wait()

    async def hold() -> None:
        await last_may_end.wait()

    first = asyncio.create_task(run(lambda: redirect(first_may_end)))
    await asyncio.sleep(0.01)
    second = asyncio.create_task(run(lambda: redirect(second_may_end)))
    await asyncio.sleep(0.01)
    first_may_end.set()
    await first
    holding = asyncio.create_task(run(hold))
    await asyncio.sleep(0)
    second_may_end.set()
    await second
    last_may_end.set()
    await holding

    assert (await run(plain)).text("stdout") == b"one\nthree\xff\n"


async def test_a_stream_that_wraps_the_proxy_still_prints_outside_of_runs(capfd: pytest.CaptureFixture[str]) -> None:
    class Wrapper:
        def __init__(self, wrapped: Any) -> None:
            self._wrapped = wrapped

        def write(self, text: str) -> None:
            self._wrapped.write(text.upper())

        def flush(self) -> None:
            self._wrapped.flush()

    async def wrap() -> None:
        sys.stdout = Wrapper(sys.stdout)

    before = sys.stdout
    try:
        await run(wrap)
        await asyncio.sleep(0)
        log, _ = await asyncio.gather(run(coroutine), asyncio.to_thread(print, "outside"))
    finally:
        sys.stdout = before

    assert log.text("stdout") == b"one\nthree\xff\n"


async def test_more_than_the_cap_is_counted_and_not_kept() -> None:
    async def work() -> None:
        print("x" * OUTPUT_CAP)

    log = await run(work)

    assert len(log.text("stdout")) == OUTPUT_CAP
    assert log.sizes == (OUTPUT_CAP + 1, OUTPUT_CAP)


async def test_a_thread_waits_while_the_log_has_no_room() -> None:
    log, printed = SlowLog(), 0

    def work() -> None:
        nonlocal printed
        for _ in range(8):
            print("x" * 32_000)
            printed += 1

    running = asyncio.create_task(run(work, log))
    while not log.drains:
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.05)

    assert printed < 6
    log.room.set()
    await running
    assert len(log.text("stdout")) == 8 * 32_001


async def test_echoed_output_is_printed_by_the_process_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    log = await run(coroutine, echo=True)

    assert log.text("stdout") == b"one\nthree\xff\n"
    assert capsys.readouterr() == ("one\nthree\ufffd\n", "two\n")


async def test_a_closed_terminal_fails_no_run_that_is_echoed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Broken())

    assert (await run(coroutine, echo=True)).text("stdout") == b"one\nthree\xff\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_functions_can_print_in_a_process_without_streams(
    monkeypatch: pytest.MonkeyPatch, stream: Stream
) -> None:
    monkeypatch.setattr(sys, stream, None)

    assert b"o" in (await run(plain)).text(stream)


async def test_a_function_cannot_close_the_streams_of_the_process() -> None:
    async def work() -> None:
        assert not sys.stdout.isatty()
        sys.stdout.close()
        print("still open", flush=True)

    before = sys.stdout
    log = await run(work)

    assert log.text("stdout") == b"still open\n"
    assert not before.closed


async def test_warnings_of_programs_without_logging_are_still_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.root, "handlers", [])
    may_end, begun = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await may_end.wait()

    running = asyncio.create_task(run(work))
    await begun.wait()
    REPORTS.warning("from outside")
    may_end.set()

    assert (await running).written == []
    assert capsys.readouterr().err == "from outside\n"
