"""One process of a simulated cluster."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from foliot.adapters.queue.storage import StorageQueue
from foliot.domain.chain.kind import ChainKind
from foliot.domain.fanout.kind import FanoutKind
from foliot.domain.ids import IdSource
from foliot.domain.instant import SECOND, Millis
from foliot.domain.schedule.tick_run import make_run
from foliot.domain.workflow.kind import WorkflowKind
from foliot.engine.coordinator.role import CoordinatorRole
from foliot.engine.loop import Duty
from foliot.engine.node import build_worker
from foliot.engine.scheduler.janitor import RETENTION
from foliot.engine.scheduler.role import SchedulerRole
from foliot.engine.settings import Parts, Settings
from foliot.engine.worker.attempt import Ending
from foliot.engine.worker.role import WorkerRole
from foliot.ports.clock import Clock
from foliot.ports.queue import Queue
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.testing.simulation.actor import KIND, Actor
from foliot.testing.simulation.faults import Faults
from foliot.testing.simulation.notes import UnreliableNotes
from foliot.testing.simulation.turnstile import Turnstile, VerbPause, with_turnstile

LEASE: Final = Millis(60 * SECOND)
SLOTS: Final = 3
KEEP_EXECUTIONS: Final = RETENTION._replace(executions_per_workflow=None)
"""Keeps all executions, because they are checked at the end of the simulation."""

OpenStorage = Callable[[Clock, Callable[[str], None]], Awaitable[Storage]]
"""Opens the database of the cluster with a clock and with fault points."""
QueueOf = Callable[[Storage], Queue]


class Cluster(NamedTuple):
    """What the processes share."""

    open_storage: OpenStorage
    queue_of: QueueOf
    pause: VerbPause
    clock: Clock
    seed: int


class Process:
    """A scheduler, a coordinator and a worker that share only the database and the broker with other processes."""

    def __init__(
        self,
        name: str,
        faults: Faults,
        turnstile: Turnstile,
        notes: UnreliableNotes,
        parts: Parts,
        settings: Settings,
    ) -> None:
        self.name = name
        self.faults = faults
        self._notes = notes
        self._storage = parts.storage
        self._turnstile = turnstile
        self._rounds: dict[Duty, asyncio.Task[Millis | None]] = {}
        self.is_doomed = False
        """An attempt has crashed its worker: the process must be crashed."""
        self.stalled_until = 0
        self._work = build_worker(parts, settings)
        self._coordinator = CoordinatorRole(parts, settings)
        scheduler = SchedulerRole(parts, settings)
        self.duties: tuple[Duty, ...] = (*scheduler.duties, *self._work.duties, *self._coordinator.duties)

    async def advance_round(self, duty: Duty, *, slowly: bool) -> Millis | None:
        """Start a round, or let a stopped round do its next verb. Return its delay when it has ended."""
        task = self._rounds.get(duty)
        if task is None:
            task = self._rounds[duty] = asyncio.create_task(_round_of(duty))
            if slowly:
                self._turnstile.slow_down(task)
        else:
            self._turnstile.let_pass(task)
        await ease()
        if not task.done():
            return None
        del self._rounds[duty]
        return await task

    def end_faults(self) -> list[Duty]:
        """Disarm all faults and return the duties whose rounds have not ended."""
        self.faults.disarm()
        self._turnstile.open()
        self._notes.is_reliable = True
        return list(self._rounds)

    async def crash(self) -> None:
        """End without saving anything. Attempts end without an outcome."""
        for task in self._rounds.values():
            task.cancel()
        self._end_attempts(Ending.LEASE_LOST)
        await asyncio.gather(*self._rounds.values(), return_exceptions=True)
        await self._storage.close()

    async def stop(self) -> None:
        """Stop in order: give running runs back, save every outcome, and retire the workers."""
        self._end_attempts(Ending.SHUTDOWN)
        for worker in self._workers:
            while worker.consumer.held:
                await ease()
                await worker.logbook.round()
                await worker.finisher.round()
            await worker.heartbeat.retire()
        await self._storage.close()

    @property
    def _workers(self) -> tuple[WorkerRole, WorkerRole]:
        return self._work, self._coordinator.worker

    def _end_attempts(self, ending: Ending) -> None:
        for worker in self._workers:
            worker.consumer.end(list(worker.consumer.held), ending)


async def start_process(name: str, cluster: Cluster, *, ids: IdSource, notes: UnreliableNotes) -> Process:
    """Build a process with its own database connection. The first round of its heartbeat registers the worker."""
    faults, turnstile, clock = Faults(), Turnstile(cluster.pause), cluster.clock
    storage = with_turnstile(await cluster.open_storage(clock, faults), turnstile, trees=notes.wrap)
    doom: list[Process] = []

    def kill() -> None:
        doom[0].is_doomed = True

    parts = Parts(
        storage=storage,
        queue=cluster.queue_of(storage),
        tree_queue=StorageQueue(storage, Topic.TREES),
        trees={kind.name: kind for kind in (WorkflowKind(), FanoutKind(), ChainKind())},
        clock=clock,
        ids=ids,
        runners={KIND: Actor(cluster.seed, clock, kill)},
        make_run=make_run,
    )
    process = Process(
        name,
        faults,
        turnstile,
        notes,
        parts,
        Settings(label=name, slots=SLOTS, lease=LEASE, retention=KEEP_EXECUTIONS),
    )
    doom.append(process)
    return process


async def _round_of(duty: Duty) -> Millis | None:
    return await duty.round()


async def ease(turns: int = 8) -> None:
    """Run all ready tasks for a few turns of the event loop."""
    for _ in range(turns):
        await asyncio.sleep(0)
