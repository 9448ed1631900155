"""Foliot's runs, enqueued through the application object and executed by `foliot worker`."""

import time

from bench.calls import CALLERS, calls_per_second
from bench.contenders.foliot_app import app
from bench.orders import Order, Result, obey_async

_BATCH = 1_000


async def _bulk(order: Order) -> Result:
    async with app:
        began = time.monotonic()
        for start in range(0, order.count, _BATCH):
            await app.enqueue_many("noop", [None] * min(_BATCH, order.count - start))
        return {"bulk": order.count / (time.monotonic() - began)}


async def _single(order: Order) -> Result:
    async with app:
        return {"single": await calls_per_second(order.seconds, lambda: app.enqueue("noop"))}


async def _callers(order: Order) -> Result:
    async with app:
        return {"callers": await calls_per_second(order.seconds, lambda: app.enqueue("noop"), CALLERS)}


async def _commands(order: Order) -> Result:
    """Enqueue a run that marks the start, and the commands."""
    async with app:
        await app.enqueue("noop")
        await app.enqueue_many("command", [None] * order.count)
    return {}


if __name__ == "__main__":
    obey_async({"bulk": _bulk, "single": _single, "callers": _callers, "commands": _commands})
