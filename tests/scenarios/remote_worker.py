"""A worker that reaches the storage only through a `WorkRelay`, and the site with that storage."""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import signature
from itertools import count
from types import SimpleNamespace
from typing import Any, Final, cast

from msgspec import json

from foliot.adapters.queue.storage import StorageQueue
from foliot.domain.chain.message import Spawn
from foliot.domain.fanout.result import ItemResult, ResultQuery, result_of
from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.progress import read_progress
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import Run
from foliot.engine.loop import Duty, Loop
from foliot.engine.scheduler.reaper import Reaper
from foliot.engine.worker.attempt import Ending
from foliot.engine.worker.logbook import MAX_WAIT
from foliot.engine.worker.role import WorkerRole, execute_with
from foliot.ports.runner import Attempt
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.testing.builders import a_run
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from tests.engine.ease import ease
from tests.scenarios.work_relay import Send, WorkEndpoint, WorkRelay

KIND: Final = "perform"
LEASE: Final = Millis(60 * SECOND)
PATIENCE: Final = 60
"""Seconds after which a test stops waiting for a condition."""
_STORES: Final = ("ledger", "work", "trees", "items", "admission", "orders", "definitions", "queries", "upkeep")
_entropy: Final = count(1)


class Performer:
    """A runner that does what the definition sets: print, report, fail a number of times, start a follow-up, read the
    results of its fanout, or run until it is ended."""

    abandoned = 0

    def __init__(self) -> None:
        self.begun: list[tuple[RunId, int]] = []

    async def run(self, attempt: Attempt) -> Success | Failure:
        self.begun.append((attempt.run_id, attempt.number))
        attempt.log.write("stdout", f"attempt {attempt.number} of {attempt.job_id}\n".encode())
        if (fraction := attempt.spec.get("progress")) is not None:
            attempt.report(read_progress(fraction, f"attempt {attempt.number}"))
        if attempt.spec.get("endless"):
            await asyncio.Event().wait()
        if attempt.number <= cast(int, attempt.spec.get("failures", 0)):
            return Failure("exit code 3", Reason.EXIT_CODE, exit_code=3)
        if (name := attempt.spec.get("follow_up")) is not None:
            return Success(json.encode(await attempt.ask_chain(Spawn(name=str(name)))))
        if attempt.spec.get("results"):
            return Success(json.encode([(one.index, one.output) for one in await all_results(attempt)]))
        return Success(json.encode({"payload": attempt.payload}), exit_code=0)


async def all_results(attempt: Attempt) -> list[ItemResult]:
    """Read all results, in pages of two."""
    results: list[ItemResult] = []
    query = ResultQuery(limit=2)
    while page := await attempt.results(query):
        results += map(result_of, page)
        query = query._replace(after=page[-1].index)
    return results


class RemoteWorker:
    """The duties of a worker, driven as in its own process."""

    def __init__(self, send: Send, clock: VirtualClock, *, slots: int = 4) -> None:
        self.relay = WorkRelay(send)
        self.performer = Performer()
        self._clock = clock
        self.role = WorkerRole(
            self.relay,
            StorageQueue(self.relay),
            clock,
            IdSource(_entropy.__next__),
            execute_with({KIND: self.performer}),
            label="remote",
            queues=("default",),
            slots=slots,
            lease=LEASE,
            runners=[self.performer],
            cancels=self.relay.signal(Topic.CANCELS),
        )
        self._tasks: dict[Duty, asyncio.Task[None]] = {}
        self._loops: dict[Duty, Loop] = {}

    def start(self) -> "RemoteWorker":
        for duty in self.role.duties:
            self._loops[duty] = Loop(duty, self._clock)
            self._tasks[duty] = asyncio.create_task(self._loops[duty].run())
        return self

    async def stop(self) -> None:
        """Give running runs back and retire the worker."""
        await self._halt(*self.role.claim_loops)
        self.role.consumer.end(list(self.role.consumer.held), Ending.SHUTDOWN)
        await self.role.consumer.drain()
        await self.role.finisher.flush()
        await self._halt(*self.role.savers, self.role.heartbeat)
        await self.role.heartbeat.retire()
        await self.relay.close()

    async def vanish(self) -> None:
        """Stop immediately, like a killed process. Attempts end when their logs have waited for the maximum time."""
        self.role.consumer.end(list(self.role.consumer.held), Ending.LEASE_LOST)
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.relay.close()

    async def _halt(self, *duties: Duty) -> None:
        for duty in duties:
            self._loops[duty].stop()
        await asyncio.gather(*(self._tasks.pop(duty) for duty in duties))


class Site:
    """The process with the storage. Every verb uses the time of the virtual clock."""

    def __init__(self, storage: Storage, clock: VirtualClock) -> None:
        self.storage = timed(storage, clock)
        self.clock = clock
        self.scene = Scene(storage, clock)
        self.endpoint = WorkEndpoint(self.storage.work)
        self._workers: list[RemoteWorker] = []

    def worker(self, *, slots: int = 4) -> RemoteWorker:
        """Start a remote worker."""
        self._workers.append(RemoteWorker(self.endpoint.answer, self.clock, slots=slots).start())
        return self._workers[-1]

    async def job(self, job_id: str, *, spec: dict[str, Any] | None = None, **options: Any) -> None:
        await self.scene.job(job_id, kind=KIND, spec=spec or {}, **{"retry": Retry(), **options})

    async def enqueue(self, job_id: str, **fields: Any) -> RunId:
        """Enqueue a run without options of its own."""
        job = (await self.storage.definitions.get_jobs([JobId(job_id)]))[JobId(job_id)]
        options = {"options": job.spec.options, "overrides": None}
        [run_id] = await self.scene.create(a_run(job_id=job.id, due_at=self.clock.now(), **{**options, **fields}))
        return run_id

    async def run(self, run_id: RunId) -> Run:
        return await self.scene.run(run_id)

    async def until(self, is_so: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await is_so():
                await asyncio.sleep(0)

    async def over(self, *run_ids: RunId) -> list[Run]:
        async def are_over() -> bool:
            return all(status.is_terminal for status in await self.scene.statuses(*run_ids))

        await self.until(are_over)
        found = await self.storage.queries.get_runs(run_ids)
        return [found[run_id] for run_id in run_ids]

    async def begun(self, worker: RemoteWorker, run_id: RunId, attempt: int = 1) -> None:
        async def is_begun() -> bool:
            await asyncio.sleep(0)
            return (run_id, attempt) in worker.performer.begun

        await self.until(is_begun)
        await ease()

    async def reap(self) -> None:
        await Reaper(self.storage).round()

    async def log_of(self, run_id: RunId) -> bytes:
        return b"".join(chunk.data for chunk in await self.storage.queries.read_log(run_id) if chunk.stream == "stdout")

    async def close(self) -> None:
        for worker in self._workers:
            await worker.vanish()
        self.clock.advance(MAX_WAIT)
        await ease()


def timed(storage: Storage, clock: VirtualClock) -> Storage:
    """Return the storage with verbs that use the time of the clock."""
    stores = {name: _Timed(getattr(storage, name), clock) for name in _STORES}
    return cast(Storage, SimpleNamespace(**stores, signal=storage.signal))


class _Timed:
    def __init__(self, store: object, clock: VirtualClock) -> None:
        self._store = store
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._store, name)
        if not callable(verb) or "at" not in signature(verb).parameters:
            return verb
        return lambda *values, **named: verb(*values, **named, at=self._clock.now())
