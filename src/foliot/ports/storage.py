"""The storage port: the single source of truth.

Each method is one domain verb over a batch and one transaction: all of it happened, or none. Promises are in the
docstrings and, as tests, in `foliot.testing.conformance`: an adapter is whatever passes them.

`at` is the moment the verb takes as now. None means the storage's own clock (PostgreSQL's server; the process's on
SQLite); the simulator gives it. A bad item never fails its batch: it comes back refused, the others are saved.
"""

import asyncio
from typing import Protocol

from foliot.ports.clock import Clock
from foliot.ports.executions import ExecutionStore, WorkflowStore
from foliot.ports.jobs import JobStore
from foliot.ports.logs import LogStore
from foliot.ports.queries import Queries
from foliot.ports.runs import RunStore
from foliot.ports.schedules import ScheduleStore
from foliot.ports.topic import Topic
from foliot.ports.trees import TreeStore
from foliot.ports.upkeep import Upkeep
from foliot.ports.work import Work
from foliot.ports.workers import WorkerStore


class Storage(Protocol):
    """A database, open. The verbs are grouped by what they are about."""

    @property
    def jobs(self) -> JobStore: ...

    @property
    def schedules(self) -> ScheduleStore: ...

    @property
    def runs(self) -> RunStore: ...

    @property
    def workflows(self) -> WorkflowStore: ...

    @property
    def executions(self) -> ExecutionStore: ...

    @property
    def trees(self) -> TreeStore: ...

    @property
    def work(self) -> Work: ...

    @property
    def workers(self) -> WorkerStore: ...

    @property
    def logs(self) -> LogStore: ...

    @property
    def upkeep(self) -> Upkeep: ...

    @property
    def queries(self) -> Queries: ...

    @property
    def clock(self) -> Clock:
        """What time it is for all who use this storage, as near as it can be told without asking."""
        ...

    def signal(self, topic: Topic) -> asyncio.Event:
        """An event that is set whenever that topic may concern a waiting loop, by this process or another one."""
        ...

    async def close(self) -> None: ...
