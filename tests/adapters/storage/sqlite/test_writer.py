"""All pending operations are saved in one transaction, and an error of one does not affect the others."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest

from foliot.adapters.storage.sqlite.database import connection, schema
from foliot.adapters.storage.sqlite.database import writer as writer_module
from foliot.adapters.storage.sqlite.database.bell import LocalBell
from foliot.adapters.storage.sqlite.database.connection import Connection
from foliot.adapters.storage.sqlite.database.group_commit import (
    Bulk,
    GroupCommit,
    Operation,
    Transaction,
    WriteFunction,
)
from foliot.adapters.storage.sqlite.database.writer import MAX_BATCH, InlineWriter, ThreadWriter
from foliot.errors import InvalidInput, StorageUnavailable
from foliot.ports.topic import Topic
from foliot.testing.clock import VirtualClock
from tests.adapters.storage.sqlite.files import rows

NUMBERS = {1: "CREATE TABLE numbers (n INTEGER PRIMARY KEY, blob BLOB)"}


class CommitScene:
    """A group commit on a file with one table, and the fault points that it reached."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.points: list[str] = []
        self.handle = schema.open_file(path, NUMBERS, synchronous="NORMAL", cache_kib=1_000)
        self.connection = Connection(lambda: self.handle)
        self.group_commit = GroupCommit(self.connection, path, VirtualClock(), self.points.append)
        self.bell = LocalBell(path)

    def numbers(self) -> list[int]:
        return [n for (n,) in rows(self.path, "SELECT n FROM numbers ORDER BY n")]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[CommitScene]:
    scene = CommitScene(tmp_path / "numbers.db")
    yield scene
    scene.bell.close()
    scene.handle.close()


@pytest.fixture
async def writer(scene: CommitScene) -> ThreadWriter:
    return ThreadWriter(scene.group_commit, scene.bell)


class Add:
    """Work that adds a number."""

    def __init__(self, number: int, *, size: int = 0, topic: Topic | None = None) -> None:
        self.number = number
        self.size = size
        self.topic = topic

    def __call__(self, tx: Transaction) -> int:
        if self.topic is not None:
            tx.ring(self.topic)
        tx.run("INSERT INTO numbers (n, blob) VALUES (?, zeroblob(?))", (self.number, self.size))
        return self.number


class Gate:
    """Work that keeps the writer busy until it is opened."""

    def __init__(self) -> None:
        self._entered = threading.Event()
        self._opened = threading.Event()

    def __call__(self, tx: Transaction) -> None:
        self._entered.set()
        self._opened.wait()

    async def reached(self) -> None:
        assert await asyncio.to_thread(self._entered.wait, 30)

    def open(self) -> None:
        self._opened.set()


def add_all(tx: Transaction, numbers: Sequence[int]) -> list[int]:
    """Add numbers. The answer for a number is its double."""
    tx.run_many("INSERT INTO numbers (n) VALUES (?)", [(number,) for number in numbers])
    return [2 * number for number in numbers]


async def submit_while_busy(
    writer: ThreadWriter, *works: WriteFunction[object], urgent: Add | None = None
) -> list[object]:
    """Submit all of them while the writer is busy."""
    gate = Gate()
    busy = asyncio.ensure_future(writer.submit("gate", gate))
    await gate.reached()
    waiting = [asyncio.ensure_future(writer.submit("add", work)) for work in works]
    await asyncio.sleep(0)
    if urgent is not None:
        waiting.append(asyncio.ensure_future(writer.submit("first", urgent, urgent=True)))
        await asyncio.sleep(0)
    gate.open()
    await busy
    return await asyncio.gather(*waiting, return_exceptions=True)


async def test_pending_operations_are_saved_by_one_commit(scene: CommitScene, writer: ThreadWriter) -> None:
    answers = await submit_while_busy(writer, *(Add(number) for number in range(100)))
    await writer.close()

    assert answers == scene.numbers() == list(range(100))
    assert scene.points.count("add.after_commit") == 1


async def test_equal_work_is_joined_and_each_caller_gets_its_own_answers(
    scene: CommitScene, writer: ThreadWriter
) -> None:
    calls: list[int] = []

    def counted(tx: Transaction, numbers: Sequence[int]) -> list[int]:
        calls.append(len(numbers))
        return add_all(tx, numbers)

    answers = await submit_while_busy(
        writer,
        Bulk(counted, [1, 2], alike="noon"),
        Bulk(counted, [], alike="noon"),
        Bulk(counted, [3], alike="noon"),
        Bulk(counted, [4], alike="midnight"),
        Add(5),
        Bulk(counted, [6], alike="midnight"),
    )
    await writer.close()

    assert answers == [[2, 4], [], [6], [8], 5, [12]]
    assert calls == [3, 1, 1]
    assert scene.numbers() == [1, 2, 3, 4, 5, 6]


async def test_an_invalid_item_of_one_caller_does_not_fail_joined_work(
    scene: CommitScene, writer: ThreadWriter
) -> None:
    works = [Bulk(add_all, numbers, alike="noon") for numbers in ([1], [2, 1], [3])]

    answers = await submit_while_busy(writer, *works)
    await writer.close()

    assert [answers[0], answers[2]] == [[2], [6]]
    assert "refused a statement: UNIQUE" in str(answers[1])
    assert scene.numbers() == [1, 3]


async def test_a_commit_is_limited_to_the_largest_batch(scene: CommitScene, writer: ThreadWriter) -> None:
    await submit_while_busy(writer, *(Add(number) for number in range(MAX_BATCH + 1)))
    await writer.close()

    assert len(scene.numbers()) == MAX_BATCH + 1
    assert scene.points.count("add.after_commit") == 2


async def test_a_failed_operation_is_rolled_back_alone(scene: CommitScene, writer: ThreadWriter) -> None:
    class AddThenFail(Add):
        def __call__(self, tx: Transaction) -> int:
            super().__call__(tx)
            raise ValueError("changed my mind")

    answers = await submit_while_busy(writer, Add(1), AddThenFail(2), Add(3))
    await writer.close()

    assert [answer if isinstance(answer, int) else type(answer) for answer in answers] == [1, ValueError, 3]
    assert scene.numbers() == [1, 3]


async def test_a_single_failed_operation_is_rolled_back(scene: CommitScene) -> None:
    class AddTwice(Add):
        def __call__(self, tx: Transaction) -> int:
            super().__call__(tx)
            return super().__call__(tx)

    [outcome] = scene.group_commit.commit([Operation("add", AddTwice(1))])

    assert "refused a statement: UNIQUE" in str(outcome.error)
    assert scene.numbers() == []


@pytest.mark.proves("M4")
async def test_after_a_failed_transaction_each_operation_is_tried_alone(scene: CommitScene) -> None:
    pages = scene.handle.pragma("page_count")
    scene.handle.pragma("max_page_count", pages + 3)
    operations = [Operation("add", Add(1)), Operation("add", Add(2, size=100_000)), Operation("add", Add(3))]

    outcomes = scene.group_commit.commit(operations)

    assert [outcome.result for outcome in outcomes] == [1, None, 3]
    assert isinstance(outcomes[1].error, StorageUnavailable)
    assert "the disk is full" in outcomes[1].error.message
    assert scene.numbers() == [1, 3]


@pytest.mark.proves("M4")
async def test_after_a_rollback_no_operation_is_reported_as_saved(scene: CommitScene) -> None:
    class LoseIt(Add):
        def __call__(self, tx: Transaction) -> int:
            tx.run("ROLLBACK")
            raise apsw.IOError("disk I/O error")

    outcomes = scene.group_commit.commit(
        [Operation("add", Add(1)), Operation("add", LoseIt(2)), Operation("add", Add(3))]
    )

    assert [outcome.result for outcome in outcomes] == [1, None, 3]
    assert isinstance(outcomes[1].error, StorageUnavailable)
    assert scene.numbers() == [1, 3]


@pytest.mark.proves("M4")
async def test_a_commit_waits_for_the_lock_of_another_process(
    scene: CommitScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = apsw.Connection(str(scene.path))
    other.execute("BEGIN IMMEDIATE")
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 5:
            other.execute("COMMIT")

    monkeypatch.setattr(connection, "time", SimpleNamespace(sleep=nap))

    [outcome] = scene.group_commit.commit([Operation("add", Add(1))])

    assert (outcome.result, len(naps)) == (1, 5)
    other.close()


async def test_a_commit_that_waits_for_the_lock_requests_it(
    scene: CommitScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = apsw.Connection(str(scene.path))
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(connection, "time", SimpleNamespace(sleep=lambda _: None))
    requested: list[str] = []

    def request() -> None:
        requested.append("lock")
        other.execute("COMMIT")

    scene.connection.on_wait = request

    [outcome] = scene.group_commit.commit([Operation("add", Add(1))])

    assert (outcome.result, requested) == (1, ["lock"])
    other.close()


async def test_the_writer_pauses_after_a_commit_only_if_another_process_requested_the_lock(
    scene: CommitScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = [False, True, False]
    pauses: list[int] = []
    monkeypatch.setattr(scene.bell, "take_lock_request", lambda: requests.pop(0))
    monkeypatch.setattr(writer_module, "time", SimpleNamespace(sleep=lambda _: pauses.append(len(scene.numbers()))))
    writer = ThreadWriter(scene.group_commit, scene.bell)

    for number in range(3):
        await writer.submit("add", Add(number))
    await writer.close()

    assert (pauses, requests) == ([2], [])


@pytest.mark.proves("M4")
async def test_a_lock_that_is_never_released_is_reported(scene: CommitScene) -> None:
    other = apsw.Connection(str(scene.path))
    other.execute("BEGIN IMMEDIATE")
    with scene.connection as handle:
        handle.set_busy_handler(lambda times: False)

    [outcome] = scene.group_commit.commit([Operation("add", Add(1))])

    assert isinstance(outcome.error, StorageUnavailable)
    assert "locked by another process" in outcome.error.message
    other.close()


async def test_an_urgent_operation_goes_before_pending_ones(scene: CommitScene, writer: ThreadWriter) -> None:
    order: list[int] = []

    class Note(Add):
        def __call__(self, tx: Transaction) -> int:
            order.append(self.number)
            return super().__call__(tx)

    await submit_while_busy(writer, Note(1), Note(2), urgent=Note(3))
    await writer.close()

    assert order == [3, 1, 2]


async def test_a_cancelled_operation_is_not_executed(scene: CommitScene, writer: ThreadWriter) -> None:
    gate = Gate()
    busy = asyncio.ensure_future(writer.submit("gate", gate))
    await gate.reached()
    given_up = asyncio.ensure_future(writer.submit("add", Add(1)))
    await asyncio.sleep(0)

    given_up.cancel()
    await asyncio.sleep(0)
    gate.open()
    await busy
    await writer.close()

    assert scene.numbers() == []


@pytest.mark.proves("M3")
async def test_closing_saves_pending_operations(scene: CommitScene, writer: ThreadWriter) -> None:
    waiting = [asyncio.ensure_future(writer.submit("add", Add(number))) for number in range(10)]
    await asyncio.sleep(0)

    await writer.close()

    assert await asyncio.gather(*waiting) == scene.numbers() == list(range(10))
    with pytest.raises(StorageUnavailable, match="is closed"):
        await writer.submit("add", Add(11))


async def test_the_bell_rings_after_the_commit_and_not_for_failed_operations(scene: CommitScene) -> None:
    class RingThenFail(Add):
        def __call__(self, tx: Transaction) -> int:
            tx.ring(Topic.LATER)
            raise ValueError

    writer = InlineWriter(scene.group_commit, scene.bell)
    with pytest.raises(ValueError):
        await writer.submit("add", RingThenFail(1))
    await writer.submit("add", Add(2, topic=Topic.RUNS))

    assert scene.bell.signal(Topic.RUNS).is_set()
    assert not scene.bell.signal(Topic.LATER).is_set()


@pytest.mark.parametrize(("point", "saved"), [("add.before_commit", []), ("add.after_commit", [1])])
async def test_a_crash_before_the_commit_loses_all_and_a_crash_after_it_nothing(
    scene: CommitScene, point: str, saved: list[int]
) -> None:
    def crash(reached: str) -> None:
        if reached == point:
            raise KeyboardInterrupt

    group_commit = GroupCommit(scene.connection, scene.path, VirtualClock(), crash)

    with pytest.raises(KeyboardInterrupt):
        await InlineWriter(group_commit, scene.bell).submit("add", Add(1))

    assert scene.numbers() == saved


@pytest.mark.parametrize("value", [2**63, "\ud800"])
async def test_a_value_that_cannot_be_stored_is_an_error_of_the_caller(scene: CommitScene, value: object) -> None:
    operation = Operation("add", lambda tx: tx.run("INSERT INTO numbers (blob) VALUES (?)", (value,)))

    [outcome] = scene.group_commit.commit([operation])

    assert isinstance(outcome.error, InvalidInput)


async def test_every_caller_gets_an_error_if_the_writer_fails(
    scene: CommitScene, writer: ThreadWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(GroupCommit, "commit", fail)
        with pytest.raises(MemoryError):
            await writer.submit("add", Add(1))
    await writer.submit("add", Add(2))
    await writer.close()

    assert scene.numbers() == [2]
