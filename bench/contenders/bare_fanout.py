"""The least that can execute something for each item: `xargs -P`, and coroutines behind a semaphore."""

import asyncio
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import uvloop

from bench.orders import Order, Result, obey

_ENOUGH = 1.0
"""Seconds for one figure: all items as coroutines take much less than that."""
LoopFactory = Callable[[], asyncio.AbstractEventLoop]


def by_xargs(order: Order) -> Result:
    items = str(Path(order.marks) / "items.txt")
    busy, began = _busy(), time.monotonic()
    subprocess.run(["xargs", "-a", items, "-n", "1", "-P", str(order.width), "true"], check=True)
    took = time.monotonic() - began
    return {"rate": order.count / took, "cpu": (_busy() - busy) / order.count * 1e6}


def by_coroutines(order: Order, new_loop: LoopFactory) -> Result:
    rounds, busy, began = 0, _busy(), time.monotonic()
    with asyncio.Runner(loop_factory=new_loop) as runner:
        while rounds == 0 or time.monotonic() - began < _ENOUGH:
            runner.run(_gather(order.count, order.width))
            rounds += 1
    took, count = time.monotonic() - began, rounds * order.count
    return {"rate": count / took, "cpu": (_busy() - busy) / count * 1e6}


async def _gather(count: int, width: int) -> None:
    places = asyncio.Semaphore(width)

    async def one(item: str) -> None:
        async with places:
            await _ignore(item)

    await asyncio.gather(*(one(str(number)) for number in range(count)))


async def _ignore(item: str) -> None:
    pass


def _busy() -> float:
    """Return the processor time of this process and of those it has started."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    obey(
        {
            "xargs": by_xargs,
            "asyncio": lambda order: by_coroutines(order, asyncio.new_event_loop),
            "uvloop": lambda order: by_coroutines(order, uvloop.new_event_loop),
        }
    )
