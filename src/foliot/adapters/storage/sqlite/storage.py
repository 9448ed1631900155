"""A SQLite file as storage: one writer, a few readers, a bell for other processes."""

import asyncio
from pathlib import Path
from typing import Final, Literal, NamedTuple

import apsw

from foliot.adapters.storage.sqlite import schema
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.bell import Bell, LocalBell, SocketBell
from foliot.adapters.storage.sqlite.committer import Committer, FaultPoint
from foliot.adapters.storage.sqlite.executions import SqliteExecutions
from foliot.adapters.storage.sqlite.jobs import SqliteJobs
from foliot.adapters.storage.sqlite.logs import LogFile, SqliteLogs
from foliot.adapters.storage.sqlite.reader import Reader
from foliot.adapters.storage.sqlite.runs import SqliteRuns
from foliot.adapters.storage.sqlite.schedules import SqliteSchedules
from foliot.adapters.storage.sqlite.upkeep import SqliteUpkeep
from foliot.adapters.storage.sqlite.workers import SqliteWorkers
from foliot.adapters.storage.sqlite.workflows import SqliteWorkflows
from foliot.adapters.storage.sqlite.writer import InlineWriter, ThreadWriter, Writer
from foliot.domain.job import DEFAULT_PROJECT
from foliot.ports.clock import Clock
from foliot.ports.storage import Topic

Synchronous = Literal["FULL", "NORMAL"]

_CACHE_KIB: Final = 8_192
_LOGS_CACHE_KIB: Final = 1_024


def _no_fault(point: str) -> None:
    """Real processes die where they want."""


class SqliteStorage:
    """Fills `ports.storage.Storage`. Made by `open`."""

    is_remote = False

    def __init__(self, access: Access, bell: Bell, logs: SqliteLogs) -> None:
        self._access = access
        self._bell = bell
        self._is_open = True
        self.jobs = SqliteJobs(access)
        self.schedules = SqliteSchedules(access)
        self.runs = SqliteRuns(access)
        self.workflows = SqliteWorkflows(access)
        self.executions = SqliteExecutions(access)
        self.workers = SqliteWorkers(access)
        self.logs = logs
        self.upkeep = SqliteUpkeep(access, logs)

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        clock: Clock,
        project: str = DEFAULT_PROJECT,
        inline: bool = False,
        synchronous: Synchronous = "FULL",
        faults: FaultPoint = _no_fault,
        create: bool = True,
    ) -> "SqliteStorage":
        """Open the database at `path`, migrated if need be, and created unless `create` forbids it.

        `inline`: no threads, every verb is done when its call returns (the simulator). `synchronous`: FULL keeps
        every acknowledged write through a power cut, NORMAL may lose the last moments, never consistency. `faults` is
        called with "<verb>.before_commit" and "<verb>.after_commit".
        """
        files = _Files(_real(path), clock, synchronous, faults, inline)
        connection = files.connect_main(create) if inline else await asyncio.to_thread(files.connect_main, create)
        bell: Bell = LocalBell(files.path) if inline else SocketBell(files.path, asyncio.get_running_loop())
        access = Access(files.write(connection, files.path, bell), Reader(files.path, inline=inline), clock, project)
        return cls(access, bell, SqliteLogs(access.reader, lambda: files.open_logs(bell)))

    def signal(self, topic: Topic) -> asyncio.Event:
        return self._bell.signal(topic)

    async def close(self) -> None:
        """Save what waits and let go of the file. Closing twice is closing once."""
        if self._is_open:
            self._is_open = False
            self._bell.close()
            await self.logs.close()
            await self._access.reader.close()
            await self._access.writer.close()


def _real(path: Path) -> Path:
    """The log file and the bell stand beside the file itself, not beside a link to it."""
    return path.resolve()


class _Files(NamedTuple):
    """How the two files of a storage are opened."""

    path: Path
    clock: Clock
    synchronous: Synchronous
    faults: FaultPoint
    inline: bool

    def connect_main(self, create: bool) -> apsw.Connection:
        return schema.open_file(
            self.path, schema.MAIN, synchronous=self.synchronous, cache_kib=_CACHE_KIB, create=create
        )

    async def open_logs(self, bell: Bell) -> LogFile:
        connection = self.connect_logs() if self.inline else await asyncio.to_thread(self.connect_logs)
        return LogFile(self.write(connection, self.logs, bell), Reader(self.logs, inline=self.inline))

    def connect_logs(self) -> apsw.Connection:
        return schema.open_file(self.logs, schema.LOGS, synchronous=self.synchronous, cache_kib=_LOGS_CACHE_KIB)

    @property
    def logs(self) -> Path:
        return Path(f"{self.path}-logs")

    def write(self, connection: apsw.Connection, path: Path, bell: Bell) -> Writer:
        committer = Committer(connection, path, self.clock, self.faults)
        return InlineWriter(committer, bell) if self.inline else ThreadWriter(committer, bell)
