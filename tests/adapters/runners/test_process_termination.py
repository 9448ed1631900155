"""Ending processes on a slow machine: TERM before KILL, parents first, and a complete search."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator

import pytest

from foliot.adapters.runners.process.children import process_table
from foliot.adapters.runners.process.termination import process_tree
from foliot.adapters.runners.process.termination.shielded_wait import ShieldedWait

A_PID = 4_194_305  # higher than any pid of Linux
MOMENT = 0.01

Sent = list[tuple[signal.Signals, int]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """Return the signals that would have been sent."""
    sent: Sent = []
    monkeypatch.setattr(os, "kill", lambda target, number: sent.append((number, target)))
    return sent


# -- in which order


@pytest.mark.proves("E1")
def test_parents_are_signalled_before_their_children(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell whose command ends before the shell is signalled would run the next command."""
    parents = {8: 1, 7: 8, 3: 7, 2: 8}
    monkeypatch.setattr(
        process_table, "_read", lambda path: f"x (sh) ) S {parents[int(path.split('/')[2])]} 9".encode()
    )

    process_tree._send(signal.SIGTERM, set(parents))

    assert [target for _, target in sent] == [8, 2, 7, 3]


def test_process_groups_are_signalled_before_processes(sent: Sent) -> None:
    process_tree._send(signal.SIGKILL, {A_PID, -A_PID})

    assert [target for _, target in sent] == [-A_PID, A_PID]


def test_a_cycle_of_parents_is_ordered_without_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "_read", lambda path: b"x (sh) S 3 9" if "/2/" in path else b"x (sh) S 2 9")

    assert process_table.parents_first([3, 2]) == [2, 3]


# -- when


async def end_slowly(*found: set[int], grace: float) -> set[int]:
    """End the given processes, each found so late that all time limits have passed."""
    finds = iter(found)

    async def find() -> set[int]:
        await asyncio.sleep(2 * (grace + process_tree._LAST_WAIT))
        return next(finds)

    return await process_tree._end(find, grace, ShieldedWait())


@pytest.fixture
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "_LAST_WAIT", MOMENT)


@pytest.mark.usefixtures("_short_wait")
async def test_a_process_found_after_the_grace_period_gets_term_before_kill(sent: Sent) -> None:
    assert await end_slowly({A_PID}, {A_PID}, set(), grace=MOMENT) == set()

    assert sent == [(signal.SIGTERM, A_PID), (signal.SIGKILL, A_PID)]


@pytest.mark.usefixtures("_short_wait")
async def test_a_process_found_late_is_killed_before_it_is_given_up(sent: Sent) -> None:
    assert await end_slowly({A_PID}, {A_PID}, grace=0) == {A_PID}

    assert sent == [(signal.SIGKILL, A_PID)]


# -- the search


class Gate:
    """Lets a search continue one process at a time."""

    def __init__(self) -> None:
        self._looks = threading.Semaphore(0)

    def is_parent(self, pid: int) -> bool:
        if threading.current_thread() is not threading.main_thread():  # the main thread checks the results again
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
    """A wait that ends after the search has looked at one more process."""

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
    """A wait that ends at once."""

    async def wait(self, future: "asyncio.Future[object]", seconds: float) -> None:
        await asyncio.sleep(0)


@pytest.mark.proves("E1")
async def test_a_search_that_makes_progress_is_waited_for(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "_all_pids", lambda: [1, 2, 3, os.getppid(), 4])

    assert await process_tree._search(gate.is_parent, OneLook(gate)) == {os.getppid()}


async def test_a_search_that_hangs_is_abandoned(gate: Gate) -> None:
    assert await process_tree._search(gate.is_parent, NoWait()) == set()
