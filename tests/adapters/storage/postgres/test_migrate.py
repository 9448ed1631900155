"""Migrations are applied once, by the first node, and never backwards."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
import pytest

from foliot.adapters.storage.postgres import open_postgres
from foliot.adapters.storage.postgres.database.dsn import parse_dsn
from foliot.adapters.storage.postgres.database.schema import migrate, migrations
from foliot.errors import SchemaTooNew, StorageError
from foliot.testing.builders import a_run
from foliot.testing.postgres import PostgresServer
from tests.adapters.storage.postgres.fresh import fresh_database

_SHAPE = """
SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
    SELECT format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) AS line
    FROM information_schema.columns WHERE table_schema = 'foliot'
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'foliot'
    UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
              WHERE connamespace = 'foliot'::regnamespace
    UNION ALL SELECT relname || ' ' || reloptions::text FROM pg_class WHERE relnamespace = 'foliot'::regnamespace
    UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'foliot'::regnamespace
    UNION ALL SELECT key || ' = ' || value FROM foliot.meta) AS shape
"""


@pytest.fixture
def empty() -> Iterator[tuple[PostgresServer, str]]:
    with fresh_database(is_migrated=False) as place:
        yield place


@pytest.mark.proves("M2")
async def test_nodes_that_start_together_migrate_once(empty: tuple[PostgresServer, str]) -> None:
    server, name = empty

    storages = await asyncio.gather(*(open_postgres(server.dsn(name)) for _ in range(4)))

    for storage in storages:
        await storage.close()
    assert server.sql("SELECT value FROM foliot.meta WHERE key = 'schema_version'", database=name) == str(newest())


@pytest.mark.proves("M2")
async def test_migrating_step_by_step_gives_the_same_schema(
    empty: tuple[PostgresServer, str], server: PostgresServer, database: str
) -> None:
    _, name = empty
    connection = await asyncpg.connect(server.dsn(name))
    for _ in range(newest() + 1):
        await migrate(connection, parse_dsn(server.dsn(name)))
    await connection.close()

    assert server.sql(_SHAPE, database=name) == server.sql(_SHAPE, database=database)


@pytest.mark.proves("M2", "R1-47")
async def test_a_newer_schema_is_refused_and_both_versions_are_named(
    server: PostgresServer, database: str, dsn: str
) -> None:
    server.sql("UPDATE foliot.meta SET value = '999' WHERE key = 'schema_version'", database=database)

    with pytest.raises(SchemaTooNew) as refusal:
        await open_postgres(dsn)

    assert (refusal.value.found, refusal.value.supported) == (999, newest())


@pytest.mark.proves("M2")
async def test_a_failed_migration_is_rolled_back(
    empty: tuple[PostgresServer, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, name = empty
    broken = {1: migrations()[1] + "\nSELECT 1 / 0;"}
    monkeypatch.setattr("foliot.adapters.storage.postgres.database.schema.migrations", lambda _: broken)

    with pytest.raises(StorageError):
        await open_postgres(server.dsn(name))

    assert server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'foliot'", database=name) == "0"


async def test_a_migration_may_exceed_the_statement_timeout(
    empty: tuple[PostgresServer, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, name = empty
    slow = {1: migrations()[1] + "\nSELECT pg_sleep(0.3);"}
    monkeypatch.setattr("foliot.adapters.storage.postgres.database.schema.migrations", lambda _: slow)
    connection = await asyncpg.connect(
        server.dsn(name), command_timeout=0.2, server_settings={"statement_timeout": "200"}
    )

    reached = await migrate(connection, parse_dsn(server.dsn(name)))

    await connection.close()
    assert reached == 1


async def test_two_schemas_in_one_database_are_independent(dsn: str) -> None:
    async with await open_postgres(dsn) as one, await open_postgres(f"{dsn}&schema=other") as other:
        run = a_run()
        await one.orders.create([run])

        assert await other.queries.get_runs([run.id]) == {}
        assert set(await one.queries.get_runs([run.id])) == {run.id}


@pytest.mark.proves("L1", "T1")
def test_the_database_enforces_uniqueness(server: PostgresServer, database: str) -> None:
    unique = server.sql(
        "SELECT indexdef FROM pg_indexes WHERE schemaname = 'foliot' AND indexdef LIKE '%UNIQUE%'", database=database
    )

    assert "ticks USING btree (uid, scheduled_for)" in unique
    assert "leases USING btree (run_id)" in unique
    assert "ready USING btree (run_id)" in unique


async def test_a_database_with_a_limited_encoding_is_refused(server: PostgresServer) -> None:
    with a_database(server, "latin", "LATIN1") as dsn:
        with pytest.raises(StorageError, match="is encoded in LATIN1") as refusal:
            await open_postgres(dsn)
        with pytest.raises(StorageError, match="is encoded in LATIN1"):
            await open_postgres(dsn, create=False)

        assert "createdb --encoding=UTF8" in refusal.value.hint
        assert server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'foliot'", database="latin") == "0"


async def test_a_sql_ascii_database_stores_any_character(server: PostgresServer) -> None:
    run = a_run(payload='{"sign": "żółw ☃ 🐢"}'.encode())
    with a_database(server, "bytes", "SQL_ASCII") as dsn:
        async with await open_postgres(dsn) as storage:
            await storage.orders.create([run])

            assert (await storage.queries.get_runs([run.id]))[run.id].payload == {"sign": "żółw ☃ 🐢"}


@contextmanager
def a_database(server: PostgresServer, name: str, encoding: str) -> Iterator[str]:
    server.sql(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LOCALE 'C'")
    yield server.dsn(name)
    server.drop_database(name)


def newest() -> int:
    return max(migrations())
