"""Fixtures of the service tests: a clock, a storage, and the services."""

from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.ids import IdSource
from foliot.ports.storage import Storage
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from foliot.wiring.services import build_services


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def storage(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Storage]:
    opened = await SqliteStorage.open(tmp_path / "service.db", clock=clock, inline=True, synchronous="NORMAL")
    yield opened
    await opened.close()


@pytest.fixture
def services(storage: Storage, clock: VirtualClock) -> Services:
    return build_services(storage, clock, IdSource(count(1).__next__))


@pytest.fixture
def scene(storage: Storage, clock: VirtualClock) -> Scene:
    return Scene(storage, clock)
