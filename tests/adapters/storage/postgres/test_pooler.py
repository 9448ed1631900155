"""Everything except LISTEN works behind a pooler that assigns connections for one transaction only."""

from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
import pytest

from foliot.adapters.storage.postgres import open_postgres
from foliot.domain.instant import MINUTE
from foliot.domain.run.run import Status
from foliot.testing.builders import a_chunk, a_run, every, succeeded
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.postgres import PostgresServer
from tests.adapters.storage.postgres.pooler import TransactionPooler


async def test_a_run_is_executed_behind_a_pooler(server: PostgresServer, database: str, dsn: str) -> None:
    with TemporaryDirectory(prefix="foliot-pooler-") as directory:
        socket = server.directory / ".s.PGSQL.5432"
        async with TransactionPooler(socket, Path(directory)) as pooler:
            behind = f"postgresql://foliot@/{database}?host={directory}&port=5432&pooler=transaction"
            async with await open_postgres(behind, listen_dsn=dsn) as storage:
                scene = Scene(storage, VirtualClock())
                await scene.schedule(every(60))
                await scene.fire_after(MINUTE)
                await scene.create(a_run(max_concurrent=1), a_run(max_concurrent=1))
                claims = await scene.claim()
                await storage.work.append_log([a_chunk(claims[0])])
                await scene.finish(*(succeeded(claim) for claim in claims))
                claims += await scene.claim()
                await scene.finish(succeeded(claims[-1]))

                assert await scene.statuses(*(claim.run_id for claim in claims)) == [Status.SUCCESS] * 3
            assert pooler.lent > 20


async def test_the_test_pooler_breaks_session_state(server: PostgresServer, database: str) -> None:
    with TemporaryDirectory(prefix="foliot-pooler-") as directory:
        socket = server.directory / ".s.PGSQL.5432"
        async with TransactionPooler(socket, Path(directory)):
            connection = await asyncpg.connect(f"postgresql://foliot@/{database}?host={directory}&port=5432")
            await connection.fetchval("SELECT $1::int", 1)

            with pytest.raises(asyncpg.InvalidSQLStatementNameError):
                await connection.fetchval("SELECT $1::int", 1)
            connection.terminate()
