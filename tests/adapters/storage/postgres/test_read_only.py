"""Servers that take no writes for a while: a standby, or one that was told so."""

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
    """A server with a migrated database that follows another one, which will never say anything."""
    with PostgresServer.start() as server:
        server.create_database("orders")
        yield server


def follow(server: PostgresServer) -> None:
    (server.directory / "data" / "standby.signal").touch()
    server.restart()


def read_only(server: PostgresServer, database: str) -> None:
    server.sql(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    server.terminate_backends(database)


async def test_who_may_only_read_is_told_so_and_may_come_again(
    storage: PostgresStorage, server: PostgresServer, database: str
) -> None:
    read_only(server, database)

    with pytest.raises(StorageUnavailable, match="may only be read: cannot execute") as refusal:
        await storage.orders.create([a_run()])

    assert "target_session_attrs=read-write" in refusal.value.hint


async def test_sessions_of_the_time_of_reading_are_not_kept_when_it_is_over(
    storage: PostgresStorage, server: PostgresServer, database: str
) -> None:
    read_only(server, database)
    # Sessions that may only read are in the pool now, more of them than there are tries.
    await asyncio.gather(*(storage.queries.logs_kept_from() for _ in range(8)))
    server.sql(f"ALTER DATABASE {database} RESET default_transaction_read_only")

    created = await storage.orders.create([a_run()])

    assert created[0].is_new


async def test_a_standby_can_be_looked_at_without_a_word(
    standby: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    await (await open_postgres(standby.dsn("orders"))).close()
    follow(standby)

    async with await open_postgres(standby.dsn("orders"), create=False) as storage:
        assert await storage.queries.get_runs([]) == {}

    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


async def test_a_standby_that_is_promoted_takes_writes_from_then_on(standby: PostgresServer) -> None:
    async with await open_postgres(standby.dsn("orders")) as storage:
        follow(standby)
        with pytest.raises(StorageUnavailable, match="may only be read"):
            await storage.orders.create([a_run()])

        standby.sql("SELECT pg_promote()")

        assert (await storage.orders.create([a_run()]))[0].is_new
