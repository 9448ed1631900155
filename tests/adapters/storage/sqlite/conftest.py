"""Fixtures: a clock, and a storage on a SQLite file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.testing.clock import VirtualClock
from tests.adapters.storage.sqlite.files import opened


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def storage(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[SqliteStorage]:
    async with opened(tmp_path / "foliot.db", clock=clock) as storage:
        yield storage
