"""Executions of a workflow whose steps do nothing, beside bare commits to a database of the same kind on the same disk.

Scheduler, coordinator and worker are in one process. The steps note when they start: the time of a step is from its
start to the start of the next one, which is everything between two steps.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence

import asyncpg

from bench.contenders.group_commit import connect
from bench.orders import Order, Result, obey_async
from foliot import Foliot, Workflow

_COMMITS = 200
Commit = Callable[[int], Awaitable[object]]


class Steps:
    """A workflow with steps that note when they start."""

    def __init__(self) -> None:
        self.flow = Workflow("flow")
        self.starts: list[float] = []
        self.is_done = asyncio.Event()

    def add(self, name: str, after: Sequence[str] = (), *, is_last: bool = False) -> None:
        async def start() -> None:
            self.starts.append(time.perf_counter())
            if is_last:
                self.is_done.set()

        step = self.flow.step(name, start)
        for parent in after:
            step.after(parent)

    @property
    def seconds(self) -> float:
        return self.starts[-1] - self.starts[0]


async def _chain(order: Order) -> Result:
    """Run steps one after another."""
    steps = Steps()
    for number in range(order.count):
        steps.add(f"s{number}", [f"s{number - 1}"] if number else [], is_last=number == order.count - 1)
    return await _measure(order, steps)


async def _wide(order: Order) -> Result:
    """Run steps at the same time, and one that waits for all of them."""
    steps = Steps()
    names = [f"s{number}" for number in range(order.count)]
    for name in names:
        steps.add(name)
    steps.add("last", names, is_last=True)
    return await _measure(order, steps)


async def _measure(order: Order, steps: Steps) -> Result:
    before = await _commit_seconds(order)
    app = Foliot(order.url)
    app.workflow(steps.flow)
    async with app:
        node = await app.node()
        await node.start()
        await app.workflows.start("flow")
        await steps.is_done.wait()
        await node.stop()
    commit = statistics.median([*before, *await _commit_seconds(order)]) * 1000
    step = steps.seconds / order.count * 1000
    return {"step": step, "commit": commit, "commits": step / commit}


async def _commit_seconds(order: Order) -> list[float]:
    commit = await _open_bare(order)
    times = []
    for number in range(_COMMITS):
        began = time.perf_counter()
        await commit(number)
        times.append(time.perf_counter() - began)
    return times


async def _open_bare(order: Order) -> Commit:
    """Return a function that commits one row."""
    if order.place.startswith("postgresql"):
        session = await asyncpg.connect(order.place)
        await session.execute("CREATE SCHEMA IF NOT EXISTS bare; CREATE TABLE IF NOT EXISTS bare.rows (x integer)")
        return lambda number: session.execute("INSERT INTO bare.rows VALUES ($1)", number)
    file = connect(f"{order.place}.bare", order.synchronous)
    file.execute("CREATE TABLE IF NOT EXISTS rows (x)")

    async def commit(number: int) -> None:
        file.execute("INSERT INTO rows VALUES (?)", (number,))

    return commit


if __name__ == "__main__":
    obey_async({"chain": _chain, "wide": _wide})
