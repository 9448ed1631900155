"""How the process of an isolated call ends, what it leaves, and the channel by which it answers."""

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from foliot.adapters.runners.isolated.interpreter import Interpreter
from foliot.adapters.runners.isolated.messages import HEAD, read_answer
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.payload import MAX_BYTES
from tests.adapters.runners.attempts import carrying, living, open_descriptors, unique, until, zombies
from tests.adapters.runners.isolated_scene import Scene, scene

__all__ = ["scene"]


# -- the end of the process


async def test_threads_that_are_not_daemons_are_waited_for_and_named(scene: Scene, tmp_path: Path) -> None:
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


async def test_a_thread_that_never_ends_is_ended_with_its_attempt(scene: Scene) -> None:
    source = "import threading\ndef job(): threading.Thread(target=threading.Event().wait).start()"
    running = asyncio.create_task(scene.call(source))
    await until(lambda: b"until these threads end" in scene.log.text("stderr"))

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


async def test_daemon_threads_are_not_waited_for(scene: Scene) -> None:
    source = "import threading\ndef job(): threading.Thread(target=threading.Event().wait, daemon=True).start()"

    assert await scene.call(source) == Success()


async def test_exit_handlers_run(scene: Scene) -> None:
    outcome = await scene.call("import atexit\ndef job(): atexit.register(print, 'goodbye')")

    assert outcome == Success()
    assert scene.log.text("stdout") == b"goodbye\n"


async def test_a_process_that_ends_badly_after_its_answer_has_failed(scene: Scene) -> None:
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
async def test_what_a_function_leaves_running_is_ended(scene: Scene, leave: str, warm: bool, tmp_path: Path) -> None:
    word, env = unique(), {"WORD": unique(), "READY": str(tmp_path / "ready")}
    if warm:
        await scene.call("def job(): pass", env=env)

    await scene.call(SOURCE.format(leave=leave), env=env, run_id=word, grace=0.3)

    await scene.calls.close()
    assert living(env["WORD"]) == living(word) == []
    assert zombies() == []


@pytest.mark.proves("E1")
async def test_forks_of_a_warm_interpreter_carry_the_id_of_their_run(scene: Scene) -> None:
    """So that a sweep finds them when their worker is gone."""
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
async def test_what_another_daemon_does_for_a_cancelled_call_is_ended_as_well(scene: Scene) -> None:
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
async def test_no_zombie_and_no_descriptor_is_left_by_many_calls(scene: Scene) -> None:
    await scene.call("def job(): pass")
    await scene.calls.close()
    before = open_descriptors()

    outcomes = await asyncio.gather(*(scene.call() for _ in range(50)))

    await scene.calls.close()
    assert set(outcomes) == {Success()}
    assert zombies() == []
    assert open_descriptors() == before


# -- what it prints


async def test_output_is_streamed_line_by_line(scene: Scene) -> None:
    running = asyncio.create_task(scene.call("import time\ndef job():\n print('first')\n time.sleep(600)"))

    await until(lambda: scene.log.text("stdout") == b"first\n")

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.proves("E4")
async def test_a_flood_is_cut_at_the_cap(scene: Scene) -> None:
    outcome = await scene.call("def job(): print('x' * (8 << 20))", output_cap=1000)

    assert outcome == Success()
    assert scene.log.text("stdout") == b"x" * 1000
    assert scene.log.sizes == ((8 << 20) + 1, 1000)


async def test_bytes_are_kept_as_they_are(scene: Scene) -> None:
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
async def test_a_function_may_close_what_it_prints_to(scene: Scene, close: str) -> None:
    assert await scene.call(f"import os, sys\ndef job():\n {close}\n return 1") == Success(b"1")


async def test_a_function_that_closes_every_descriptor_has_no_way_to_answer(scene: Scene) -> None:
    failure = await scene.failure("import os\ndef job(): os.closerange(3, 1000)")

    assert failure == Failure("the process ended without an answer (exit code 0)", Reason.EXIT_CODE, 0)
    assert b"closed the channel by which its process answers" in scene.log.text("stderr")


async def test_an_answer_never_goes_into_what_took_the_place_of_the_channel(scene: Scene) -> None:
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
    assert b"its descriptor is another file by now" in scene.log.text("stderr")


WRITES = {
    "a word": "write(b'rubbish')",
    "a length and nothing": "write(b'\\\\0' * 7 + b'\\\\5')",
    "an endless length": "write(b'\\\\xff' * 8)",
    "more than an answer can have": "[write(b'\\\\0' * 65536) for _ in range(64)]",
    "a false answer of another length, and no other": "write(b'\\\\0' * 8 + b'{\"output\":1}'); os._exit(0)",
    "a false answer": "write(b'\\\\0' * 7 + b'\\\\x0c' + b'{\"output\":1}')",
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
async def test_what_a_function_writes_to_the_channel_fails_it(scene: Scene, write: str) -> None:
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
    assert failure.error.startswith("the function wrote to the channel by which its process answers")


# -- what it is given and gives


async def test_large_payloads_and_results_pass(scene: Scene) -> None:
    text = "ü" * (MAX_BYTES // 2 - 1)

    assert await scene.call("def job(text): return text", payload=text) == Success(f'"{text}"'.encode())


async def test_an_order_for_an_interpreter_that_dies_at_once_does_not_hang(scene: Scene) -> None:
    failure = await scene.failure(payload="x" * MAX_BYTES, env={"PYTHONHOME": "/no/such/place"})

    assert (failure.reason, failure.exit_code) == (Reason.EXIT_CODE, 1)
    assert b"Fatal Python error" in scene.log.text("stderr")


async def test_an_interpreter_that_is_dead_before_its_order_comes_tells_how_it_ended(
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
def test_a_process_may_give_only_reasons_that_it_can_know(claimed: str, reason: Reason) -> None:
    text = json.dumps({"error": "because", "reason": claimed}).encode()

    assert read_answer(len(text).to_bytes(HEAD, "big") + text) == Failure("because", reason)


def test_of_what_a_process_says_of_its_failure_only_the_end_is_kept_where_it_is_long() -> None:
    text = json.dumps({"error": "x" * 20_000 + "because"}).encode()

    failure = read_answer(len(text).to_bytes(HEAD, "big") + text)

    assert isinstance(failure, Failure)
    assert len(failure.error) == 16_000
    assert failure.error.endswith("because")
