"""One process at work: the duties of its roles, started together and stopped in order.

    scheduler     scheduler dispatcher gates reaper janitor                turns ticks into runs and looks after them
    coordinator   heartbeat consumer finisher logbook, settler             opens and settles trees
    worker        heartbeat consumer finisher logbook                      executes runs
    every process storage check

A coordinator is a worker of the reserved queue @trees. Any number of processes may have each role; the role scheduler
includes the role coordinator.

Stopping: nothing more is claimed, attempts may end until the deadline, the rest is ended and given back, every outcome
is saved, and the workers are removed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.engine.coordinator.role import CoordinatorRole
from foliot.engine.deadline import deadline
from foliot.engine.loop import Duty, Loop
from foliot.engine.scheduler.role import SchedulerRole
from foliot.engine.settings import Parts, Settings
from foliot.engine.storage_check import StorageCheck
from foliot.engine.worker.role import WorkerRole, execute_with
from foliot.errors import FoliotError
from foliot.ports.clock import Clock
from foliot.ports.topic import Topic

log = logging.getLogger(__name__)

_LAST_WRITES: Final = Millis(10 * SECOND)
_LAST_WORD: Final = Millis(5 * SECOND)


class Node:
    """Runs the duties of its roles until it is stopped."""

    def __init__(self, parts: Parts, settings: Settings) -> None:
        self._clock = parts.clock
        self._runners = parts.runners
        self._settings = settings
        self._scheduler = SchedulerRole(parts, settings) if settings.is_scheduler else None
        self._coordinator = CoordinatorRole(parts, settings) if settings.is_coordinator else None
        self._worker = build_worker(parts, settings) if settings.is_worker else None
        self._storage_check = StorageCheck(parts.storage)
        self.failure: FoliotError | None = None
        """Why this node cannot go on, and is to be stopped."""
        self.on_failure: Callable[[], None] = lambda: None
        self._loops: dict[Duty, Loop] = {}
        self._tasks: dict[Duty, asyncio.Task[None]] = {}

    @property
    def abandoned(self) -> int:
        """How many attempts could not be ended and still run in this process."""
        left = 0 if self._worker is None else self._worker.consumer.unfinished
        return left + sum(runner.abandoned for runner in self._runners.values())

    @property
    def is_running(self) -> bool:
        """Whether a duty is at work."""
        return any(not task.done() for task in self._tasks.values())

    @property
    def _workers(self) -> Sequence[WorkerRole]:
        """Both kinds: the one that opens trees stops last, since it has nothing to wait for."""
        opening = None if self._coordinator is None else self._coordinator.opening
        return [worker for worker in (self._worker, opening) if worker is not None]

    async def start(self) -> None:
        """Begin. Workers are registered when this returns."""
        for worker in self._workers:
            await worker.heartbeat.round()
        for duty in self._duties():
            loop = Loop(duty, self._clock, self._fail)
            self._loops[duty] = loop
            self._tasks[duty] = asyncio.create_task(loop.run(), name=duty.name)

    async def stop(self) -> None:
        """Stop in good order, within the drain deadline and some seconds for each of the last writes: a storage that
        does not answer is not waited for."""
        await self._halt([self._storage_check])
        if self._scheduler is not None:
            await self._halt(self._scheduler.duties)
            await self._try("resign", self._scheduler.janitor.leave())
        for worker in self._workers:
            await self._stop_worker(worker)
        if self._coordinator is not None:
            await self._halt([self._coordinator.settler])
        log.info("node_stopped", extra={"label": self._settings.label})

    async def _stop_worker(self, worker: WorkerRole) -> None:
        await self._halt(worker.claim_loops)
        await worker.drain(self._settings.drain)
        await self._try("last outcomes", worker.finisher.flush(), _LAST_WRITES)
        await self._halt([worker.finisher, worker.logbook, worker.heartbeat])
        await self._try("goodbye", worker.heartbeat.leave())

    def _duties(self) -> Sequence[Duty]:
        roles = (self._scheduler, self._coordinator, self._worker)
        return [self._storage_check, *(duty for role in roles if role is not None for duty in role.duties)]

    def _fail(self, error: FoliotError) -> None:
        if self.failure is None:
            self.failure = error
            log.error("node_cannot_go_on", extra={"problem": error.message, "hint": error.hint})
            self.on_failure()

    async def _halt(self, duties: Sequence[Duty]) -> None:
        """Let rounds under way end; those that do not are cancelled."""
        for duty in duties:
            self._loops[duty].stop()
        await self._try("last rounds", _all(self._tasks[duty] for duty in duties))

    async def _try(self, what: str, step: Awaitable[None], patience: Millis = _LAST_WORD) -> None:
        """Do a last step; a storage that does not answer must not keep a process from ending."""
        try:
            await _within(self._clock, patience, step)
        except Exception:
            log.exception("could_not_finish_stopping", extra={"step": what})


def build_worker(parts: Parts, settings: Settings) -> WorkerRole:
    return WorkerRole(
        parts.storage.work,
        parts.queue,
        parts.clock,
        parts.ids,
        execute_with(parts.runners),
        label=settings.label,
        queues=settings.queues,
        slots=settings.slots,
        lease=settings.lease,
        poll=settings.poll,
        runners=parts.runners.values(),
        sweep=parts.sweep,
        cancels=parts.storage.work.signal(Topic.CANCELS),
    )


async def _within(clock: Clock, span: Millis, step: Awaitable[None]) -> None:
    async with deadline(clock, span):
        await step


async def _all(tasks: Iterable[asyncio.Task[None]]) -> None:
    await asyncio.gather(*tasks)
