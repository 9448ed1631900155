"""Servers that are read-only for a while: a standby, or by a setting."""

import asyncio
import logging
from collections.abc import Iterator

import pytest

from foliot.adapters.storage.postgres import PostgresStorage, open_postgres
from foliot.errors import StorageUnavailable
from foliot.testing.builders import a_run
from foliot.testing.postgres import PostgresServer


@pytest.fixture
def standby() -> Iterator[PostgresServer]:
    """A server with a migrated database that is the standby of a primary that does not exist."""
    with PostgresServer.start() as server:
        server.create_database("orders")
        yield server


def follow(server: PostgresServer) -> None:
    (server.directory / "data" / "standby.signal").touch()
    server.restart()


def read_only(server: PostgresServer, database: str) -> None:
    server.sql(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    server.terminate_backends(database)


async def test_a_write_to_a_read_only_server_fails_and_may_be_retried(
    storage: PostgresStorage, server: PostgresServer, database: str
) -> None:
    read_only(server, database)

    with pytest.raises(StorageUnavailable, match="may only be read: cannot execute") as refusal:
        await storage.orders.create([a_run()])

    assert "target_session_attrs=read-write" in refusal.value.hint


async def test_read_only_sessions_are_replaced_when_the_server_accepts_writes(
    storage: PostgresStorage, server: PostgresServer, database: str
) -> None:
    read_only(server, database)
    # The pool now contains read-only sessions, more of them than there are tries.
    await asyncio.gather(*(storage.queries.logs_kept_from() for _ in range(8)))
    server.sql(f"ALTER DATABASE {database} RESET default_transaction_read_only")

    created = await storage.orders.create([a_run()])

    assert created[0].is_new


async def test_a_standby_can_be_read_without_a_warning(
    standby: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    await (await open_postgres(standby.dsn("orders"))).close()
    follow(standby)

    async with await open_postgres(standby.dsn("orders"), create=False) as storage:
        assert await storage.queries.get_runs([]) == {}

    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


async def test_a_promoted_standby_accepts_writes(standby: PostgresServer) -> None:
    async with await open_postgres(standby.dsn("orders")) as storage:
        follow(standby)
        with pytest.raises(StorageUnavailable, match="may only be read"):
            await storage.orders.create([a_run()])

        standby.sql("SELECT pg_promote()")

        assert (await storage.orders.create([a_run()]))[0].is_new
