"""A server process with a client, and a server that answers as a test says."""

from collections.abc import AsyncIterator, Iterator

import pytest

from foliot.client import Client
from tests.client.scripted import ScriptedServer
from tests.scenarios.server import Place

CONFIGURATION = """
[[jobs]]
id = "report"
command = "echo 42 visitors"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    found = Place(tmp_path_factory.mktemp("served"))
    found.file.write_text(CONFIGURATION)
    return found


@pytest.fixture(scope="module")
def url(place: Place) -> Iterator[str]:
    """The address of a server in development mode, on SQLite."""
    with place.serve() as server:
        yield server.url


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as opened:
        yield opened


@pytest.fixture
async def scripted() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as server:
        yield server
