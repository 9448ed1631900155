"""The program that starts fanouts. `foliot serve` executes them, with the jobs that `bench.fanout.server` writes."""

import asyncio
import time

from bench.contenders.foliot_app import app
from bench.contenders.foliot_latency import in_two_processes
from bench.orders import Order, Result, obey_async
from foliot.errors import NotFound

_LONGEST_START = 60.0
"""Seconds until a server must have executed its first fanout."""


async def _warm_up(order: Order) -> Result:
    """Return when the server has applied its file and has executed a fanout."""
    async with asyncio.timeout(_LONGEST_START), app:
        await _success(await _first_run())
    return {}


async def _first_run() -> str:
    while True:
        try:
            return await app.enqueue("warm-up")
        except NotFound:
            await asyncio.sleep(0.05)


async def _start(order: Order) -> Result:
    async with app:
        await app.enqueue("fanout")
    return {}


async def _fanout(order: Order) -> Result:
    """Measure from the creation of the run to its end, both as stored: reading and storing the items is included."""
    async with app:
        return {"rate": order.count / await _success(await app.enqueue("fanout"))}


async def _map(order: Order) -> Result:
    """Measure from the call to the last result."""
    async with app:
        began = time.monotonic()
        results = app.map("ignore", map(str, range(order.count)), concurrency=order.width, ordered=False)
        statuses = [result.status async for result in results]
        took = time.monotonic() - began
        assert statuses == ["success"] * order.count
        return {"rate": order.count / took}


async def _success(run_id: str) -> float:
    run = await app.runs.wait(run_id)
    assert run.status == "success", run
    assert run.finished_at is not None
    return (run.finished_at - run.created_at).total_seconds()


if __name__ == "__main__":
    obey_async({"warm-up": _warm_up, "start": _start, "fanout": _fanout, "map": _map, "latency": in_two_processes})
