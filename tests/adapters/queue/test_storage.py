"""The storage queue fulfils the queue contract, with a real storage."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot.adapters.queue.storage import StorageQueue
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.ports.storage import Storage
from foliot.testing.builders import a_run
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.queue import TIMEOUT, QueueContract


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[Storage]:
    opened = await SqliteStorage.open(tmp_path / "foliot.db", clock=VirtualClock(), synchronous="NORMAL")
    yield opened
    await opened.close()


@pytest.fixture
def queue(storage: Storage) -> StorageQueue:
    return StorageQueue(storage)


class TestStorageQueue(QueueContract):
    pass


def test_a_storage_queue_carries_no_ids(queue: StorageQueue) -> None:
    assert not queue.carries_ids


@pytest.mark.proves("Q2", "R1-06")
async def test_a_run_that_was_not_announced_sets_the_signal(queue: StorageQueue, storage: Storage) -> None:
    queue.signal.clear()

    await storage.orders.create([a_run(due_at=0)])

    async with asyncio.timeout(TIMEOUT):
        await queue.signal.wait()


async def test_announcing_no_runs_does_not_set_the_signal(queue: StorageQueue) -> None:
    queue.signal.clear()

    await queue.announce("default", [])

    assert not queue.signal.is_set()


async def test_closing_a_storage_queue_leaves_the_storage_open(queue: StorageQueue, storage: Storage) -> None:
    await queue.close()

    assert len(await storage.orders.create([a_run(due_at=0)])) == 1
