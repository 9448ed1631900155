"""One process: the duties of its roles, started together and stopped in order.

    scheduler     scheduler dispatcher gates reaper janitor                turns ticks into runs, admits them, cleans up
                  notifications, sender                                    turns events into messages, sends them
    coordinator   heartbeat consumer finisher logbook progress, settler    opens and settles trees
    worker        heartbeat consumer finisher logbook progress             executes runs
    every process storage check, clock check, and a listener for each name of the application's hooks

A coordinator is a worker of the reserved queue @trees. Any number of processes may have each role; the role scheduler
includes the role coordinator.

To stop, the node claims no more runs, lets attempts end until the deadline, ends the remaining ones and gives their
runs back, saves every outcome, and removes its workers.
"""

import logging
from collections.abc import Callable, Sequence

from foliot.engine.clock_check import ClockCheck
from foliot.engine.coordinator.role import CoordinatorRole
from foliot.engine.duties import Duties
from foliot.engine.listener import EventListener
from foliot.engine.loop import Duty
from foliot.engine.notifications.listener import NotificationListener
from foliot.engine.notifications.role import NotificationRole
from foliot.engine.scheduler.role import SchedulerRole
from foliot.engine.settings import Parts, Settings
from foliot.engine.storage_check import StorageCheck
from foliot.engine.worker.role import WorkerRole, execute_with
from foliot.errors import FoliotError
from foliot.ports.topic import Topic

log = logging.getLogger(__name__)


class Node:
    """Runs the duties of its roles until it is stopped."""

    def __init__(self, parts: Parts, settings: Settings) -> None:
        self._runners = parts.runners
        self._settings = settings
        self._scheduler = SchedulerRole(parts, settings) if settings.is_scheduler else None
        self._coordinator = CoordinatorRole(parts, settings) if settings.is_coordinator else None
        self._worker = build_worker(parts, settings) if settings.is_worker else None
        self._running_duties = Duties(parts.clock, self._fail)
        for worker in self._workers:
            worker.heartbeat.failures = self._running_duties.failures.source(worker.heartbeat.name)
        self._checks = (StorageCheck(parts.storage), ClockCheck(parts.storage.upkeep, settings.label))
        holder = f"{settings.label} {parts.ids.make(parts.clock.now())}"
        self._listeners: list[EventListener | NotificationListener] = [
            EventListener(parts.storage, parts.clock, one, holder=holder, lease=settings.lease, every=settings.poll)
            for one in parts.subscriptions
        ]
        self._notifications = _notification_role(parts, settings, holder)
        if self._notifications is not None:
            self._listeners.append(self._notifications.listener)
        self.failure: FoliotError | None = None
        """The error after which this node cannot continue and must be stopped."""
        self.on_failure: Callable[[], None] = lambda: None
        self.on_drained: Callable[[], None] = lambda: None
        """Called when an administrator has drained its worker."""
        if self._worker is not None:
            self._worker.heartbeat.on_drained = lambda: self.on_drained()

    @property
    def abandoned(self) -> int:
        """The number of attempts that could not be ended and still run in this process."""
        left = 0 if self._worker is None else self._worker.consumer.running_count
        return left + sum(runner.abandoned for runner in self._runners.values())

    @property
    def running_count(self) -> int:
        """The number of attempts that run now."""
        return sum(worker.consumer.running_count for worker in self._workers)

    @property
    def worker_ids(self) -> set[str]:
        """The ids of the workers of this process."""
        return {worker.heartbeat.worker.id for worker in self._workers if worker.heartbeat.worker is not None}

    @property
    def is_running(self) -> bool:
        """Whether any duty still runs."""
        return self._running_duties.is_running

    @property
    def _workers(self) -> Sequence[WorkerRole]:
        """The worker and the one that opens trees. The latter stops last: it has no long attempts to wait for."""
        of_trees = None if self._coordinator is None else self._coordinator.worker
        return [worker for worker in (self._worker, of_trees) if worker is not None]

    async def start(self) -> None:
        """Start all duties. Workers are registered when this returns."""
        for listener in self._listeners:
            await listener.begin()
        for worker in self._workers:
            await worker.open_channel()
            await worker.heartbeat.round()
        self._running_duties.start(self._duties())

    async def stop(self) -> None:
        """Stop in order, within the drain deadline and a few seconds for each of the last writes: an unreachable
        storage must not block it."""
        await self._running_duties.halt(self._checks)
        if self._scheduler is not None:
            await self._running_duties.halt(self._scheduler.duties)
            await self._running_duties.try_step("resign", self._scheduler.janitor.resign())
        for worker in self._workers:
            await self._running_duties.stop_worker(worker, self._settings.drain)
        if self._coordinator is not None:
            await self._running_duties.halt([self._coordinator.settler])
        await self._running_duties.halt(self._listeners)
        for listener in self._listeners:
            await self._running_duties.try_step("deliver events", listener.close())
        if self._notifications is not None:
            await self._running_duties.halt([self._notifications.sender])
            await self._running_duties.try_step("end deliveries", self._notifications.sender.close())
        log.info("node_stopped", extra={"label": self._settings.label})

    def _duties(self) -> Sequence[Duty]:
        roles = (self._scheduler, self._coordinator, self._worker)
        return [
            *self._checks,
            *self._listeners,
            *(() if self._notifications is None else [self._notifications.sender]),
            *(duty for role in roles if role is not None for duty in role.duties),
        ]

    def _fail(self, error: FoliotError) -> None:
        if self.failure is None:
            self.failure = error
            log.error("node_failed", extra={"problem": error.message, "hint": error.hint})
            self.on_failure()


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
        process=parts.process,
        facts=settings.facts,
        lease=settings.lease,
        poll=settings.poll,
        runners=parts.runners.values(),
        sweep=parts.sweep,
        channel=parts.channel,
        cancels=parts.storage.work.signal(Topic.CANCELS),
    )


def _notification_role(parts: Parts, settings: Settings, holder: str) -> NotificationRole | None:
    if parts.notifications is None or not settings.is_scheduler:
        return None
    return NotificationRole(
        parts.storage, parts.clock, parts.notifications, holder=holder, lease=settings.lease, poll=settings.poll
    )
