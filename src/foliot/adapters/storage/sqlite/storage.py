"""A SQLite file as storage: one writer, a few readers, a bell for other processes."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

import apsw

from foliot.adapters.storage.sqlite import schema
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.bell import Bell, LocalBell, SocketBell
from foliot.adapters.storage.sqlite.committer import Committer, FaultPoint
from foliot.adapters.storage.sqlite.executions import SqliteExecutions
from foliot.adapters.storage.sqlite.jobs import SqliteJobs
from foliot.adapters.storage.sqlite.line import Line
from foliot.adapters.storage.sqlite.logs import LogFile, SqliteLogs
from foliot.adapters.storage.sqlite.queries import SqliteQueries
from foliot.adapters.storage.sqlite.reader import Reader
from foliot.adapters.storage.sqlite.runs import SqliteRuns
from foliot.adapters.storage.sqlite.schedules import SqliteSchedules
from foliot.adapters.storage.sqlite.trees import SqliteTrees
from foliot.adapters.storage.sqlite.upkeep import SqliteUpkeep
from foliot.adapters.storage.sqlite.work import SqliteWork
from foliot.adapters.storage.sqlite.workers import SqliteWorkers
from foliot.adapters.storage.sqlite.workflows import SqliteWorkflows
from foliot.adapters.storage.sqlite.writer import InlineWriter, ThreadWriter, Writer
from foliot.domain.job.job import DEFAULT_PROJECT
from foliot.errors import StorageCorrupt, StorageUnavailable
from foliot.ports.clock import Clock
from foliot.ports.topic import Topic

Synchronous = Literal["FULL", "NORMAL"]

_CACHE_KIB: Final = 8_192
_LOGS_CACHE_KIB: Final = 1_024
_WITHOUT_LOGS: Final = "Stop all processes and move it away: what jobs have printed goes with it, their runs are kept."


def _no_fault(point: str) -> None:
    """Real processes die where they want."""


class SqliteStorage:
    """Fills `ports.storage.Storage`. Made by `open`."""

    def __init__(self, access: Access, bell: Bell, logs: SqliteLogs) -> None:
        self._access = access
        self._bell = bell
        self._is_open = True
        self.clock = access.clock
        self.jobs = SqliteJobs(access)
        self.schedules = SqliteSchedules(access)
        self.runs = SqliteRuns(access)
        self.workflows = SqliteWorkflows(access)
        self.executions = SqliteExecutions(access)
        self.work = SqliteWork(access, logs, bell.signal)
        self.trees = SqliteTrees(access, self.work.finishes)
        self.workers = SqliteWorkers(access)
        self.logs = logs
        self.upkeep = SqliteUpkeep(access, logs)
        self.queries = SqliteQueries(access)

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
        """Open the database at `path`, created or migrated if need be. Unless `create`: then it is taken as it is.

        `inline`: no threads, every verb is done when its call returns (the simulator). `synchronous`: FULL keeps
        every acknowledged write through a power cut, NORMAL may lose the last moments, never consistency. `faults` is
        called with "<verb>.before_commit" and "<verb>.after_commit".
        """
        files = _Files(_real(path), clock, synchronous, faults, inline, create)
        line = files.main_line() if inline else await asyncio.to_thread(files.main_line)
        bell: Bell = LocalBell(files.path) if inline else SocketBell(files.path, asyncio.get_running_loop())
        access = Access(files.write(line, files.path, bell), Reader(files.path, inline=inline), clock, project)
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
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # a RuntimeError: links that lead to one another
        reason = "the current directory is gone" if isinstance(error, FileNotFoundError) else error
        raise StorageUnavailable(
            f"the database {path} could not be found: {reason}",
            hint="Name the file with its whole path, which begins with a slash.",
        ) from error


class _Files(NamedTuple):
    """How the two files of a storage are opened."""

    path: Path
    clock: Clock
    synchronous: Synchronous
    faults: FaultPoint
    inline: bool
    create: bool

    @property
    def existing(self) -> "_Files":
        """The same, for whoever has opened them before: what is gone since then is not made anew."""
        return self._replace(create=False)

    def main_line(self) -> Line:
        return Line.open(self.connect_main, again=self.existing.connect_main)

    def connect_main(self) -> apsw.Connection:
        """Whoever may write looks at the other file as well: a job that prints must not be the first to find out."""
        connection = self._connect(self.path, schema.MAIN, _CACHE_KIB)
        try:
            if self.create and self.logs.exists():
                self.connect_logs().close()
        except BaseException:
            connection.close()
            raise
        return connection

    async def open_logs(self, bell: Bell) -> LogFile:
        line = self.logs_line() if self.inline else await asyncio.to_thread(self.logs_line)
        return LogFile(self.write(line, self.logs, bell), Reader(self.logs, inline=self.inline))

    def logs_line(self) -> Line:
        return Line.open(self.connect_logs, again=self.existing.connect_logs)

    def connect_logs(self) -> apsw.Connection:
        try:
            return self._connect(self.logs, schema.LOGS, _LOGS_CACHE_KIB)
        except StorageCorrupt as error:
            raise StorageCorrupt(error.message, hint=_WITHOUT_LOGS) from error

    def _connect(self, path: Path, migrations: Mapping[int, str], cache_kib: int) -> apsw.Connection:
        return schema.open_file(path, migrations, synchronous=self.synchronous, cache_kib=cache_kib, create=self.create)

    @property
    def logs(self) -> Path:
        return Path(f"{self.path}-logs")

    def write(self, line: Line, path: Path, bell: Bell) -> Writer:
        committer = Committer(line, path, self.clock, self.faults)
        return InlineWriter(committer, bell) if self.inline else ThreadWriter(committer, bell)
