"""Dead processes of runs are reaped; processes of other code are not."""

import asyncio
import os
import resource
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from foliot.adapters.runners.process import supervisor
from foliot.adapters.runners.process.children import subreaper
from foliot.adapters.runners.process.termination import process_tree
from foliot.domain.run.outcome import Success
from tests.adapters.runners.attempts import ListLog, living, open_descriptors, run, sleeping, unique, until, zombies


@pytest.mark.proves("E2")
async def test_a_thousand_runs_leave_no_zombies_and_no_descriptors() -> None:
    await run("true")
    before = open_descriptors()
    gate = asyncio.Semaphore(32)

    async def one() -> object:
        async with gate:
            return await run(argv=["true"])

    outcomes = await asyncio.gather(*(one() for _ in range(1000)))

    assert set(outcomes) == {Success(exit_code=0)}
    assert zombies() == []
    assert open_descriptors() == before


async def test_the_worker_has_the_tag_of_a_run_only_while_it_starts_it() -> None:
    file_locks = 10  # RLIMIT_LOCKS, which holds the tag of a run
    before = resource.getrlimit(file_locks)

    for _ in range(2):
        await run("true")

    assert resource.getrlimit(file_locks) == before


@pytest.mark.proves("E2")
@pytest.mark.parametrize(
    "command",
    [
        "setsid -f true; sleep 0.05",
        "env -i setsid -f true; sleep 0.05",
        "(sleep 0.01 & ) ; sleep 0.05",
        "(setsid sh -c 'setsid -f true' &) ; sleep 0.05",
        "setsid -f sleep 600",
    ],
)
@pytest.mark.parametrize("working_dir", [None, "/"])
async def test_dead_orphans_are_reaped_with_their_run(command: str, working_dir: str | None) -> None:
    for _ in range(10):
        await run(command, working_dir=working_dir)

    assert zombies() == []


@pytest.mark.proves("E2")
async def test_dead_orphans_of_a_long_run_are_reaped_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_REAP_EVERY", 0.01)
    died, finish = tmp_path / "died", tmp_path / "finish"
    command = f"setsid -f touch {died}; until test -e {finish}; do sleep 0.01; done"
    long = asyncio.create_task(run(command))
    await until(died.exists)

    await until(lambda: zombies() == [])

    assert not long.done()
    finish.touch()
    assert await long == Success(exit_code=0)


async def test_an_orphan_that_arrives_while_the_children_are_read_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    word, orphaned, finish = unique(), tmp_path / "orphaned", tmp_path / "finish"
    long = asyncio.create_task(
        run(f"setsid -f sleep {word}; setsid -f sleep {word}; touch {orphaned}; until test -e {finish}; do :; done")
    )
    await until(lambda: orphaned.exists() and len(sleeping(word)) == 2)
    first, late = sleeping(word)
    reaper = subreaper.subreaper()
    listings = iter([{first}, {first, late}, {first, late}])
    monkeypatch.setattr(reaper, "_list_children", lambda: next(listings))

    seen = reaper.orphans_of(next(iter(reaper._heads.values())))

    monkeypatch.undo()
    finish.touch()
    await long
    assert sorted(seen) == [first, late]


@pytest.mark.proves("E2")
def test_two_threads_get_the_same_subreaper(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two subreapers, one would not know the heads of the other."""
    found: list[object] = []
    other = threading.Thread(target=lambda: found.append(subreaper.subreaper()))

    class Slow:
        def __init__(self) -> None:
            self.owner = os.getpid()
            if other.ident is None:
                other.start()
                other.join(0.2)  # it waits for our lock for that long, unless it creates its own

    monkeypatch.setattr(subreaper, "Subreaper", Slow)
    monkeypatch.setattr(subreaper, "_current", None)

    found.append(subreaper.subreaper())

    other.join()
    assert found[0] is found[1]


async def test_exit_codes_of_asyncio_subprocesses_are_not_taken() -> None:
    async def foreign() -> int:
        process = await asyncio.create_subprocess_exec("/bin/sh", "-c", "exit 7", start_new_session=True)
        return await process.wait()

    ours = [run("setsid -f true") for _ in range(50)]
    codes, _ = await asyncio.gather(asyncio.gather(*(foreign() for _ in range(50))), asyncio.gather(*ours))

    assert codes == [7] * 50


@pytest.mark.parametrize("own_session", [True, False])
async def test_the_exit_code_of_a_foreign_process_is_not_taken(own_session: bool) -> None:
    foreign = a_foreign_process("exit 5", own_session)
    await until(lambda: zombies() == [foreign.pid])

    await run("setsid -f true; sleep 0.01")
    await run("setsid -f sleep 600")

    assert foreign.wait() == 5


async def test_the_log_names_a_process_that_cannot_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    log, word = ListLog(), unique()
    monkeypatch.setattr(process_tree, "_send", lambda signum, targets: None)
    monkeypatch.setattr(process_tree, "_LAST_WAIT", 0.05)

    outcome = await run(f"setsid -f sleep {word}", log=log, grace=0)
    left = living(word)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    await until(lambda: not living(word))

    assert outcome == Success(exit_code=0)
    assert len(left) == 1
    assert log.text("meta").endswith(f"could not end process {left[0]}\n".encode())


async def test_a_living_foreign_process_is_not_ended_with_a_run() -> None:
    foreign = a_foreign_process("exec sleep 600", own_session=True)

    await run("setsid -f sleep 600")

    assert foreign.poll() is None
    foreign.kill()
    foreign.wait()


async def test_a_head_that_other_code_reaped_fails_the_attempt(tmp_path: Path) -> None:
    pid_file, word = tmp_path / "pid", unique()
    stolen = asyncio.create_task(run(f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; exec sleep {word}"))
    await until(pid_file.exists)
    pid = int(pid_file.read_text())

    os.kill(pid, 9)
    os.waitpid(pid, 0)  # noqa: ASYNC222 - imitates other code that reaps

    assert "took its exit status" in getattr(await stolen, "error", "")


def test_a_process_that_another_thread_starts_gets_no_tag() -> None:
    tags, is_over = subreaper.subreaper()._tags, threading.Event()
    seen = []

    def start_processes() -> None:
        while not is_over.is_set():
            process = subprocess.Popen(["/bin/true"], start_new_session=True)
            seen.append(tags.read(process.pid))
            process.wait()

    async def many() -> None:
        for _ in range(20):
            await asyncio.gather(*(run(argv=["/bin/true"]) for _ in range(20)))

    other = threading.Thread(target=start_processes)
    other.start()
    asyncio.run(many())
    is_over.set()
    other.join()

    assert set(seen) == {None}


def test_runs_on_loops_in_several_threads_do_not_reap_each_other() -> None:
    outcomes: list[object] = []

    async def many() -> None:
        outcomes.extend(await asyncio.gather(*(run("setsid -f true") for _ in range(30))))

    threads = [threading.Thread(target=asyncio.run, args=(many(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert outcomes == [Success(exit_code=0)] * 120
    assert zombies() == []


def test_a_very_long_list_of_children_is_read_completely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "children").write_text(" ".join(map(str, range(10_000, 40_000))))
    children = os.open(tmp_path / "children", os.O_RDONLY)
    ours = subreaper.subreaper()
    monkeypatch.setattr(ours, "_children", children)

    assert len(ours._list_children()) == 30_000
    os.close(children)


def test_a_forked_child_has_its_own_subreaper() -> None:
    parent = subreaper.subreaper()
    child = os.fork()
    if child == 0:
        os._exit(0 if subreaper.subreaper() is not parent else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def a_foreign_process(command: str, own_session: bool) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["/bin/sh", "-c", command], start_new_session=own_session)
