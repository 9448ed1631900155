"""Fixtures: a PostgreSQL storage on its own database, for tests of what only PostgreSQL does."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres import PostgresStorage, open_postgres
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.postgres import PostgresServer
from tests.adapters.storage.postgres.faults import Faults
from tests.adapters.storage.postgres.fresh import fresh_database


@pytest.fixture
def place() -> Iterator[tuple[PostgresServer, str]]:
    with fresh_database() as place:
        yield place


@pytest.fixture
def server(place: tuple[PostgresServer, str]) -> PostgresServer:
    return place[0]


@pytest.fixture
def database(place: tuple[PostgresServer, str]) -> str:
    return place[1]


@pytest.fixture
def dsn(server: PostgresServer, database: str) -> str:
    return server.dsn(database)


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
async def storage(dsn: str, faults: Faults) -> AsyncIterator[PostgresStorage]:
    async with await open_postgres(dsn, faults=faults) as storage:
        yield storage


@pytest.fixture
def scene(storage: PostgresStorage) -> Scene:
    return Scene(storage, VirtualClock())


@pytest.fixture
async def connection(dsn: str) -> AsyncIterator["asyncpg.Connection[Any]"]:
    """A direct connection, without the storage."""
    connection = await asyncpg.connect(dsn)
    yield connection
    await connection.close()
