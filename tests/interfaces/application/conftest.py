"""An application on each storage."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot import Foliot
from tests.adapters.storage.postgres.fresh import fresh_database


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/foliot.db"
        return
    with fresh_database() as (server, name):
        yield server.dsn(name)


@pytest.fixture
def app(url: str) -> Foliot:
    return Foliot(url)
