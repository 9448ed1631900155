"""pgqueuer, batches of 100: the fastest Python peer on PostgreSQL."""

import time

import asyncpg
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.models import Job
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries

from bench.calls import CALLERS, calls_per_second
from bench.marks import Marks
from bench.orders import Order, Result, obey_async

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


async def _single(order: Order) -> Result:
    queries = await _open(order, is_new=True)
    return {"single": await calls_per_second(order.seconds, lambda: queries.enqueue("noop", None))}


async def _callers(order: Order) -> Result:
    """The callers share the ten connections of a pool."""
    await _open(order, is_new=True)
    async with asyncpg.create_pool(order.place) as pool:
        queries = Queries(AsyncpgPoolDriver(pool))
        return {"callers": await calls_per_second(order.seconds, lambda: queries.enqueue("noop", None), CALLERS)}


async def _work(order: Order) -> None:
    marks = Marks(order.marks, order.count)
    manager = QueueManager(await _open(order))

    @manager.entrypoint("noop")
    async def noop(_: Job) -> None:
        marks.hit()

    await manager.run(batch_size=_BATCH)


if __name__ == "__main__":
    obey_async({"bulk": _bulk, "single": _single, "callers": _callers, "work": _work})
