"""pgqueuer, batches of 100: the fastest Python peer on PostgreSQL."""

import asyncio
import time

import asyncpg
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries

from bench.marks import Marks
from bench.orders import Order, Result, obey

_BATCH = 100


async def _open(order: Order, *, is_new: bool = False) -> Queries:
    queries = Queries(AsyncpgDriver(await asyncpg.connect(order.place)))
    if is_new:
        await queries.install()
    return queries


async def _bulk(order: Order) -> Result:
    queries = await _open(order, is_new=True)
    began = time.monotonic()
    for start in range(0, order.count, 1_000):
        count = min(1_000, order.count - start)
        await queries.enqueue(["noop"] * count, [None] * count, [0] * count)
    return {"bulk": order.count / (time.monotonic() - began)}


async def _callers(order: Order) -> Result:
    """One connection, which the callers share."""
    queries = await _open(order, is_new=True)
    began = time.monotonic()
    for _ in range(order.count):
        await queries.enqueue("noop", None)
    return {"callers": order.count / (time.monotonic() - began)}


async def _work(order: Order) -> None:
    marks = Marks(order.marks, order.count)
    manager = QueueManager(await _open(order))

    @manager.entrypoint("noop")
    async def noop(_: Job) -> None:
        marks.hit()

    await manager.run(batch_size=_BATCH)


if __name__ == "__main__":
    obey(
        {
            "bulk": lambda order: asyncio.run(_bulk(order)),
            "callers": lambda order: asyncio.run(_callers(order)),
            "work": lambda order: asyncio.run(_work(order)),
        }
    )
