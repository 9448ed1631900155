"""A query is answered in one read-only transaction."""

import asyncio
from collections import Counter
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres import PostgresStorage
from foliot.adapters.storage.postgres.database.transaction import Database, Snapshot
from foliot.domain.ids import IdSource
from foliot.testing.builders import succeeded
from foliot.testing.conformance.storage.scene import Scene
from foliot.wiring.services import build_services


async def test_a_run_page_takes_one_transaction_one_for_the_log_and_a_query_of_the_trail(
    scene: Scene, storage: PostgresStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = await scene.start()
    await scene.finish(succeeded(claim))
    services = build_services(storage, scene.clock, IdSource(lambda: 0))
    asked: Counter[str] = Counter()
    snapshot, rows = Database.snapshot, Database.rows

    async def count_snapshot(self: Database, read: Any) -> Any:
        asked["snapshot"] += 1
        return await snapshot(self, read)

    async def count_rows(self: Database, *query: Any) -> Any:
        asked["rows"] += 1
        return await rows(self, *query)

    monkeypatch.setattr(Database, "snapshot", count_snapshot)
    monkeypatch.setattr(Database, "rows", count_rows)
    await services.queries.named(claim.run_id)

    assert asked == {"snapshot": 2, "rows": 1}


async def test_all_reads_of_a_query_use_one_snapshot(
    storage: PostgresStorage, scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    async def read(snapshot: Snapshot) -> list[int]:
        before = len(await snapshot.rows("page_jobs", "default", "", 10))
        await connection.execute(
            "INSERT INTO foliot.jobs (project, id, spec, revision, created_at, updated_at) "
            "VALUES ('default', 'new', '{}', 1, 1, 1)"
        )
        return [before, len(await snapshot.rows("page_jobs", "default", "", 10))]

    assert await database_of(storage).snapshot(read) == [0, 0]


async def test_a_query_is_repeated_after_a_lost_connection(
    storage: PostgresStorage, scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    tries = 0

    async def read(snapshot: Snapshot) -> int:
        nonlocal tries
        tries += 1
        if tries == 1:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            await connection.execute(others + "AND application_name = 'foliot' AND state = 'idle in transaction'")
        return len(await snapshot.rows("page_jobs", "default", "", 10))

    async with asyncio.timeout(30):
        assert await database_of(storage).snapshot(read) == 0
    assert tries == 2


def database_of(storage: PostgresStorage) -> Database:
    found = vars(storage.queries)["_database"]
    assert isinstance(found, Database)
    return found
