"""Opening survives a broken connection, and does not wait for an unreachable server."""

import asyncio
import logging
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres import open_postgres, storage
from foliot.adapters.storage.postgres.database.errors import retry
from foliot.adapters.storage.postgres.database.schema import _LOCK
from foliot.errors import StorageUnavailable
from foliot.testing.builders import a_run

_WAITING = """
SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE datname = current_database() AND NOT granted
"""
_SCHEMA = "not_there_yet"
_STARTING = asyncpg.CannotConnectNowError("the database system is starting up")


@pytest.mark.proves("M4")
async def test_a_connection_that_breaks_during_a_migration_is_opened_again(
    dsn: str, connection: "asyncpg.Connection[Any]"
) -> None:
    async with connection.transaction():
        await connection.execute(_LOCK, _SCHEMA)
        opening = asyncio.create_task(open_postgres(dsn, schema=_SCHEMA))
        await connection.execute("SELECT pg_terminate_backend($1)", await _waiting_session(connection))

    async with await opening as opened:
        await opened.orders.create([run := a_run()])
        assert run.id in await opened.queries.get_runs([run.id])


@pytest.mark.proves("M4")
async def test_a_starting_server_is_retried(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connects = _failing(monkeypatch, [_STARTING, _STARTING])

    async with await open_postgres(dsn):
        assert len(connects) >= 3


async def test_an_unreachable_server_is_not_retried(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connects = _failing(monkeypatch, [ConnectionRefusedError("nobody listens")] * 9)

    with pytest.raises(StorageUnavailable, match="nobody listens"):
        await open_postgres(dsn)

    assert len(connects) == 1


async def test_opening_gives_up_if_connections_keep_breaking(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[object] = []

    async def break_off(connection: object, _: object) -> None:
        tries.append(connection)
        raise asyncpg.ConnectionDoesNotExistError("connection was closed")

    monkeypatch.setattr(storage, "migrate", break_off)
    monkeypatch.setattr("foliot.adapters.storage.postgres.database.errors._PAUSES", (0, 0))

    with pytest.raises(StorageUnavailable, match="connection was closed"):
        await open_postgres(dsn)

    assert len(tries) == 3


async def test_a_retried_connection_logs_the_reason(
    dsn: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("foliot.adapters.storage.postgres.database.errors._WORTH_A_WARNING", -1)
    _failing(monkeypatch, [_STARTING])

    with caplog.at_level(logging.WARNING):
        await (await open_postgres(dsn)).close()

    (record,) = (record for record in caplog.records if record.message == "storage_retried")
    assert record.__dict__["error"] == "the database system is starting up"


async def test_an_error_without_a_message_is_logged_with_a_description(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("foliot.adapters.storage.postgres.database.errors._WORTH_A_WARNING", -1)
    errors = [TimeoutError()]

    async def once() -> str:
        if errors:
            raise errors.pop()
        return "done"

    assert await retry(once, lambda _: True) == "done"
    assert [record.__dict__["error"] for record in caplog.records] == ["no answer in time"]


async def test_retries_that_did_not_help_are_left_to_the_caller_to_report(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("foliot.adapters.storage.postgres.database.errors._WORTH_A_WARNING", -1)
    monkeypatch.setattr("foliot.adapters.storage.postgres.database.errors._PAUSES", (0, 0))

    async def once() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await retry(once, lambda _: True)

    assert caplog.records == []


def _failing(monkeypatch: pytest.MonkeyPatch, errors: list[Exception]) -> list[str]:
    """Make the next connections fail with these errors. The returned list grows with each attempt."""
    connects: list[str] = []
    true_connect = asyncpg.connect

    async def connect(url: str, **options: Any) -> Any:
        connects.append(url)
        if len(connects) <= len(errors):
            raise errors[len(connects) - 1]
        return await true_connect(url, **options)

    monkeypatch.setattr(asyncpg, "connect", connect)
    return connects


async def _waiting_session(connection: "asyncpg.Connection[Any]") -> int:
    async with asyncio.timeout(30):
        while (pid := await connection.fetchval(_WAITING)) is None:
            await asyncio.sleep(0.01)
    return int(pid)
