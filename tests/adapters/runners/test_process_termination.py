"""A machine on which everything takes long: whoever is ended is told first, then killed, and nobody is overlooked."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator

import pytest

from foliot.adapters.runners.process.children import process_table
from foliot.adapters.runners.process.termination import process_tree
from foliot.adapters.runners.process.termination.shielded_wait import ShieldedWait

SOMEBODY = 4_194_305  # more than Linux gives
MOMENT = 0.01

Sent = list[tuple[signal.Signals, int]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """What would have been sent."""
    sent: Sent = []
    monkeypatch.setattr(os, "kill", lambda target, number: sent.append((number, target)))
    return sent


# -- in which order


@pytest.mark.proves("E1")
def test_a_parent_hears_of_its_end_before_its_children_do(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell that sees its command end goes on with the next one, though all of them were told to end."""
    parents = {8: 1, 7: 8, 3: 7, 2: 8}
    monkeypatch.setattr(
        process_table, "_read", lambda path: f"x (sh) ) S {parents[int(path.split('/')[2])]} 9".encode()
    )

    process_tree._send(signal.SIGTERM, set(parents))

    assert [target for _, target in sent] == [8, 2, 7, 3]


def test_a_group_hears_of_its_end_before_all_others(sent: Sent) -> None:
    process_tree._send(signal.SIGKILL, {SOMEBODY, -SOMEBODY})

    assert [target for _, target in sent] == [-SOMEBODY, SOMEBODY]


def test_parents_that_change_while_they_are_read_are_no_riddle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "_read", lambda path: b"x (sh) S 3 9" if "/2/" in path else b"x (sh) S 2 9")

    assert process_table.parents_first([3, 2]) == [2, 3]


# -- when


async def end_slowly(*found: set[int], grace: float) -> set[int]:
    """Find these, one after the other, and each so late that all time there was is over."""
    finds = iter(found)

    async def find() -> set[int]:
        await asyncio.sleep(2 * (grace + process_tree._LAST_WAIT))
        return next(finds)

    return await process_tree._end(find, grace, ShieldedWait())


@pytest.fixture
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "_LAST_WAIT", MOMENT)


@pytest.mark.usefixtures("_short_wait")
async def test_who_is_found_late_is_told_before_it_is_killed(sent: Sent) -> None:
    assert await end_slowly({SOMEBODY}, {SOMEBODY}, set(), grace=MOMENT) == set()

    assert sent == [(signal.SIGTERM, SOMEBODY), (signal.SIGKILL, SOMEBODY)]


@pytest.mark.usefixtures("_short_wait")
async def test_who_is_found_late_is_not_given_up_before_it_is_killed(sent: Sent) -> None:
    assert await end_slowly({SOMEBODY}, {SOMEBODY}, grace=0) == {SOMEBODY}

    assert sent == [(signal.SIGKILL, SOMEBODY)]


# -- the search


class Gate:
    """Lets a search look at one process after the other."""

    def __init__(self) -> None:
        self._looks = threading.Semaphore(0)

    def is_parent(self, pid: int) -> bool:
        if threading.current_thread() is not threading.main_thread():  # which looks again at whom the search has found
            self._looks.acquire()
        return pid == os.getppid()

    def open(self, looks: int) -> None:
        self._looks.release(looks)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open(1_000_000)


class OneLook(ShieldedWait):
    """Its time is up when one more process was looked at."""

    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self._gate = gate

    async def wait(self, future: "asyncio.Future[object]", seconds: float) -> None:
        searcher = process_tree._searcher(os.getpid())
        looks = searcher.looks
        self._gate.open(1)
        while searcher.looks == looks and not future.done():
            await asyncio.sleep(0)


class NoWait(ShieldedWait):
    """Its time is up at once."""

    async def wait(self, future: "asyncio.Future[object]", seconds: float) -> None:
        await asyncio.sleep(0)


@pytest.mark.proves("E1")
async def test_a_search_that_gets_on_is_waited_for(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "_all_pids", lambda: [1, 2, 3, os.getppid(), 4])

    assert await process_tree._search(gate.is_parent, OneLook(gate)) == {os.getppid()}


async def test_a_search_that_hangs_is_given_up(gate: Gate) -> None:
    assert await process_tree._search(gate.is_parent, NoWait()) == set()
