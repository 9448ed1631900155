"""One process at work: the duties of its roles, started together and stopped in order.

    scheduler   scheduler dispatcher gatekeeper reaper janitor
    worker      membership consumer finisher logbook settler
    both        watchman

Stopping: nothing more is claimed, what runs may end until the deadline, the rest is ended and given back, every outcome
is saved, the worker says goodbye.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from foliot.domain.firing import Launcher, Tempo
from foliot.domain.ids import IdSource
from foliot.domain.instant import SECOND, Millis
from foliot.engine.attempt import Ending
from foliot.engine.consumer import Consumer
from foliot.engine.deadline import DeadlinePassed, deadline
from foliot.engine.dispatcher import Dispatcher
from foliot.engine.finisher import Finisher
from foliot.engine.gatekeeper import Gatekeeper
from foliot.engine.hooks import Tell, nobody
from foliot.engine.janitor import RETENTION, Janitor
from foliot.engine.logbook import LogBook
from foliot.engine.loop import Duty, Loop
from foliot.engine.membership import LEASE, Membership
from foliot.engine.opener import Opener
from foliot.engine.plans import Plans
from foliot.engine.reaper import Reaper
from foliot.engine.scheduler import Scheduler
from foliot.engine.settler import Settler
from foliot.engine.watchman import Watchman
from foliot.errors import FoliotError
from foliot.ports.clock import Clock
from foliot.ports.queue import Queue
from foliot.ports.runner import Runner, Sweep
from foliot.ports.storage import Storage
from foliot.ports.upkeep import Retention

log = logging.getLogger(__name__)

DRAIN: Final = Millis(30 * SECOND)
_LAST_WRITES: Final = Millis(10 * SECOND)
_LAST_WORD: Final = Millis(5 * SECOND)


class Role(StrEnum):
    SCHEDULER = "scheduler"
    WORKER = "worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a node behaves."""

    label: str
    roles: Collection[Role] = tuple(Role)
    queues: tuple[str, ...] = ("default",)
    slots: int = 100
    tempo: Tempo = field(default_factory=Tempo)
    lease: Millis = LEASE
    poll: Millis = SECOND
    drain: Millis = DRAIN
    retention: Retention = RETENTION


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a node works with."""

    storage: Storage
    queue: Queue
    clock: Clock
    ids: IdSource
    runners: Mapping[str, Runner]
    launcher: Launcher
    tell: Tell = nobody
    """Hears of the executions that this node leads on."""
    sweep: Sweep | None = None
    """Called for attempts whose worker vanished, before they are tried again."""


class Node:
    """Runs the duties of its roles until it is stopped."""

    def __init__(self, parts: Parts, settings: Settings) -> None:
        self._clock = parts.clock
        self._runners = parts.runners
        self._settings = settings
        self._timekeeping = Timekeeping(parts, settings) if Role.SCHEDULER in settings.roles else None
        self._work = Work(parts, settings) if Role.WORKER in settings.roles else None
        self._watchman = Watchman(parts.storage)
        self.failure: FoliotError | None = None
        """Why this node cannot go on, and is to be stopped."""
        self.on_failure: Callable[[], None] = lambda: None
        self._loops: dict[Duty, Loop] = {}
        self._tasks: dict[Duty, asyncio.Task[None]] = {}

    @property
    def abandoned(self) -> int:
        """How many attempts could not be ended and still run in this process."""
        left = 0 if self._work is None else self._work.consumer.unfinished
        return left + sum(runner.abandoned for runner in self._runners.values())

    @property
    def is_running(self) -> bool:
        """Whether a duty is at work."""
        return any(not task.done() for task in self._tasks.values())

    async def start(self) -> None:
        """Begin. A worker is registered when this returns."""
        if self._work is not None:
            await self._work.membership.round()
        for duty in self._duties():
            loop = Loop(duty, self._clock, self._fail)
            self._loops[duty] = loop
            self._tasks[duty] = asyncio.create_task(loop.run(), name=duty.name)

    async def stop(self) -> None:
        """Stop in good order, within the drain deadline and some seconds for each of the last writes: a storage that
        does not answer is not waited for."""
        await self._halt([self._watchman])
        if self._timekeeping is not None:
            await self._halt(self._timekeeping.duties)
            await self._try("resign", self._timekeeping.janitor.leave())
        if self._work is not None:
            await self._stop_work(self._work)
        log.info("node_stopped", extra={"label": self._settings.label})

    async def _stop_work(self, work: "Work") -> None:
        await self._halt(work.hands)
        await work.drain(self._settings.drain)
        await self._try("last outcomes", work.finisher.flush(), _LAST_WRITES)
        await self._halt([work.finisher, work.settler, work.logbook, work.membership])
        await self._try("goodbye", work.membership.leave())

    def _duties(self) -> Sequence[Duty]:
        timekeeping = () if self._timekeeping is None else self._timekeeping.duties
        work = () if self._work is None else self._work.duties
        return (self._watchman, *timekeeping, *work)

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
        """Do a last step; a storage that is away must not keep a process from ending."""
        try:
            await _within(self._clock, patience, step)
        except Exception:
            log.exception("could_not_finish_stopping", extra={"step": what})


class Timekeeping:
    """The duties of a scheduler. They keep nothing in memory that matters: any number of them may do this."""

    def __init__(self, parts: Parts, settings: Settings) -> None:
        storage, clock = parts.storage, parts.clock
        self.scheduler = Scheduler(storage, clock, ids=parts.ids, launcher=parts.launcher, tempo=settings.tempo)
        self.dispatcher = Dispatcher(storage, parts.queue, clock, poll=settings.poll)
        self.gatekeeper = Gatekeeper(storage, every=settings.poll)
        self.reaper = Reaper(storage, Plans(storage), sweep=parts.sweep, every=settings.poll)
        self.janitor = Janitor(storage, clock, parts.ids.make(clock.now()), settings.retention)
        self.duties: Sequence[Duty] = (
            self.scheduler,
            self.dispatcher,
            self.gatekeeper,
            self.reaper,
            self.janitor,
        )


class Work:
    """The duties of a worker."""

    def __init__(self, parts: Parts, settings: Settings) -> None:
        storage = parts.storage
        plans = Plans(storage)
        self._clock = parts.clock
        self.finisher = Finisher(storage)
        self.logbook = LogBook(storage.logs, parts.clock)
        self.membership = Membership(
            storage,
            parts.clock,
            parts.ids,
            label=settings.label,
            queues=settings.queues,
            slots=settings.slots,
            lease=settings.lease,
        )
        self.consumer = Consumer(
            storage,
            parts.queue,
            parts.clock,
            self.membership,
            parts.runners,
            self.finisher,
            self.logbook,
            plans,
            Opener(storage, parts.ids, plans, parts.tell),
            sweep=parts.sweep,
            poll=settings.poll,
        )
        self.settler = Settler(storage, parts.ids, plans, tell=parts.tell, every=settings.poll)
        self.finisher.on_saved = self.consumer.make_room
        self.membership.serve(self.consumer, on_join=self.consumer.wake.set)
        self.hands = self.consumer.hands
        self.duties: Sequence[Duty] = (
            self.membership,
            *self.hands,
            self.finisher,
            self.logbook,
            self.settler,
        )

    async def drain(self, patience: Millis) -> None:
        """Let what runs end by itself for so long; end the rest, which is then given back."""
        with suppress(DeadlinePassed):
            await _within(self._clock, patience, self.consumer.drain())
        self.consumer.end(list(self.consumer.held), Ending.SHUTDOWN)
        # A coroutine that swallows its cancellation is left behind; its lease runs out.
        with suppress(DeadlinePassed):
            await _within(self._clock, _LAST_WRITES, self.consumer.drain())


async def _within(clock: Clock, span: Millis, step: Awaitable[None]) -> None:
    async with deadline(clock, span):
        await step


async def _all(tasks: Iterable[asyncio.Task[None]]) -> None:
    await asyncio.gather(*tasks)
