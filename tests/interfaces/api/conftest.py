"""Services on SQLite, and a client for a server on them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.service.services import Services
from tests.interfaces.api.serving import Client, RoleAccess, serving
from tests.interfaces.serving import started


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Foliot]:
    opened = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    async with opened:
        yield opened


@pytest.fixture
async def services(app: Foliot) -> Services:
    return await app.open()


@pytest.fixture
async def api(services: Services) -> AsyncIterator[Client]:
    """A client of a server in development mode."""
    async with serving(services) as client:
        yield client


@pytest.fixture
async def on_each(url: str) -> AsyncIterator[Client]:
    """A client of a server in development mode beside a worker, on each database."""
    app = Foliot(url)
    async with app, started(app), serving(await app.open()) as client:
        yield client


@pytest.fixture
async def guarded(services: Services) -> AsyncIterator[Client]:
    """A client of a server with a token for each role."""
    async with serving(services, RoleAccess()) as client:
        yield client


@pytest.fixture
async def working(app: Foliot, api: Client) -> AsyncIterator[Client]:
    """A client of a server in development mode, beside a worker."""
    async with started(app):
        yield api
