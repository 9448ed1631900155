"""From `await app.enqueue(...)` to the start of the job: caller and worker in one process, or in two."""

import asyncio
import json
import time
from pathlib import Path

from bench.contenders.foliot_app import app
from bench.orders import Order, Result, obey_async
from bench.samples import percentile

_WARM_UP = 1.0


async def _in_one_process(order: Order) -> Result:
    async with app:
        node = await app.node()
        await node.start()
        await asyncio.sleep(_WARM_UP)
        await _call(order)
        await node.stop()
    return _summary(Path(order.marks))


async def in_two_processes(order: Order) -> Result:
    """Only enqueue: the worker is a separate process."""
    async with app:
        await asyncio.sleep(_WARM_UP)
        await _call(order)
        while not (Path(order.marks) / "delays").exists():  # noqa: ASYNC110 - written by another process
            await asyncio.sleep(0.1)
    return _summary(Path(order.marks))


async def _call(order: Order) -> None:
    for _ in range(order.count):
        await app.enqueue("pick_up", time.monotonic())
        await asyncio.sleep(0.02)


def _summary(marks: Path) -> Result:
    found = json.loads((marks / "delays").read_text())
    return {f"p{part}": percentile(found, part / 100) * 1000 for part in (50, 95, 99)}


if __name__ == "__main__":
    obey_async({"together": _in_one_process, "apart": in_two_processes})
