"""A SQLite file as storage: one writer, a few readers, and a bell for other processes."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractContextManager
from copy import copy
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import parse_qsl

import apsw

from foliot.adapters.storage.sqlite.admission import SqliteAdmission
from foliot.adapters.storage.sqlite.audit import SqliteAudit
from foliot.adapters.storage.sqlite.database.bell import Bell, LocalBell, SocketBell
from foliot.adapters.storage.sqlite.database.connection import Connect, Connection
from foliot.adapters.storage.sqlite.database.context import Context, LogFile
from foliot.adapters.storage.sqlite.database.group_commit import FaultPoint, GroupCommit
from foliot.adapters.storage.sqlite.database.reader import Reader
from foliot.adapters.storage.sqlite.database.schema import LOGS, MAIN, open_file
from foliot.adapters.storage.sqlite.database.writer import InlineWriter, ThreadWriter, Writer
from foliot.adapters.storage.sqlite.definitions import SqliteDefinitions
from foliot.adapters.storage.sqlite.deliveries import SqliteDeliveries
from foliot.adapters.storage.sqlite.dsns import SqliteDsns
from foliot.adapters.storage.sqlite.enrolments import SqliteEnrolments
from foliot.adapters.storage.sqlite.items import SqliteItems
from foliot.adapters.storage.sqlite.ledger import SqliteLedger
from foliot.adapters.storage.sqlite.listeners import SqliteListeners
from foliot.adapters.storage.sqlite.orders import SqliteOrders
from foliot.adapters.storage.sqlite.queries import SqliteQueries
from foliot.adapters.storage.sqlite.requests import SqliteRequests
from foliot.adapters.storage.sqlite.tokens import SqliteTokens
from foliot.adapters.storage.sqlite.trees import SqliteTrees
from foliot.adapters.storage.sqlite.upkeep import SqliteUpkeep
from foliot.adapters.storage.sqlite.users import SqliteUsers
from foliot.adapters.storage.sqlite.work import SqliteWork
from foliot.domain.access.actor import SYSTEM, Actor
from foliot.domain.file_url import parse_file_url
from foliot.domain.job.job import DEFAULT_PROJECT
from foliot.errors import InvalidInput, StorageCorrupt, StorageUnavailable
from foliot.ports.clock import Clock
from foliot.ports.topic import Topic

Synchronous = Literal["FULL", "NORMAL"]

_CACHE_KIB: Final = 8_192
_LOGS_CACHE_KIB: Final = 1_024
_WITHOUT_LOGS: Final = "Stop all processes and move it away. The output of jobs is lost, their runs are kept."


def _no_fault(point: str) -> None:
    """Does nothing. Only tests interrupt a commit."""


class SqliteStorage:
    """Fills `ports.storage.Storage`. Created by `open`."""

    def __init__(self, context: Context, bell: Bell) -> None:
        self._context = context
        self._bell = bell
        self._is_open = True
        self._original: SqliteStorage | None = None
        self.actor = SYSTEM
        self.clock = context.clock
        self.ledger = SqliteLedger(context)
        self.work = SqliteWork(context, bell.signal)
        self.trees = SqliteTrees(context, self.work.finishes)
        self.items = SqliteItems(context)
        self.admission = SqliteAdmission(context)
        self.queries = SqliteQueries(context)
        self.upkeep = SqliteUpkeep(context)
        self.listeners = SqliteListeners(context)
        self.deliveries = SqliteDeliveries(context)
        self._build_commands(context)

    def _build_commands(self, context: Context) -> None:
        """Build the ports whose changes are recorded with the actor of the context."""
        self.orders = SqliteOrders(context, self.work.finishes)
        self.definitions = SqliteDefinitions(context)
        self.dsns = SqliteDsns(context)
        self.tokens = SqliteTokens(context)
        self.users = SqliteUsers(context)
        self.enrolments = SqliteEnrolments(context)
        self.requests = SqliteRequests(context)
        self.audit = SqliteAudit(context)

    def acting_as(self, actor: Actor) -> "SqliteStorage":
        acting = copy(self)
        acting._original = self._original or self
        acting.actor = actor
        acting._build_commands(self._context.acting_as(actor))
        return acting

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
        """Open the database at `path`, and create or migrate it. Without `create` it must exist and be current.

        `inline`: no threads, every call is complete when it returns (for the simulator). `synchronous`: FULL keeps
        every acknowledged write through a power failure, NORMAL may lose the last moments but never consistency.
        `faults` is called with "<verb>.before_commit" and "<verb>.after_commit".
        """
        files = _Files(_real(path), clock, synchronous, faults, inline, create)
        connection = await files.open(files.connect_main, files.existing.connect_main)
        bell: Bell = LocalBell(files.path) if inline else SocketBell(files.path, asyncio.get_running_loop())
        reader = Reader(files.path, inline=inline)
        logs = LogFile(lambda: files.open_logs(bell))
        return cls(Context(files.writer(connection, files.path, bell), reader, logs, clock, project), bell)

    def signal(self, topic: Topic) -> asyncio.Event:
        return self._bell.signal(topic)

    def subscribe(self, *topics: Topic) -> AbstractContextManager[asyncio.Event]:
        return self._bell.subscribe(*topics)

    async def close(self) -> None:
        """Save pending writes and close the files. Closing twice has no effect, nor closing for another actor."""
        if self._original is not None:
            await self._original.close()
        elif self._is_open:
            self._is_open = False
            self._bell.close()
            await self._context.close()


def _real(path: Path) -> Path:
    """Resolve links: the log file and the bell are beside the file itself, not beside a link to it."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # a RuntimeError: a cycle of links
        reason = "the current directory no longer exists" if isinstance(error, FileNotFoundError) else error
        raise StorageUnavailable(
            f"the database {path} could not be found: {reason}",
            hint="Write the absolute path of the file, which begins with a slash.",
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
        """Return a copy that never creates files, for opening the files again: a deleted file must not be created
        anew."""
        return self._replace(create=False)

    @property
    def logs(self) -> Path:
        return Path(f"{self.path}-logs")

    async def open(self, connect: Connect, again: Connect) -> Connection:
        """Return an open connection; `again` connects after a fork."""
        if self.inline:
            return Connection.open(connect, again=again)
        return await asyncio.to_thread(Connection.open, connect, again=again)

    def connect_main(self) -> apsw.Connection:
        """Check the files. A process that writes checks the log file too: a job's output must not be the first to
        fail."""
        connection = self._connect(self.path, MAIN, _CACHE_KIB)
        try:
            if self.create and self.logs.exists():
                self.connect_logs().close()
        except BaseException:
            connection.close()
            raise
        return connection

    def connect_logs(self) -> apsw.Connection:
        try:
            return self._connect(self.logs, LOGS, _LOGS_CACHE_KIB)
        except StorageCorrupt as error:
            raise StorageCorrupt(error.message, hint=_WITHOUT_LOGS) from error

    def _connect(self, path: Path, migrations: Mapping[int, str], cache_kib: int) -> apsw.Connection:
        return open_file(path, migrations, synchronous=self.synchronous, cache_kib=cache_kib, create=self.create)

    async def open_logs(self, bell: Bell) -> tuple[Writer, Reader]:
        connection = await self.open(self.connect_logs, self.existing.connect_logs)
        return self.writer(connection, self.logs, bell), Reader(self.logs, inline=self.inline)

    def writer(self, connection: Connection, path: Path, bell: Bell) -> Writer:
        connection.on_wait = bell.request_lock
        group_commit = GroupCommit(connection, path, self.clock, self.faults)
        return InlineWriter(group_commit, bell) if self.inline else ThreadWriter(group_commit, bell)


# -- URLs (`domain.file_url`)


class SqliteUrl(NamedTuple):
    path: Path
    synchronous: Synchronous


async def open_url(url: str, *, clock: Clock, faults: FaultPoint, create: bool = True) -> SqliteStorage:
    place = parse_url(url)
    return await SqliteStorage.open(
        place.path, clock=clock, synchronous=place.synchronous, faults=faults, create=create
    )


def parse_url(url: str) -> SqliteUrl:
    path, query = parse_file_url(url)
    return SqliteUrl(Path(path), _synchronous(dict(parse_qsl(query, keep_blank_values=True))))


def _synchronous(options: dict[str, str]) -> Synchronous:
    chosen = options.pop("synchronous", "FULL").upper()
    if options:
        raise InvalidInput(f"option {next(iter(options))[:64]!a} does not exist", hint="Use synchronous.")
    if chosen == "FULL":
        return "FULL"
    if chosen == "NORMAL":
        return "NORMAL"
    raise InvalidInput(f"synchronous {chosen[:32]!a} does not exist", hint="Use FULL or NORMAL.", field="storage")
