"""Waits until a transaction is blocked."""

import asyncio
from typing import Any

import asyncpg

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))"


async def blocked(connection: "asyncpg.Connection[Any]", task: "asyncio.Future[Any]") -> None:
    """Return when a session waits for the connection, or when the task is done without waiting."""
    async with asyncio.timeout(30):
        while not task.done():
            if await connection.fetchval(_WAITING):
                return
            await asyncio.sleep(0)
