"""A function that forks: its child never goes on as a second worker.

Each case is a program of its own: what goes wrong here would go on as a copy of the tests.
"""

import subprocess
import sys
from textwrap import dedent

import pytest

_PROGRAM = """
import asyncio, os, sys
from foliot.adapters.runners.function import Handler
from foliot.adapters.runners.python import PythonRunner
from tests.adapters.runners.attempts import an_attempt


{function}

async def main():
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
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines(), done.stderr
