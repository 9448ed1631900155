"""The settings of a node, and the parts that it is built from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from foliot.domain.ids import IdSource
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lease import LOCAL, WorkerFacts
from foliot.domain.schedule.firing import MakeRun, SchedulerSettings
from foliot.domain.tree.kind import TreeKind
from foliot.engine.scheduler.janitor import RETENTION
from foliot.engine.worker.heartbeat import LEASE
from foliot.ports.channel import RunChannel
from foliot.ports.clock import Clock
from foliot.ports.listeners import Subscription
from foliot.ports.notifier import Notifications
from foliot.ports.processes import Processes
from foliot.ports.queue import Queue
from foliot.ports.resolver import Resolver
from foliot.ports.runner import Runner, Sweep
from foliot.ports.storage import Storage
from foliot.ports.upkeep import Retention

DRAIN: Final = Millis(30 * SECOND)


class Role(StrEnum):
    """What a process does. A scheduler is a coordinator too."""

    SCHEDULER = "scheduler"
    COORDINATOR = "coordinator"
    WORKER = "worker"
    API = "api"
    """It serves the HTTP API. The node itself does nothing for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a node behaves."""

    label: str
    roles: Collection[Role] = tuple(Role)
    queues: tuple[str, ...] = ("default",)
    slots: int = 100
    scheduler: SchedulerSettings = field(default_factory=SchedulerSettings)
    lease: Millis = LEASE
    poll: Millis = SECOND
    drain: Millis = DRAIN
    retention: Retention = RETENTION
    echo: bool = False
    """Whether functions in this process print to its own streams as well as to the logs of their runs."""
    facts: WorkerFacts = LOCAL
    """What is shown of its worker."""
    api_url: str = ""
    """The address of the HTTP API, for the processes of jobs. Empty: they are not told one."""

    @property
    def is_scheduler(self) -> bool:
        return Role.SCHEDULER in self.roles

    @property
    def is_coordinator(self) -> bool:
        return self.is_scheduler or Role.COORDINATOR in self.roles

    @property
    def is_worker(self) -> bool:
        return Role.WORKER in self.roles


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts that a node is built from."""

    storage: Storage
    queue: Queue
    clock: Clock
    ids: IdSource
    runners: Mapping[str, Runner]
    make_run: MakeRun
    trees: Mapping[str, TreeKind]
    """The kinds of trees that it opens and settles, by the kind of job."""
    tree_queue: Queue
    """Announces runs to open as trees."""
    resolvers: Mapping[str, Resolver] = field(default_factory=dict)
    """Read the inputs of fanouts, by scheme."""
    subscriptions: Sequence[Subscription] = ()
    """The listeners that get events in this process."""
    sweep: Sweep | None = None
    """Called for attempts whose worker was lost, before they are retried."""
    channel: RunChannel | None = None
    """Receives requests of the processes of jobs."""
    notifications: Notifications | None = None
    """What a scheduler needs to notify. None: it does not."""
    processes: Processes | None = None
    """Recognises workers whose process has ended. None: they expire."""

    @property
    def process(self) -> str:
        return "" if self.processes is None else self.processes.own
