"""Fixtures of the crash tests: a stage on each storage, whose processes are ended after the test."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from foliot.testing.postgres import PostgresServer
from foliot.wiring.services import open_services
from tests.scenarios.crash.stage import Stage

_numbers = count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """A server of these tests' own: they crash it and break its connections. What it says is saved, is saved."""
    with PostgresServer.start(settings={"synchronous_commit": "on"}) as started:
        yield started


@pytest.fixture
def disk() -> Iterator[Path]:
    """A directory that is not in memory, as that of other tests may be: a kill is to strike also while a process waits
    until something is safe."""
    with TemporaryDirectory(prefix="foliot-crash-", ignore_cleanup_errors=True) as directory:
        yield Path(directory)


@pytest.fixture(params=["sqlite", "postgres"])
async def stage(request: pytest.FixtureRequest, disk: Path) -> AsyncIterator[Stage]:
    if request.param == "postgres":
        async with _on_postgres(disk, request.getfixturevalue("server")) as opened:
            yield opened
    else:
        async with _on(disk, f"sqlite:///{disk}/foliot.db") as opened:
            yield opened


@pytest.fixture
async def postgres_stage(server: PostgresServer, disk: Path) -> AsyncIterator[Stage]:
    async with _on_postgres(disk, server) as opened:
        yield opened


@asynccontextmanager
async def _on_postgres(directory: Path, server: PostgresServer) -> AsyncIterator[Stage]:
    name = f"crash_{next(_numbers)}"
    try:
        async with _on(directory, server.create_database(name), server) as opened:
            yield opened
    finally:
        server.drop_database(name)


@asynccontextmanager
async def _on(directory: Path, url: str, server: PostgresServer | None = None) -> AsyncIterator[Stage]:
    services = await open_services(url)
    stage = Stage(directory, url, services, server)
    try:
        yield stage
    finally:
        stage.close()
        await services.close()
