"""The smallest worker of the design: claims in batches, one task per run, finishes in batches.

Without retries, limits, events, logs, cancellation and heartbeat, it is the upper bound for the product.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from bench.calls import CALLERS, calls_per_second
from bench.marks import Marks
from bench.orders import AsyncOperation, Order, Result
from bench.samples import percentile

BATCH = 1_000


class Runs(Protocol):
    """The run table of a ceiling."""

    wake: asyncio.Event

    async def enqueue(self, arguments: Sequence[str]) -> None: ...

    async def announce(self) -> None:
        """Wake the worker."""
        ...

    async def claim(self, limit: int) -> list[tuple[int, str]]: ...

    async def finish(self, ids: Sequence[int]) -> None: ...


class Worker:
    """Calls `job` with the argument of each run, up to `slots` at once."""

    def __init__(self, runs: Runs, slots: int, job: Callable[[str], Awaitable[None]]) -> None:
        self._runs = runs
        self._free = slots
        self._job = job
        self._ended: list[int] = []
        self._has_ended = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def work(self) -> None:
        await asyncio.gather(self._claim(), self._finish())

    async def _claim(self) -> None:
        while True:
            self._runs.wake.clear()
            claims = await self._runs.claim(self._free) if self._free else []
            self._free -= len(claims)
            for run_id, argument in claims:
                task = asyncio.create_task(self._execute(run_id, argument))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            if not claims:
                await self._runs.wake.wait()

    async def _execute(self, run_id: int, argument: str) -> None:
        await self._job(argument)
        self._ended.append(run_id)
        self._free += 1
        self._has_ended.set()
        self._runs.wake.set()

    async def _finish(self) -> None:
        while True:
            await self._has_ended.wait()
            self._has_ended.clear()
            batch, self._ended = self._ended, []
            await self._runs.finish(batch)


def operations(open_runs: Callable[[Order], Awaitable[Runs]]) -> dict[str, AsyncOperation]:
    """Return the operations of a ceiling, for any database."""

    def on_runs(measure: Callable[[Runs, Order], Awaitable[Result | None]]) -> AsyncOperation:
        async def operation(order: Order) -> Result | None:
            return await measure(await open_runs(order), order)

        return operation

    measures = {"bulk": _bulk, "callers": _callers, "work": _work, "latency": _latency}
    return {name: on_runs(measure) for name, measure in measures.items()}


async def _bulk(runs: Runs, order: Order) -> Result:
    began = time.monotonic()
    for start in range(0, order.count, BATCH):
        await runs.enqueue([""] * min(BATCH, order.count - start))
    return {"bulk": order.count / (time.monotonic() - began)}


async def _callers(runs: Runs, order: Order) -> Result:
    return {"callers": await calls_per_second(order.seconds, lambda: runs.enqueue([""]), CALLERS)}


async def _work(runs: Runs, order: Order) -> None:
    marks = Marks(order.marks, order.count)

    async def noop(_: str) -> None:
        marks.hit()

    await Worker(runs, order.slots, noop).work()


async def _latency(runs: Runs, order: Order) -> Result:
    """Worker and caller in one process, one run every 20 ms."""
    delays: list[float] = []
    is_done = asyncio.Event()

    async def pick_up(asked_at: str) -> None:
        delays.append((time.monotonic() - float(asked_at)) * 1000)
        if len(delays) == order.count:
            is_done.set()

    working = asyncio.create_task(Worker(runs, order.slots, pick_up).work())
    await asyncio.sleep(0.5)
    for _ in range(order.count):
        await runs.enqueue([repr(time.monotonic())])
        await runs.announce()
        await asyncio.sleep(0.02)
    await is_done.wait()
    working.cancel()
    return {"p50": percentile(delays, 0.5), "p99": percentile(delays, 0.99)}
