"""A reader of events never skips an event that commits late."""

from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres import PostgresStorage, open_postgres
from foliot.testing.builders import a_run
from foliot.testing.conformance.storage.scene import Scene

LATE = """
INSERT INTO foliot.events (seq, at, kind, items)
VALUES (foliot.event_seq(pg_current_xact_id(), 1), 0, 'runs.created', '[["late", "report"]]')
"""


@pytest.mark.proves("O2", "S4")
async def test_an_event_that_commits_late_is_not_skipped(
    storage: PostgresStorage, scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(LATE)
    [run_id] = await scene.create(a_run())

    before = await storage.queries.events(after=0, limit=100)
    await transaction.commit()
    after = await storage.queries.events(after=max((event.seq for event in before), default=0), limit=100)

    seen = [item[0] for event in (*before, *after) for item in event.items]
    assert seen == ["late", run_id]


@pytest.mark.proves("O2")
async def test_event_numbers_keep_increasing_in_a_restored_database(
    storage: PostgresStorage, scene: Scene, dsn: str, connection: "asyncpg.Connection[Any]"
) -> None:
    await scene.create(a_run())
    await connection.execute("UPDATE foliot.events SET seq = seq + 1000000000")
    [old] = [row["seq"] for row in await connection.fetch("SELECT seq FROM foliot.events")]

    async with await open_postgres(dsn) as restored:
        run = a_run()
        await restored.orders.create([run])
        [event] = await restored.queries.events(after=old, limit=100)

    assert event.items == [[run.id, run.job_id]]
