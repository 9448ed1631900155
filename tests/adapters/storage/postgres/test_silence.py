"""A server that stops responding on connections that look open."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from foliot.adapters.storage.postgres import PostgresStorage, open_postgres
from foliot.domain.ids import WorkerId
from foliot.domain.instant import MINUTE, Millis
from foliot.domain.run.lease import Worker
from foliot.testing.postgres import PostgresServer
from tests.adapters.storage.postgres.relay import Relay

AT_MOST = 30
"""Seconds. A statement without a timeout waits three times as long."""
WORKER = Worker(WorkerId("w"), "w", ("default",), 1)

Act = Callable[[PostgresStorage], Awaitable[object]]


@pytest.fixture
async def relay(server: PostgresServer, tmp_path: Path) -> AsyncIterator[Relay]:
    async with Relay(server.directory / ".s.PGSQL.5432", tmp_path) as relay:
        yield relay


@pytest.fixture
async def relayed(relay: Relay, database: str, tmp_path: Path) -> AsyncIterator[PostgresStorage]:
    async with await open_postgres(f"postgresql://foliot@/{database}?host={tmp_path}&port=5432") as storage:
        await storage.work.register(WORKER, Millis(MINUTE))
        yield storage
        await relay.hang_up()


@pytest.mark.proves("L5")
@pytest.mark.parametrize(
    "act",
    [
        lambda storage: storage.work.renew(WORKER.id, [], Millis(MINUTE)),
        lambda storage: storage.work.claim(WORKER.id, ["default"], 1),
        lambda storage: storage.ledger.next_wake(),
    ],
    ids=["transaction", "statement", "look"],
)
async def test_a_cancelled_call_returns_and_the_next_call_succeeds(
    relayed: PostgresStorage, relay: Relay, act: Act
) -> None:
    await act(relayed)
    relay.silence()

    async with asyncio.timeout(AT_MOST):
        asked = asyncio.ensure_future(act(relayed))
        await asyncio.wait([asked], timeout=0.1)
        asked.cancel()
        await asyncio.wait([asked])

    assert asked.cancelled()
    await act(relayed)


async def test_closing_does_not_wait_for_a_silent_server(
    relayed: PostgresStorage, relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foliot.adapters.storage.postgres.storage._CLOSE_TIMEOUT", 0.1)
    relay.silence()

    async with asyncio.timeout(AT_MOST):
        await relayed.close()
