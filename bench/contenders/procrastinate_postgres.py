"""procrastinate, 20 concurrent jobs: one statement fetches one job."""

import asyncio
import logging
import time

from procrastinate import App, PsycopgConnector
from procrastinate.tasks import Task

from bench.marks import Marks
from bench.orders import Order, Result, obey

_AT_ONCE = 20


class Queue:
    """procrastinate with one task that does nothing."""

    def __init__(self, order: Order) -> None:
        marks = Marks(order.marks, order.count)
        self.app = App(connector=PsycopgConnector(conninfo=order.place))

        async def noop() -> None:
            marks.hit()

        self.noop: Task[[], object, object] = self.app.task(name="noop")(noop)


async def _bulk(order: Order) -> Result:
    queue = Queue(order)
    async with queue.app.open_async():
        await queue.app.schema_manager.apply_schema_async()
        began = time.monotonic()
        for start in range(0, order.count, 1_000):
            await queue.noop.batch_defer_async(*[{}] * min(1_000, order.count - start))
        return {"bulk": order.count / (time.monotonic() - began)}


async def _callers(order: Order) -> Result:
    queue = Queue(order)
    async with queue.app.open_async():
        await queue.app.schema_manager.apply_schema_async()
        numbers = iter(range(order.count))

        async def call() -> None:
            for _ in numbers:
                await queue.noop.defer_async()

        began = time.monotonic()
        await asyncio.gather(*(call() for _ in range(100)))
        return {"callers": order.count / (time.monotonic() - began)}


async def _work(order: Order) -> None:
    logging.getLogger("procrastinate").setLevel(logging.WARNING)
    queue = Queue(order)
    async with queue.app.open_async():
        await queue.app.run_worker_async(concurrency=_AT_ONCE)


if __name__ == "__main__":
    obey(
        {
            "bulk": lambda order: asyncio.run(_bulk(order)),
            "callers": lambda order: asyncio.run(_callers(order)),
            "work": lambda order: asyncio.run(_work(order)),
        }
    )
