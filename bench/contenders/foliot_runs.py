"""Foliot's runs, enqueued through the application object and executed by `foliot worker`."""

import asyncio
import time

from bench.contenders.foliot_app import app
from bench.orders import Order, Result, obey

_BATCH = 1_000
_CALLERS = 100


async def _bulk(order: Order) -> Result:
    async with app:
        began = time.monotonic()
        for start in range(0, order.count, _BATCH):
            await app.enqueue_many("noop", [None] * min(_BATCH, order.count - start))
        return {"bulk": order.count / (time.monotonic() - began)}


async def _callers(order: Order) -> Result:
    async with app:
        numbers = iter(range(order.count))

        async def call() -> None:
            for _ in numbers:
                await app.enqueue("noop")

        began = time.monotonic()
        await asyncio.gather(*(call() for _ in range(_CALLERS)))
        return {"callers": order.count / (time.monotonic() - began)}


if __name__ == "__main__":
    obey(
        {
            "bulk": lambda order: asyncio.run(_bulk(order)),
            "callers": lambda order: asyncio.run(_callers(order)),
        }
    )
