"""One process of a simulated cluster."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from foliot.adapters.queue.storage import StorageQueue
from foliot.domain.ids import IdSource
from foliot.domain.instant import SECOND, Millis
from foliot.domain.schedule.tick_run import launch_job
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
from foliot.testing.simulation.notes import TroubledNotes
from foliot.testing.simulation.turnstile import Hush, Turnstile, gated

LEASE: Final = Millis(60 * SECOND)
SLOTS: Final = 3
KEEPING: Final = RETENTION._replace(executions_per_workflow=None)
"""A story is judged at its end by all that happened: no execution is removed before."""

OpenStorage = Callable[[Clock, Callable[[str], None]], Awaitable[Storage]]
"""Opens the cluster's database once more, with a clock and with fault points."""
QueueOf = Callable[[Storage], Queue]


class Cluster(NamedTuple):
    """What its processes have in common."""

    open_storage: OpenStorage
    queue_of: QueueOf
    hush: Hush
    clock: Clock
    seed: int


class Process:
    """Scheduler and worker with nothing in common with other processes but the database and the broker."""

    def __init__(
        self,
        name: str,
        faults: Faults,
        turnstile: Turnstile,
        notes: TroubledNotes,
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
        """An attempt has taken its worker down: the process is to be crashed."""
        self.stalled_until = 0
        self._work = build_worker(parts, settings)
        self._coordinator = CoordinatorRole(parts, settings)
        scheduler = SchedulerRole(parts, settings)
        self.duties: tuple[Duty, ...] = (*scheduler.duties, *self._work.duties, *self._coordinator.duties)

    async def go_on(self, duty: Duty, *, slowly: bool) -> Millis | None:
        """Begin a round, or let one that stands still do its next verb. The rest it asks for once it is over."""
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

    def hurry(self) -> list[Duty]:
        """Trouble is over and nobody is slow any more; the duties whose rounds have still to be brought to an end."""
        self.faults.disarm()
        self._turnstile.open()
        self._notes.is_reliable = True
        return list(self._rounds)

    async def crash(self) -> None:
        """Vanish: nothing is saved, nobody is told. Attempts end without a word, as they do when memory is gone."""
        for task in self._rounds.values():
            task.cancel()
        self._end_attempts(Ending.LEASE_LOST)
        await asyncio.gather(*self._rounds.values(), return_exceptions=True)
        await self._storage.close()

    async def stop(self) -> None:
        """Stop in good order: what runs is given back, every outcome saved, the worker says goodbye."""
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
        return self._work, self._coordinator.opening

    def _end_attempts(self, ending: Ending) -> None:
        for worker in self._workers:
            worker.consumer.end(list(worker.consumer.held), ending)


async def start_process(name: str, cluster: Cluster, *, ids: IdSource, notes: TroubledNotes) -> Process:
    """A process with a database connection of its own. Its worker is registered by the first round of its duty."""
    faults, turnstile, clock = Faults(), Turnstile(cluster.hush), cluster.clock
    storage = gated(await cluster.open_storage(clock, faults), turnstile, trees=notes.trouble)
    doom: list[Process] = []

    def kill() -> None:
        doom[0].is_doomed = True

    parts = Parts(
        storage=storage,
        queue=cluster.queue_of(storage),
        tree_queue=StorageQueue(storage, Topic.TREES),
        trees={kind.name: kind for kind in (WorkflowKind(),)},
        clock=clock,
        ids=ids,
        runners={KIND: Actor(cluster.seed, clock, kill)},
        launcher=launch_job,
    )
    process = Process(
        name, faults, turnstile, notes, parts, Settings(label=name, slots=SLOTS, lease=LEASE, retention=KEEPING)
    )
    doom.append(process)
    return process


async def _round_of(duty: Duty) -> Millis | None:
    return await duty.round()


async def ease(turns: int = 8) -> None:
    """Let every task that can go on have its turn."""
    for _ in range(turns):
        await asyncio.sleep(0)
