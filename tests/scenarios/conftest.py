"""Fixtures for remote workers: a site on each storage."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

import pytest

from foliot.adapters.storage.postgres import open_postgres
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.instant import LATEST
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.invariants import check_invariants
from tests.adapters.storage.postgres.fresh import fresh_database
from tests.scenarios.remote_worker import Site


@pytest.fixture(params=["sqlite", "postgres"])
async def site(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Site]:
    """Checks all invariants at the end of each test."""
    clock = VirtualClock()
    async with AsyncExitStack() as stack:
        if request.param == "postgres":
            server, name = stack.enter_context(fresh_database())
            storage = cast(Storage, await open_postgres(server.dsn(name)))
        else:
            path = tmp_path / "site.db"
            storage = cast(Storage, await SqliteStorage.open(path, clock=clock, synchronous="NORMAL"))
        stack.push_async_callback(storage.close)
        site = Site(storage, clock)
        stack.push_async_callback(site.close)
        yield site
        assert await check_invariants(storage, now=LATEST) == []
