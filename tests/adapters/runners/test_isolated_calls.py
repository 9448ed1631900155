"""Isolated calls: outcomes, environment, and no effect on the worker or the next call."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from foliot.adapters.runners.isolated import IsolatedCalls
from foliot.domain.run.outcome import Failure, Reason, Success
from tests.adapters.runners.attempts import unique, until, zombies
from tests.adapters.runners.isolated_scene import Scene, scene

__all__ = ["scene"]

BY_SIGNAL = 128


# -- what a function does to its process


@pytest.mark.proves("E7")
@pytest.mark.parametrize("code", [0, 1, 7, 255])
async def test_a_function_that_calls_os_exit_fails(scene: Scene, code: int) -> None:
    failure = await scene.failure(f"import os\ndef job(): os._exit({code})")

    assert (failure.reason, failure.exit_code) == (Reason.EXIT_CODE, code)


DEATHS = {
    "SIGSEGV": "import ctypes\ndef job(): ctypes.string_at(0)",
    "SIGKILL": "import os\ndef job(): os.kill(os.getpid(), 9)",
    "SIGABRT": "import os\ndef job(): os.abort()",
}


@pytest.mark.proves("E7")
@pytest.mark.parametrize("name", DEATHS)
async def test_a_function_that_crashes_its_interpreter_fails_with_a_signal(scene: Scene, name: str) -> None:
    failure = await scene.failure(DEATHS[name])

    assert (failure.reason, failure.error) == (Reason.SIGNAL, f"killed by {name}")
    assert failure.exit_code is not None
    assert failure.exit_code > BY_SIGNAL


LOOPS = {
    "in Python": "def job():\n print('on', flush=True)\n while True: pass",
    "in C": "import itertools\ndef job():\n print('on', flush=True)\n sum(itertools.repeat(0))",
    "in C, holding the lock": "import re\ndef job():\n print('on', flush=True)\n re.match('(a*)*b', 'a' * 100)",
    "deaf to TERM": """
        import signal
        def job():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            print('on', flush=True)
            while True: pass
    """,
    "that catches everything": """
        def job():
            print('on', flush=True)
            while True:
                try:
                    while True: pass
                except BaseException: pass
    """,
}


@pytest.mark.proves("E7", "S7")
@pytest.mark.parametrize("source", LOOPS.values(), ids=LOOPS.keys())
async def test_cancelling_an_attempt_ends_an_endless_loop(scene: Scene, source: str) -> None:
    running = asyncio.create_task(scene.call(source, grace=0.2))
    await until(lambda: scene.log.text("stdout") == b"on\n")

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    await scene.calls.close()
    assert zombies() == []


@pytest.mark.proves("E7", "Z45")
async def test_a_memory_limit_affects_the_function_and_not_the_worker(scene: Scene) -> None:
    failure = await scene.failure("def job(): return len(bytearray(1 << 31))", limits={"memory": 1 << 29})

    assert failure.reason is Reason.LIMIT_MEMORY


async def test_a_memory_error_without_a_limit_is_an_exception(scene: Scene) -> None:
    failure = await scene.failure("def job(): raise MemoryError")

    assert failure.reason is Reason.EXCEPTION


@pytest.mark.proves("E7", "Z45")
async def test_a_function_is_ended_at_its_limit_of_processor_time(scene: Scene) -> None:
    failure = await scene.failure("def job():\n while True: pass", limits={"cpu_sec": 1})

    assert failure.reason is Reason.LIMIT_CPU


@pytest.mark.proves("E7")
async def test_patches_of_a_function_do_not_affect_the_next_call_or_the_worker(scene: Scene) -> None:
    scene.write("""
        import json, os, sys
        def spoil():
            json.dumps = os.getpid = None
            sys.path.clear()
            os.environ['SPOILT'] = 'yes'
            os.chdir('/')
        def job():
            return [json.dumps({}), os.getpid() > 0, 'SPOILT' in os.environ, os.getcwd()]
    """)

    await scene.call(call="tasks:spoil")

    expected = f'["{{}}",true,false,"{scene.directory}"]'
    assert await scene.call() == Success(expected.encode())
    assert os.getpid() > 0
    assert sys.path


async def test_each_call_has_its_own_process(scene: Scene) -> None:
    source = "import os\ndef job(): return os.getpid()"

    pids = {await scene.call(source) for _ in range(4)}

    assert len(pids) == 4
    assert Success(str(os.getpid()).encode()) not in pids


# -- what it returns and raises


@pytest.mark.parametrize("value", ["", "0", "'exit'", "None"])
async def test_sys_exit_in_an_isolated_function_is_an_exception(scene: Scene, value: str) -> None:
    failure = await scene.failure(f"import sys\ndef job(): sys.exit({value})")

    assert failure.reason is Reason.EXCEPTION
    assert failure.error.splitlines()[-1].startswith("SystemExit")


async def test_the_traceback_starts_at_the_function(scene: Scene) -> None:
    failure = await scene.failure("def job(): inner()\ndef inner(): raise LookupError('no such thing')")

    lines = failure.error.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == f'  File "{scene.directory}/tasks.py", line 1, in job'
    assert lines[-1] == "LookupError: no such thing"
    assert failure.reason is Reason.EXCEPTION


async def test_the_traceback_of_a_coroutine_starts_at_the_coroutine(scene: Scene) -> None:
    failure = await scene.failure("async def job(): raise LookupError('no such thing')")

    assert failure.error.splitlines()[1] == f'  File "{scene.directory}/tasks.py", line 1, in job'


STRANGE = {
    "recursion": ("def job(): job()", "RecursionError: maximum recursion depth exceeded"),
    "an unprintable message": (
        "class Odd(Exception):\n def __str__(self): raise SystemExit\ndef job(): raise Odd",
        "tasks.Odd: <exception str() failed>",
    ),
    "half a character": ("def job(): raise ValueError('\\ud800')", "ValueError: \\ud800"),
    "a group": ("def job(): raise ExceptionGroup('g', [ValueError('x')])", "    +------------------------------------"),
    "an interrupt": ("def job(): raise KeyboardInterrupt", "KeyboardInterrupt"),
    "the end of an iteration": ("def job(): raise StopIteration", "StopIteration"),
    "a cancellation": (
        "import asyncio\nasync def job(): raise asyncio.CancelledError",
        "asyncio.exceptions.CancelledError",
    ),
}


@pytest.mark.parametrize(("source", "last_line"), STRANGE.values(), ids=STRANGE.keys())
async def test_unusual_exceptions_are_reported(scene: Scene, source: str, last_line: str) -> None:
    failure = await scene.failure(source)

    assert (failure.reason, failure.error.splitlines()[-1]) == (Reason.EXCEPTION, last_line)


@pytest.mark.parametrize("value", ["float('nan')", "[1, float('inf')]"])
async def test_a_result_with_nan_or_infinity_is_refused(scene: Scene, value: str) -> None:
    failure = await scene.failure(f"def job(): return {value}")

    assert (failure.reason, failure.retryable) == (Reason.OUTPUT, False)


async def test_a_result_that_raises_when_encoded_fails_the_run(scene: Scene) -> None:
    source = """
        class Odd(dict):
            def items(self): raise SystemExit('no')
        def job(): return Odd()
    """
    assert (await scene.failure(source)).reason is Reason.EXCEPTION


@pytest.mark.parametrize(
    ("source", "missing"),
    [("def job(): pass", "no_tasks:job"), ("", "tasks.sub:job"), ("", "no.tasks:job")],
)
async def test_the_error_for_a_missing_module_names_the_searched_directories(
    scene: Scene, source: str, missing: str
) -> None:
    failure = await scene.failure(source, call=missing)

    assert failure.reason is Reason.HANDLER_MISSING
    assert failure.error.startswith(f'module "{missing.partition(":")[0]}" does not exist. Searched: {scene.directory}')


async def test_the_error_for_a_missing_function_names_the_nearest_match(scene: Scene) -> None:
    failure = await scene.failure("def send_report(): pass", call="tasks:send_reprot")

    expected = 'module "tasks" has no function "send_reprot". Did you mean "send_report"?'
    assert (failure.reason, failure.error) == (Reason.HANDLER_MISSING, expected)


async def test_an_object_that_is_not_callable_is_refused(scene: Scene) -> None:
    failure = await scene.failure("job = 7")

    assert failure == Failure('"tasks:job" is not callable: it is of type int', Reason.HANDLER_MISSING)


@pytest.mark.parametrize("fault", ["import no_such_thing", "1 / 0", "raise SystemExit(0)", "def broken(: pass"])
async def test_the_error_for_a_failed_import_shows_the_traceback(scene: Scene, fault: str) -> None:
    failure = await scene.failure(fault)

    assert failure.reason is Reason.EXCEPTION
    assert failure.error.startswith('could not import "tasks"\n')
    assert fault in failure.error
    assert "importlib" not in failure.error


async def test_the_error_names_a_missing_working_directory(scene: Scene) -> None:
    failure = await scene.failure(working_dir="/no/such/place")

    expected = "could not enter the working directory '/no/such/place': no such file or directory"
    assert (failure.reason, failure.error) == (Reason.LAUNCH_FAILED, expected)


# -- the code it finds


async def test_the_next_call_uses_edited_code(scene: Scene) -> None:
    assert await scene.call("def job(): return 'old'") == Success(b'"old"')

    assert await scene.call("def job(): return 'newer'") == Success(b'"newer"')


async def test_modules_of_packages_and_of_the_worker_are_found(scene: Scene) -> None:
    scene.write("from pytest import approx\nfrom shop import prices\ndef job(): return prices.OF == approx(3)", "tasks")
    scene.write("OF = 3", "shop.prices")

    assert await scene.call() == Success(b"true")


async def test_modules_are_found_where_the_worker_finds_its_own(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.write("def job(): return 'elsewhere'", "elsewhere.antigravity")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")

    assert await scene.call(call="antigravity:job") == Success(b'"elsewhere"')


async def test_pythonpath_of_the_job_precedes_the_path_of_the_worker(scene: Scene, tmp_path: Path) -> None:
    scene.write("def job(): return 'named'", "named.antigravity")

    outcome = await scene.call(call="antigravity:job", env={"PYTHONPATH": str(tmp_path / "named")})

    assert outcome == Success(b'"named"')


async def test_the_working_directory_is_searched_first(scene: Scene) -> None:
    scene.write("def job(): return 'ours'", "antigravity")

    assert await scene.call(call="antigravity:job") == Success(b'"ours"')


async def test_the_directory_of_the_stub_is_not_searched(scene: Scene) -> None:
    failure = await scene.failure("import spares")

    assert "No module named 'spares'" in failure.error


# -- the run it is part of


@pytest.mark.proves("R1-50")
async def test_current_run_is_set_if_foliot_is_imported_during_the_call(scene: Scene) -> None:
    run_id = unique()
    scene.write("""
        import threading
        def job():
            import foliot
            found = []
            thread = threading.Thread(target=lambda: found.append(foliot.current_run().run_id))
            thread.start()
            thread.join()
            run = foliot.current_run()
            return [run.run_id, run.job_id, run.attempt, run.idempotency_key, *found]
    """)

    outcome = await scene.call(run_id=run_id, number=3)

    assert outcome == Success(f'["{run_id}","a-job",3,"{run_id}","{run_id}"]'.encode())


async def test_printed_and_logged_lines_keep_their_order(scene: Scene) -> None:
    await scene.call("""
        import os, sys
        from foliot import current_run
        def job():
            print('one', end=' ')
            current_run().log('two')
            os.system('echo three')
            print('four', file=sys.stderr)
            current_run().write('meta', b'not forged')
    """)

    assert scene.log.text("stdout") == b"one two\nthree\nnot forged"
    assert scene.log.text("stderr") == b"four\n"
    assert scene.log.text("meta") == b""


@pytest.mark.proves("E3")
async def test_a_function_sees_the_variables_of_its_job_and_no_secrets_of_the_worker(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLIOT_STORAGE", "postgresql://user:secret@host/db")
    scene.calls, run_id = IsolatedCalls(), unique()
    source = "import os\ndef job(): return list(map(os.environ.get, ['FOLIOT_STORAGE', 'SHADE', 'FOLIOT_RUN_ID']))"

    for _ in range(2):
        outcome = await scene.call(source, env={"SHADE": "blue"}, run_id=run_id)

        assert outcome == Success(f'[null,"blue","{run_id}"]'.encode())


@pytest.mark.proves("E3")
async def test_children_of_a_function_inherit_three_descriptors_and_empty_stdin(scene: Scene) -> None:
    source = """
        import subprocess, sys
        def job():
            listed = subprocess.run(['ls', '/proc/self/fd'], capture_output=True, text=True, close_fds=False)
            return [listed.stdout.split()[:3], len(listed.stdout.split()), sys.stdin.read()]
    """
    assert await scene.call(source) == Success(b'[["0","1","2"],4,""]')


async def test_umask_and_limits_apply_to_a_function(scene: Scene) -> None:
    source = "import os, resource\ndef job(): return [os.umask(0), resource.getrlimit(resource.RLIMIT_NOFILE)[0]]"

    for _ in range(2):
        assert await scene.call(source, umask=0o27, limits={"files": 99}) == Success(b"[23,99]")


async def test_variables_that_python_reads_at_startup_take_effect(scene: Scene) -> None:
    source = "import sys, time\ndef job(): return [sys.flags.dev_mode, time.tzname[0]]"

    for _ in range(2):
        assert await scene.call(source, env={"PYTHONDEVMODE": "1", "TZ": "XYZ-3"}) == Success(b'[true,"XYZ"]')


async def test_variables_of_a_single_run_are_set_at_startup(scene: Scene) -> None:
    await scene.call("def job(): pass")

    outcome = await scene.call("import time\ndef job(): return time.tzname[0]", environment={"TZ": "ABC5"})

    assert outcome == Success(b'"ABC"')
