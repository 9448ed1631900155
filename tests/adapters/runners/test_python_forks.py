"""A function that forks: its child never goes on as a second worker.

Each case is a program of its own: what goes wrong here would go on as a copy of the tests.
"""

import signal
import subprocess
import sys
from textwrap import dedent

import pytest

_PROGRAM = """
import asyncio, os, signal, sys, threading
from foliot.adapters.runners.function import Handler
from foliot.adapters.runners.python import PythonRunner
from tests.adapters.runners.attempts import an_attempt


def listen():
    for number in heard:
        asyncio.get_running_loop().add_signal_handler(number, print, "told")

heard = []
{function}

async def main():
    listen()
    runner = PythonRunner({{"job": Handler.of(job)}}, threads=1)
    others = [asyncio.create_task(asyncio.sleep(0.01, number)) for number in range(3)]
    outcome = await runner.run(an_attempt(handler="job"))
    print(outcome.output.decode(), [await other for other in others], flush=True)

{loop}
"""
_LOOPS = {
    "asyncio": "asyncio.run(main())",
    "uvloop": "import uvloop; asyncio.Runner(loop_factory=uvloop.new_event_loop).run(main())",
}


@pytest.fixture(params=_LOOPS)
def loop(request: pytest.FixtureRequest) -> str:
    if request.param == "uvloop":
        pytest.importorskip("uvloop")
    return _LOOPS[request.param]


@pytest.mark.parametrize("keyword", ["def", "async def"])
@pytest.mark.parametrize(
    ("what_the_child_does", "code", "note"),
    [
        ("return", 0, "returned from its function"),
        ("raise ValueError('no\\nway')", 1, "failed in its function"),
        ("sys.exit(7)", 7, ""),
        ("sys.exit()", 0, ""),
        ("os._exit(9)", 9, ""),
        ("os.close(2)", 0, ""),
        ("os.close(2); raise ValueError", 1, ""),
    ],
)
def test_a_forked_child_ends_where_its_function_does(
    loop: str, keyword: str, what_the_child_does: str, code: int, note: str
) -> None:
    said, errors = _run(
        loop,
        f"""
        {keyword} job():
            if child := os.fork():
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            {what_the_child_does}
        """,
    )

    assert said == [f"{code} [0, 1, 2]"]
    assert note in errors
    assert ("os._exit" in errors) == bool(note)


def test_a_forked_child_that_waits_on_its_parents_loop_is_ended(loop: str) -> None:
    said, errors = _run(
        loop,
        """
        async def job():
            if child := os.fork():
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            await asyncio.sleep(0)
            await asyncio.Event().wait()
        """,
    )

    assert said == ["1 [0, 1, 2]"]
    assert "gave way to the event loop" in errors


@pytest.mark.parametrize("gives_way", ["await asyncio.sleep(0)", "return", "sys.exit(3)"])
def test_whatever_else_is_ready_does_not_go_on_in_a_forked_child(loop: str, gives_way: str) -> None:
    said, errors = _run(
        loop,
        f"""
        parent = os.getpid()

        async def other():
            for _ in range(100):
                if os.getpid() != parent:
                    os.write(1, b"twice\\n")
                await asyncio.sleep(0)

        async def part():
            if child := os.fork():
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            {gives_way}

        async def job():
            others = [asyncio.create_task(other()) for _ in range(3)]
            code = await asyncio.create_task(part())
            await asyncio.gather(*others)
            return code
        """,
    )

    assert said == ["1 [0, 1, 2]"]
    assert "gave way to the event loop" in errors


def test_a_forked_child_is_ended_even_if_another_thread_forks_meanwhile(loop: str) -> None:
    said, errors = _run(
        loop,
        """
        def fork_beside():
            if threading.current_thread() is threading.main_thread():
                beside = threading.Thread(target=lambda: os.fork() or os._exit(0))
                beside.start()
                beside.join()

        os.register_at_fork(before=fork_beside)

        async def job():
            if child := os.fork():
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            await asyncio.sleep(0)
        """,
    )

    assert said == ["1 [0, 1, 2]"]
    assert "gave way to the event loop" in errors


def test_a_forked_child_is_ended_even_if_nobody_reads_what_it_says(loop: str) -> None:
    said, errors = _run(
        loop,
        """
        def job():
            if child := os.fork():
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            unread, full = os.pipe()
            os.set_blocking(full, False)
            try:
                while True:
                    os.write(full, bytes(1024))
            except BlockingIOError:
                os.set_blocking(full, True)
            os.dup2(full, 2)
        """,
    )

    assert (said, errors) == (["0 [0, 1, 2]"], "")


@pytest.mark.parametrize("keyword", ["def", "async def"])
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_a_signal_to_a_forked_child_is_not_one_to_its_parent(loop: str, keyword: str, number: str) -> None:
    said, errors = _run(
        loop,
        f"""
        import time

        {keyword} job():
            if child := os.fork():
                os.kill(child, signal.{number})  # at once: it may not have begun yet
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            time.sleep(30)

        heard.append(signal.{number})
        """,
    )

    assert (said, errors) == ([f"{-getattr(signal, number)} [0, 1, 2]"], "")


def test_an_interrupt_of_a_forked_child_reaches_it(loop: str) -> None:
    said, errors = _run(
        loop,
        """
        import time

        # Whoever starts the tests in the background lets them ignore it, and all that they start.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        def job():
            ready, say = os.pipe()
            if child := os.fork():
                os.read(ready, 1)
                os.kill(child, signal.SIGINT)
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            try:
                os.write(say, b"!")
                time.sleep(30)
            except KeyboardInterrupt:
                os._exit(5)
        """,
    )

    assert (said, errors) == (["5 [0, 1, 2]"], "")


def test_a_pool_of_processes_can_be_ended_by_a_job(loop: str) -> None:
    said, errors = _run(
        loop,
        """
        import multiprocessing, time

        async def job():
            process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(30,))
            process.start()
            process.terminate()
            process.join()
            return process.exitcode

        heard.append(signal.SIGTERM)
        """,
    )

    assert (said, errors) == (["-15 [0, 1, 2]"], "")


def test_processes_of_multiprocessing_are_not_touched(loop: str) -> None:
    said, errors = _run(
        loop,
        """
        import multiprocessing

        async def job():
            with multiprocessing.get_context("fork").Pool(1) as pool:
                return pool.map(abs, [-1, -2])
        """,
    )

    assert (said, errors) == (["[1,2] [0, 1, 2]"], "")


def _run(loop: str, function: str) -> tuple[list[str], str]:
    program = _PROGRAM.format(function=dedent(function), loop=loop)
    # From 3.12 on Python warns of every fork of a process that has threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines(), done.stderr
