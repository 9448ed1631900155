"""Fixtures of the engine tests: a clock, a storage, the duties of one process, and an application."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.adapters.queue.memory import MemoryQueue
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Another
from foliot.testing.inline import InlineEngine
from foliot.testing.simulation.faults import Faults
from tests.engine.rig import Rig
from tests.engine.town import Town


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def faults() -> Faults:
    """Faults at the commits of `storage`, which a test can arm."""
    return Faults()


@pytest.fixture
async def storage(tmp_path: Path, clock: VirtualClock, faults: Faults) -> AsyncIterator[Storage]:
    opened = await SqliteStorage.open(
        tmp_path / "engine.db", clock=clock, inline=True, faults=faults, synchronous="NORMAL"
    )
    yield opened
    await opened.close()


@pytest.fixture
async def another(tmp_path: Path, clock: VirtualClock, storage: Storage) -> AsyncIterator[Another]:
    """Opens the same file again, as another process would."""
    opened: list[Storage] = []

    async def open_another() -> Storage:
        opened.append(await SqliteStorage.open(tmp_path / "engine.db", clock=clock, inline=True, synchronous="NORMAL"))
        return opened[-1]

    yield open_another
    for other in opened:
        await other.close()


@pytest.fixture
def rig(storage: Storage, clock: VirtualClock) -> Rig:
    return Rig(storage, clock)


@pytest.fixture
def queue() -> MemoryQueue:
    return MemoryQueue()


@pytest.fixture
def app() -> Foliot:
    return Foliot()


@pytest.fixture
def town(app: Foliot) -> Town:
    return Town(app)


@pytest.fixture
async def engine(app: Foliot) -> AsyncIterator[InlineEngine]:
    """The inline engine of `app`."""
    async with InlineEngine(app) as engine:
        yield engine
