"""How the storage uses sessions of its server."""

import asyncio
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres import PostgresStorage, open_postgres
from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.queries import PostgresQueries
from foliot.domain.instant import MINUTE
from foliot.ports.topic import Topic
from foliot.testing.builders import a_run, every, some_runs, succeeded
from foliot.testing.conformance.storage.scene import Scene


@pytest.mark.proves("M6")
@pytest.mark.parametrize("option", ["", "&pooler=transaction"])
async def test_the_server_ends_an_idle_transaction(dsn: str, option: str) -> None:
    async def ask(transaction: Transaction) -> list[str]:
        names = ("idle_in_transaction_session_timeout", "lock_timeout", "application_name")
        return [await transaction.connection.fetchval("SELECT current_setting($1)", name) for name in names]

    async with await open_postgres(dsn + option) as storage:
        assert isinstance(storage.queries, PostgresQueries)
        shown = await storage.queries._database.write("ask", ask)

    assert shown == ["5s", "10s", "foliot"]


@pytest.mark.proves("M6")
async def test_no_call_leaves_a_transaction_open(
    storage: PostgresStorage, scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    await scene.schedule(every(60))
    await scene.fire_after(MINUTE)
    await scene.finish(*(succeeded(claim) for claim in await scene.claim()))

    states = await connection.fetch(
        "SELECT state FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )

    # One session may be active: the bell notifies other processes after a commit.
    assert {row["state"] for row in states} <= {"idle", "active"}


async def test_without_a_given_time_the_servers_clock_is_used(
    storage: PostgresStorage, connection: "asyncpg.Connection[Any]"
) -> None:
    run = a_run(due_at=0)
    before = await connection.fetchval("SELECT foliot.now_ms()")
    await storage.orders.create([run])
    after = await connection.fetchval("SELECT foliot.now_ms()")

    stored = (await storage.queries.get_runs([run.id]))[run.id]

    assert before <= stored.created_at <= after


async def test_runs_without_limits_lock_neither_limits_nor_holds(
    scene: Scene, connection: "asyncpg.Connection[Any]"
) -> None:
    await connection.execute("BEGIN; LOCK TABLE foliot.limits, foliot.holds IN ACCESS EXCLUSIVE MODE")
    async with asyncio.timeout(30):
        await scene.create(*some_runs(3))
        stale = await scene.finish(*(succeeded(claim) for claim in await scene.claim()))

    assert stale == []
    await connection.execute("ROLLBACK")


async def test_many_commits_send_few_notifications(scene: Scene, connection: "asyncpg.Connection[Any]") -> None:
    told: list[object] = []
    everything = asyncio.Event()

    def receive(_connection: object, _pid: int, _channel: str, payload: object) -> None:
        told.append(payload)
        if str(payload).startswith(Topic.CANCELS):
            everything.set()

    await connection.add_listener("foliot_bell", receive)
    for _ in range(100):
        await scene.create(a_run())
    claim = await scene.start()
    await scene.cancel(claim.run_id)
    async with asyncio.timeout(30):
        await everything.wait()
    await connection.remove_listener("foliot_bell", receive)

    assert 1 <= sum(str(payload).startswith(Topic.RUNS) for payload in told) < 50
