"""A process with a worker and without a database: it reaches the work port over a network."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from foliot.domain.ids import IdSource
from foliot.engine.duties import Duties
from foliot.engine.settings import Settings
from foliot.engine.worker.role import WorkerRole, execute_with
from foliot.errors import FoliotError, StorageUnavailable
from foliot.ports.channel import RunChannel
from foliot.ports.clock import Clock
from foliot.ports.queue import Queue
from foliot.ports.runner import Runner, Sweep
from foliot.ports.topic import Topic
from foliot.ports.work import Work

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteParts:
    """The parts that a remote worker is built from."""

    work: Work
    queue: Queue
    clock: Clock
    ids: IdSource
    runners: Mapping[str, Runner]
    sweep: Sweep | None = None
    channel: RunChannel | None = None


class RemoteWorker:
    """Runs the duties of a worker until it is stopped."""

    def __init__(self, parts: RemoteParts, settings: Settings) -> None:
        self._settings = settings
        self._runners = parts.runners
        self._worker = WorkerRole(
            parts.work,
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
            channel=parts.channel,
            facts=settings.facts,
            cancels=parts.work.signal(Topic.CANCELS),
        )
        self._worker.consumer.reports_losses = True
        self._duties = Duties(parts.clock, self._fail)
        self._worker.heartbeat.failures = self._duties.failures.source(self._worker.heartbeat.name)
        self.failure: FoliotError | None = None
        """The error after which this process cannot continue and must be stopped."""
        self.on_failure: Callable[[], None] = lambda: None
        self.on_drained: Callable[[], None] = lambda: None
        """Called when an administrator has drained this worker: the process finishes its runs and stops."""
        self._worker.heartbeat.on_drained = lambda: self.on_drained()

    @property
    def abandoned(self) -> int:
        """The number of attempts that could not be ended and still run in this process."""
        return self._worker.consumer.running_count + sum(runner.abandoned for runner in self._runners.values())

    @property
    def running_count(self) -> int:
        return self._worker.consumer.running_count

    async def start(self) -> None:
        """Start all duties. A server that cannot be reached yet is tried again; one that refuses the worker is an
        error."""
        await self._worker.open_channel()
        try:
            await self._worker.heartbeat.round()
        except StorageUnavailable as error:
            log.warning("server_not_reached", extra={"problem": error.message, "hint": error.hint})
        except BaseException:
            await self._worker.close_channel()  # `stop` is not called
            raise
        self._duties.start(self._worker.duties)

    async def stop(self) -> None:
        await self._duties.stop_worker(self._worker, self._settings.drain)
        log.info("node_stopped", extra={"label": self._settings.label})

    def _fail(self, error: FoliotError) -> None:
        if self.failure is None:
            self.failure = error
            log.error("node_failed", extra={"problem": error.message, "hint": error.hint})
            self.on_failure()
