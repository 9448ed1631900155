"""The end of an isolated process: threads, leftover processes, output, and the socket for its answer."""

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from foliot.adapters.runners.isolated.interpreter import Interpreter
from foliot.adapters.runners.isolated.messages import LENGTH_SIZE, read_answer
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.payload import MAX_BYTES
from tests.adapters.runners.attempts import carrying, living, open_descriptors, unique, until, zombies
from tests.adapters.runners.isolated_scene import Scene, scene

__all__ = ["scene"]


# -- the end of the process


async def test_the_process_waits_for_threads_and_logs_their_names(scene: Scene, tmp_path: Path) -> None:
    source = """
        import os, threading, time
        def late():
            while not os.path.exists('named'): time.sleep(0.001)
            print('late', flush=True)
        def job():
            threading.Thread(target=late, name='helper').start()
            return 1
    """
    running = asyncio.create_task(scene.call(source))
    await until(lambda: b"until these threads end: helper" in scene.log.text("stderr"))
    (tmp_path / "named").touch()

    assert await running == Success(b"1")
    assert scene.log.text("stdout") == b"late\n"


async def test_cancelling_an_attempt_ends_a_thread_that_never_ends(scene: Scene) -> None:
    source = "import threading\ndef job(): threading.Thread(target=threading.Event().wait).start()"
    running = asyncio.create_task(scene.call(source))
    await until(lambda: b"until these threads end" in scene.log.text("stderr"))

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


async def test_daemon_threads_are_not_waited_for(scene: Scene) -> None:
    source = "import threading\ndef job(): threading.Thread(target=threading.Event().wait, daemon=True).start()"

    assert await scene.call(source) == Success()


async def test_exit_handlers_of_an_isolated_function_run(scene: Scene) -> None:
    outcome = await scene.call("import atexit\ndef job(): atexit.register(print, 'goodbye')")

    assert outcome == Success()
    assert scene.log.text("stdout") == b"goodbye\n"


async def test_a_process_that_crashes_after_its_answer_fails_the_run(scene: Scene) -> None:
    failure = await scene.failure("import atexit, os\ndef job(): atexit.register(os._exit, 9)")

    assert (failure.reason, failure.exit_code) == (Reason.EXIT_CODE, 9)


async def test_a_fork_that_returns_from_the_function_does_not_answer(scene: Scene) -> None:
    source = """
        import os
        def job():
            child = os.fork()
            if child:
                os.waitpid(child, 0)
            return child == 0
    """
    assert await scene.call(source) == Success(b"false")


# -- what is left


LEAVES = {
    "a child": "subprocess.Popen(['sleep', word])",
    "a session of its own": "subprocess.Popen(['sleep', word], start_new_session=True)",
    "nohup": "os.system('nohup sleep ' + word + ' >/dev/null 2>&1 &')",
    "a cleared environment": "subprocess.Popen(['sleep', word], env={}, start_new_session=True)",
    "one that ignores TERM": "os.system(\"setsid -f sh -c 'trap : TERM; sleep %s; sleep %s'\" % (word, word))",
    "a double fork that executes nothing": "twice(lambda: time.sleep(600))",
    "a double fork that holds the channel and the pipes": "twice(lambda: (print('x', flush=True), time.sleep(600)))",
    "a process of multiprocessing": "multiprocessing.Process(target=time.sleep, args=(600,)).start(); os._exit(0)",
}
SOURCE = """
import multiprocessing, os, subprocess, time
word = os.environ['WORD']
def twice(then):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            open(os.environ['READY'], 'w').close()
            then()
        os._exit(0)
    while not os.path.exists(os.environ['READY']): time.sleep(0.001)
def job():
    {leave}
"""


@pytest.mark.proves("E1", "E6")
@pytest.mark.parametrize("leave", LEAVES.values(), ids=LEAVES.keys())
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
async def test_processes_that_a_function_leaves_running_are_ended(
    scene: Scene, leave: str, warm: bool, tmp_path: Path
) -> None:
    word, env = unique(), {"WORD": unique(), "READY": str(tmp_path / "ready")}
    if warm:
        await scene.call("def job(): pass", env=env)

    await scene.call(SOURCE.format(leave=leave), env=env, run_id=word, grace=0.3)

    await scene.calls.close()
    assert living(env["WORD"]) == living(word) == []
    assert zombies() == []


@pytest.mark.proves("E1")
async def test_forks_of_a_warm_interpreter_have_the_id_of_their_run(scene: Scene) -> None:
    """A sweep needs it to find them after their worker died."""
    run_id = unique()
    await scene.call("def job(): pass")
    source = "import os, time\ndef job():\n os.fork()\n print(flush=True)\n time.sleep(600)"

    running = asyncio.create_task(scene.call(source, run_id=run_id, number=12))

    await until(lambda: scene.log.text("stdout") == b"\n\n")
    assert len(carrying(f"FOLIOT_RUN_ID={run_id}")) == len(carrying("FOLIOT_ATTEMPT=12")) == 2
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert carrying(f"FOLIOT_RUN_ID={run_id}") == []


@pytest.mark.proves("E1")
async def test_cancelling_a_call_ends_processes_that_another_daemon_started_for_it(scene: Scene) -> None:
    run_id = unique()
    await scene.call("def job(): pass")
    key = {"FOLIOT_RUN_ID": run_id, "FOLIOT_ATTEMPT": "1"}
    stranger = subprocess.Popen(["sleep", "600"], env=os.environ | key)  # noqa: ASYNC220 - short
    source = "import time\ndef job():\n print('on')\n time.sleep(600)"
    running = asyncio.create_task(scene.call(source, run_id=run_id))
    await until(lambda: scene.log.text("stdout") == b"on\n")

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert stranger.wait() == -signal.SIGTERM


@pytest.mark.proves("E2")
async def test_many_calls_leave_no_zombies_and_no_descriptors(scene: Scene) -> None:
    await scene.call("def job(): pass")
    await scene.calls.close()
    before = open_descriptors()

    outcomes = await asyncio.gather(*(scene.call() for _ in range(50)))

    await scene.calls.close()
    assert set(outcomes) == {Success()}
    assert zombies() == []
    assert open_descriptors() == before


# -- what it prints


async def test_output_of_a_function_is_logged_line_by_line(scene: Scene) -> None:
    running = asyncio.create_task(scene.call("import time\ndef job():\n print('first')\n time.sleep(600)"))

    await until(lambda: scene.log.text("stdout") == b"first\n")

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.proves("E4")
async def test_output_of_a_function_is_cut_at_the_cap(scene: Scene) -> None:
    outcome = await scene.call("def job(): print('x' * (8 << 20))", output_cap=1000)

    assert outcome == Success()
    assert scene.log.text("stdout") == b"x" * 1000
    assert scene.log.sizes == ((8 << 20) + 1, 1000)


async def test_bytes_that_a_function_writes_are_logged_unchanged(scene: Scene) -> None:
    await scene.call("import os\ndef job(): os.write(1, bytes(range(256)))")

    assert scene.log.text("stdout") == bytes(range(256))


# -- the channel


CLOSED = {
    "stdout": "os.close(1)",
    "stderr": "os.close(2)",
    "both, as Python sees them": "sys.stdout.close(); sys.stderr.close()",
    "both replaced": "sys.stdout = sys.stderr = None",
}


@pytest.mark.parametrize("close", CLOSED.values(), ids=CLOSED.keys())
async def test_a_function_may_close_stdout_and_stderr(scene: Scene, close: str) -> None:
    assert await scene.call(f"import os, sys\ndef job():\n {close}\n return 1") == Success(b"1")


async def test_a_function_that_closes_every_descriptor_fails(scene: Scene) -> None:
    failure = await scene.failure("import os\ndef job(): os.closerange(3, 1000)")

    assert failure == Failure("the process ended without an answer (exit code 0)", Reason.EXIT_CODE, 0)
    assert b"closed the socket for the answer of its process" in scene.log.text("stderr")


async def test_the_answer_is_not_written_to_a_file_that_reused_the_descriptor(scene: Scene) -> None:
    await scene.failure("""
        import atexit, os, socket
        os.closerange(3, 100)
        pairs = [socket.socketpair() for _ in range(10)]
        def look():
            for socket in (socket for pair in pairs for socket in pair):
                socket.setblocking(False)
                try: print(socket.recv(100))
                except BlockingIOError: pass
        atexit.register(look)
        def job(): pass
    """)

    assert scene.log.text("stdout") == b""
    assert b"its descriptor is another file now" in scene.log.text("stderr")


WRITES = {
    "a word": "write(b'rubbish')",
    "a length and nothing": "write(b'\\\\0' * 7 + b'\\\\5')",
    "an endless length": "write(b'\\\\xff' * 8)",
    "more than an answer can have": "[write(b'\\\\0' * 65536) for _ in range(64)]",
    "a false answer of another length, and no other": "write(b'\\\\0' * 8 + b'{\"output\":1}'); os._exit(0)",
    "a false answer": "write(b'\\\\0' * 7 + b'\\\\x0c' + b'{\"output\":1}')",
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
async def test_a_function_that_writes_to_the_socket_fails(scene: Scene, write: str) -> None:
    source = f"""
        import os, stat
        def write(data):
            for fd in range(3, 20):
                try:
                    if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, data)
                except OSError: pass
        def job(): {write}
    """
    failure = await scene.failure(source.replace("\\\\", "\\"))

    assert failure.reason is Reason.EXCEPTION
    assert failure.error.startswith("the function wrote to the socket for the answer of its process")


# -- what it is given and gives


async def test_large_payloads_and_results_are_transferred(scene: Scene) -> None:
    text = "ü" * (MAX_BYTES // 2 - 1)

    assert await scene.call("def job(text): return text", payload=text) == Success(f'"{text}"'.encode())


async def test_a_call_to_an_interpreter_that_dies_immediately_does_not_hang(scene: Scene) -> None:
    failure = await scene.failure(payload="x" * MAX_BYTES, env={"PYTHONHOME": "/no/such/place"})

    assert (failure.reason, failure.exit_code) == (Reason.EXIT_CODE, 1)
    assert b"Fatal Python error" in scene.log.text("stderr")


async def test_an_interpreter_that_dies_before_the_call_reports_its_exit_status(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = Interpreter.start

    def start_and_see_it_end(*given: Any) -> Interpreter:
        started = start(*given)
        os.waitid(os.P_PID, started.head.pid, os.WEXITED | os.WNOWAIT)
        return started

    monkeypatch.setattr(Interpreter, "start", start_and_see_it_end)

    failure = await scene.failure(env={"PYTHONHOME": "/no/such/place"})

    assert (failure.reason, failure.exit_code) == (Reason.EXIT_CODE, 1)
    assert b"Fatal Python error" in scene.log.text("stderr")


@pytest.mark.parametrize(
    ("claimed", "reason"),
    [("payload", Reason.PAYLOAD), ("lease_lost", Reason.EXCEPTION), ("cancelled", Reason.EXCEPTION)],
)
def test_an_answer_with_a_forged_reason_is_reported_as_exception(claimed: str, reason: Reason) -> None:
    text = json.dumps({"error": "because", "reason": claimed}).encode()

    assert read_answer(len(text).to_bytes(LENGTH_SIZE, "big") + text) == Failure("because", reason)


def test_a_long_error_in_an_answer_is_cut_to_its_end() -> None:
    text = json.dumps({"error": "x" * 20_000 + "because"}).encode()

    failure = read_answer(len(text).to_bytes(LENGTH_SIZE, "big") + text)

    assert isinstance(failure, Failure)
    assert len(failure.error) == 16_000
    assert failure.error.endswith("because")
