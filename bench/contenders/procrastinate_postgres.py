"""procrastinate, 20 concurrent jobs: one statement fetches one job."""

import logging
import time

from procrastinate import App, PsycopgConnector
from procrastinate.tasks import Task

from bench.calls import CALLERS, calls_per_second
from bench.marks import Marks
from bench.orders import Order, Result, obey_async

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


async def _single(order: Order) -> Result:
    return {"single": await _calls_per_second(order, callers=1)}


async def _callers(order: Order) -> Result:
    return {"callers": await _calls_per_second(order, CALLERS)}


async def _calls_per_second(order: Order, callers: int) -> float:
    queue = Queue(order)
    async with queue.app.open_async():
        await queue.app.schema_manager.apply_schema_async()
        return await calls_per_second(order.seconds, queue.noop.defer_async, callers)


async def _work(order: Order) -> None:
    logging.getLogger("procrastinate").setLevel(logging.WARNING)
    queue = Queue(order)
    async with queue.app.open_async():
        await queue.app.run_worker_async(concurrency=_AT_ONCE)


if __name__ == "__main__":
    obey_async({"bulk": _bulk, "single": _single, "callers": _callers, "work": _work})
