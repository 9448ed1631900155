"""A new, empty, migrated database for each test, copied from one that was migrated once."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import count

from foliot.adapters.storage.postgres import open_postgres
from foliot.testing.postgres import PostgresServer, shared_server

_numbers = count(1)


@contextmanager
def fresh_database(*, is_migrated: bool = True) -> Iterator[tuple[PostgresServer, str]]:
    """Yield a server and the name of a database on it that is dropped afterwards."""
    server = shared_server()
    name = f"test_{next(_numbers)}"
    server.create_database(name, template=_template() if is_migrated else "template1")
    try:
        yield server, name
    finally:
        server.drop_database(name)


@cache
def _template() -> str:
    dsn = shared_server().create_database("migrated")

    async def migrate() -> None:
        await (await open_postgres(dsn)).close()

    # Its own event loop in its own thread: the first test that needs it already runs in a loop.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, migrate()).result()
    return "migrated"
