"""A PostgreSQL database, open."""

import asyncio
from types import TracebackType
from typing import Any, Final, Self

import asyncpg

from foliot.adapters.clock import SystemClock
from foliot.adapters.storage.postgres.admission import Admission
from foliot.adapters.storage.postgres.bell import Bell
from foliot.adapters.storage.postgres.database import SETTINGS, Database, Faults
from foliot.adapters.storage.postgres.definitions import DefinitionReader
from foliot.adapters.storage.postgres.dsn import Dsn, parse_dsn
from foliot.adapters.storage.postgres.executions import PostgresExecutions
from foliot.adapters.storage.postgres.jobs import PostgresJobs
from foliot.adapters.storage.postgres.logs import PostgresLogs
from foliot.adapters.storage.postgres.migrate import check_encoding, check_version, migrate
from foliot.adapters.storage.postgres.options import check_files, refused_option
from foliot.adapters.storage.postgres.persistence import persist
from foliot.adapters.storage.postgres.queries import PostgresQueries
from foliot.adapters.storage.postgres.runs import PostgresRuns
from foliot.adapters.storage.postgres.schedules import PostgresSchedules
from foliot.adapters.storage.postgres.server_clock import ServerClock
from foliot.adapters.storage.postgres.statements import statements
from foliot.adapters.storage.postgres.trees import PostgresTrees
from foliot.adapters.storage.postgres.trouble import translate
from foliot.adapters.storage.postgres.upkeep import PostgresUpkeep
from foliot.adapters.storage.postgres.work import PostgresWork
from foliot.adapters.storage.postgres.workers import PostgresWorkers
from foliot.adapters.storage.postgres.workflows import PostgresWorkflows
from foliot.domain.job.job import DEFAULT_PROJECT
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

_COMMAND_TIMEOUT: Final = 90
_CLOSE_TIMEOUT: Final = 10


class PostgresStorage:
    """The verbs of `ports.storage.Storage` over one pool of connections, and a second one for signs of life."""

    jobs: JobStore
    schedules: ScheduleStore
    runs: RunStore
    workflows: WorkflowStore
    executions: ExecutionStore
    trees: TreeStore
    work: Work
    workers: WorkerStore
    logs: LogStore
    upkeep: Upkeep
    queries: Queries

    def __init__(
        self,
        database: Database,
        vital: Database,
        bell: Bell,
        pools: "tuple[asyncpg.Pool[Any], ...]",
        project: str,
        clock: Clock,
    ) -> None:
        self.clock = clock
        admission = Admission(database)
        self.jobs = PostgresJobs(database, admission, project)
        self.schedules = PostgresSchedules(database, admission, project)
        definitions = DefinitionReader(project)
        self.runs = PostgresRuns(database, admission, definitions, project)
        self.workflows = PostgresWorkflows(database, admission, project)
        self.executions = PostgresExecutions(database, project)
        self.trees = PostgresTrees(database, admission, definitions, project)
        self.work = PostgresWork(database, vital, admission, definitions, bell)
        self.workers = PostgresWorkers(database)
        self.logs = PostgresLogs(database)
        self.upkeep = PostgresUpkeep(database, vital, project)
        self.queries = PostgresQueries(database, project)
        self._bell = bell
        self._pools = pools

    def signal(self, topic: Topic) -> asyncio.Event:
        return self._bell.signal(topic)

    async def close(self) -> None:
        """Let verbs under way end, then close all connections."""
        await self._bell.close()
        for pool in self._pools:
            try:
                async with asyncio.timeout(_CLOSE_TIMEOUT):
                    await pool.close()
            except TimeoutError:
                pool.terminate()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open_postgres(
    dsn: str,
    *,
    clock: Clock | None = None,
    project: str = DEFAULT_PROJECT,
    schema: str | None = None,
    listen_dsn: str | None = None,
    min_connections: int = 1,
    max_connections: int = 8,
    faults: Faults = lambda _: None,
    create: bool = True,
) -> PostgresStorage:
    """Connect, bring the schema up to date, and listen. `listen_dsn` leads past a pooler, which cannot LISTEN.

    The wall of `clock` is not asked: what counts is the server's.

    Unless `create`: then the schema is taken as it is, and refused if it is not the one that this Foliot needs. The
    database itself is never created here.
    """
    place = parse_dsn(dsn, schema)
    listening = parse_dsn(listen_dsn or dsn, place.schema)
    check_files(place.options)
    check_files(listening.options)
    time = ServerClock(clock or SystemClock())
    try:
        await _prepare(place, time, create)
        pool = await persist(lambda: _pool(place, min_connections, max_connections), lambda _: True)
        vital = await _pool(place, 0, 1)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, ValueError) as error:
        raise refused_option(error, place.options) or translate(error, place.server) from error
    # What is announced is safe already; the announcement need not be.
    bell = Bell(place.channel, lambda: _connect(listening, synchronous_commit="off"))
    database, signs_of_life = (Database(place, one, bell, faults, time) for one in (pool, vital))
    storage = PostgresStorage(database, signs_of_life, bell, (pool, vital), project, time)
    try:
        await bell.start()
    except BaseException:
        await storage.close()
        raise
    return storage


async def _prepare(place: Dsn, clock: ServerClock, create: bool) -> None:
    """Bring the schema up to date, or see that it is, and learn what time it is there. A server that was there, or says
    that it will be in a moment, is asked again; one that cannot be reached is not waited for."""
    was_there = False

    async def once() -> None:
        nonlocal was_there
        connection = await _connect(place)
        was_there = True
        preparing = asyncio.create_task(_bring_up_to_date(connection, place, clock, create))
        try:
            await asyncio.wait((preparing,))
            preparing.result()
        except asyncio.CancelledError:
            connection.terminate()  # to roll back, or to close, is to wait for a server that may be silent
            await asyncio.gather(preparing, return_exceptions=True)
            raise
        finally:
            await connection.close(timeout=_CLOSE_TIMEOUT)

    await persist(once, lambda error: was_there or isinstance(error, asyncpg.CannotConnectNowError))


async def _bring_up_to_date(
    connection: "asyncpg.Connection[Any]", place: Dsn, clock: ServerClock, create: bool
) -> None:
    check_encoding(connection, place)
    if create:
        await migrate(connection, place)
    else:
        await check_version(connection, place)
    asked = clock.elapsed()
    clock.learn(await connection.fetchval(statements(place.schema)["now"]), asked)


async def _connect(place: Dsn, **settings: str) -> "asyncpg.Connection[Any]":
    connection: asyncpg.Connection[Any] = await asyncpg.connect(place.url, **_options(place, **settings))
    return connection


async def _pool(place: Dsn, least: int, most: int) -> "asyncpg.Pool[Any]":
    # The usual reset asks the server to forget what the session set; ours sets nothing.
    return await asyncpg.create_pool(place.url, min_size=least, max_size=most, reset=_leave_as_it_is, **_options(place))


async def _leave_as_it_is(connection: object) -> None:
    return


def _options(place: Dsn, **further: str) -> dict[str, Any]:
    # Behind a pooler a session is shared: what is set here would hold for others, or be forgotten.
    settings = {"application_name": SETTINGS["application_name"]} if place.is_pooled else {**SETTINGS, **further}
    cache = {"statement_cache_size": 0} if place.is_pooled else {}
    return {"timeout": place.connect_timeout, "command_timeout": _COMMAND_TIMEOUT, "server_settings": settings, **cache}
