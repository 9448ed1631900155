"""Opens a PostgreSQL database."""

import asyncio
from contextlib import AbstractContextManager
from copy import copy
from types import TracebackType
from typing import Any, Final, Self

import asyncpg

from foliot.adapters.clock import SystemClock
from foliot.adapters.storage.postgres.admission import PostgresAdmission
from foliot.adapters.storage.postgres.audit import PostgresAudit
from foliot.adapters.storage.postgres.database.bell import Bell
from foliot.adapters.storage.postgres.database.dsn import Dsn, check_files, parse_dsn, refused_option
from foliot.adapters.storage.postgres.database.errors import retry, translate
from foliot.adapters.storage.postgres.database.schema import check_encoding, check_version, migrate, statements
from foliot.adapters.storage.postgres.database.server_clock import ServerClock
from foliot.adapters.storage.postgres.database.transaction import SETTINGS, Database, Faults
from foliot.adapters.storage.postgres.definitions import PostgresDefinitions
from foliot.adapters.storage.postgres.deliveries import PostgresDeliveries
from foliot.adapters.storage.postgres.dsns import PostgresDsns
from foliot.adapters.storage.postgres.enrolments import PostgresEnrolments
from foliot.adapters.storage.postgres.items import PostgresItems
from foliot.adapters.storage.postgres.ledger import PostgresLedger
from foliot.adapters.storage.postgres.listeners import PostgresListeners
from foliot.adapters.storage.postgres.orders import PostgresOrders
from foliot.adapters.storage.postgres.queries import PostgresQueries
from foliot.adapters.storage.postgres.requests import PostgresRequests
from foliot.adapters.storage.postgres.rows.admit import Admitter
from foliot.adapters.storage.postgres.rows.definition import DefinitionReader
from foliot.adapters.storage.postgres.tokens import PostgresTokens
from foliot.adapters.storage.postgres.trees import PostgresTrees
from foliot.adapters.storage.postgres.upkeep import PostgresUpkeep
from foliot.adapters.storage.postgres.users import PostgresUsers
from foliot.adapters.storage.postgres.work import PostgresWork
from foliot.domain.access.actor import SYSTEM, Actor
from foliot.domain.job.job import DEFAULT_PROJECT
from foliot.ports.admission import Admission
from foliot.ports.audit import Audit
from foliot.ports.clock import Clock
from foliot.ports.definitions import Definitions
from foliot.ports.deliveries import Deliveries
from foliot.ports.dsns import Dsns
from foliot.ports.enrolments import Enrolments
from foliot.ports.ledger import Ledger
from foliot.ports.listeners import Listeners
from foliot.ports.orders import Orders
from foliot.ports.queries import Queries
from foliot.ports.requests import Requests
from foliot.ports.tokens import Tokens
from foliot.ports.topic import Topic
from foliot.ports.trees import TreeStore
from foliot.ports.upkeep import Upkeep
from foliot.ports.users import Users
from foliot.ports.work import Work

_COMMAND_TIMEOUT: Final = 90
_CLOSE_TIMEOUT: Final = 10


class PostgresStorage:
    """Fills `ports.storage.Storage` with two connection pools; one is reserved for renewals and leadership."""

    ledger: Ledger
    work: Work
    trees: TreeStore
    admission: Admission
    orders: Orders
    definitions: Definitions
    queries: Queries
    upkeep: Upkeep
    listeners: Listeners
    dsns: Dsns
    deliveries: Deliveries
    tokens: Tokens
    users: Users
    enrolments: Enrolments
    requests: Requests
    audit: Audit

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
        self.actor = SYSTEM
        self._database = database
        self._project = project
        self._definitions = definitions = DefinitionReader(project)
        admitter = Admitter(database)
        self.ledger = PostgresLedger(database, admitter, project)
        self.work = PostgresWork(database, vital, admitter, definitions, bell, project)
        self.trees = PostgresTrees(database, admitter, definitions, project)
        self.items = PostgresItems(database)
        self.admission = PostgresAdmission(database, admitter, definitions, project)
        self.queries = PostgresQueries(database, project)
        self.upkeep = PostgresUpkeep(database, vital, project)
        self.listeners = PostgresListeners(database)
        self.deliveries = PostgresDeliveries(database)
        self._build_commands(database)
        self._bell = bell
        self._pools = pools

    def _build_commands(self, database: Database) -> None:
        """Build the ports whose changes are recorded with the actor of the database."""
        admitter = Admitter(database)
        self.orders = PostgresOrders(database, admitter, self._definitions, self._project)
        self.definitions = PostgresDefinitions(database, admitter, self._project)
        self.dsns = PostgresDsns(database)
        self.tokens = PostgresTokens(database)
        self.users = PostgresUsers(database)
        self.enrolments = PostgresEnrolments(database)
        self.requests = PostgresRequests(database)
        self.audit = PostgresAudit(database)

    def acting_as(self, actor: Actor) -> "PostgresStorage":
        acting = copy(self)
        acting.actor = actor
        acting._build_commands(self._database.acting_as(actor))
        return acting

    def signal(self, topic: Topic) -> asyncio.Event:
        return self._bell.signal(topic)

    def subscribe(self, *topics: Topic) -> AbstractContextManager[asyncio.Event]:
        return self._bell.subscribe(*topics)

    async def close(self) -> None:
        """Wait for running calls, then close all connections."""
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
    """Connect, bring the schema up to date, and listen. `listen_dsn` connects past a pooler, which cannot LISTEN.

    The wall time is the server's, not that of `clock`.

    Without `create` the schema is not changed, and a schema of another version is refused. The database itself is never
    created here.
    """
    place = parse_dsn(dsn, schema)
    listening = parse_dsn(listen_dsn or dsn, place.schema)
    check_files(place.options)
    check_files(listening.options)
    time = ServerClock(clock or SystemClock())
    try:
        await _prepare(place, time, create)
        pool = await retry(lambda: _pool(place, min_connections, max_connections), lambda _: True)
        vital = await _pool(place, 0, 1)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, ValueError) as error:
        raise refused_option(error, place.options) or translate(error, place.server) from error
    # A notification follows its commit, and need not be durable itself.
    bell = Bell(place.channel, lambda: _connect(listening, synchronous_commit="off"))
    database, vital_database = (Database(place, one, bell, faults, time) for one in (pool, vital))
    storage = PostgresStorage(database, vital_database, bell, (pool, vital), project, time)
    try:
        await bell.start()
    except BaseException:
        await storage.close()
        raise
    return storage


async def open_url(url: str, *, clock: Clock, faults: Faults, create: bool = True) -> PostgresStorage:
    """Open the database that a URL names."""
    return await open_postgres(url, clock=clock, faults=faults, create=create)


async def _prepare(place: Dsn, clock: ServerClock, create: bool) -> None:
    """Bring the schema up to date, or check its version, and read the server's time.

    Repeated if the connection was lost or the server is starting, but not if the server cannot be reached.
    """
    was_connected = False

    async def once() -> None:
        nonlocal was_connected
        connection = await _connect(place)
        was_connected = True
        preparing = asyncio.create_task(_bring_up_to_date(connection, place, clock, create))
        try:
            await asyncio.wait((preparing,))
            preparing.result()
        except asyncio.CancelledError:
            connection.terminate()  # rolling back or closing would wait for a server that may not respond
            await asyncio.gather(preparing, return_exceptions=True)
            raise
        finally:
            await connection.close(timeout=_CLOSE_TIMEOUT)

    await retry(once, lambda error: was_connected or isinstance(error, asyncpg.CannotConnectNowError))


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
    # The driver's reset discards the settings of the session, and these sessions have none.
    return await asyncpg.create_pool(place.url, min_size=least, max_size=most, reset=_no_reset, **_options(place))


async def _no_reset(connection: object) -> None:
    return


def _options(place: Dsn, **more_settings: str) -> dict[str, Any]:
    # Behind a pooler a session is shared: settings would affect others, or be lost.
    settings = {"application_name": SETTINGS["application_name"]} if place.is_pooled else {**SETTINGS, **more_settings}
    cache = {"statement_cache_size": 0} if place.is_pooled else {}
    return {"timeout": place.connect_timeout, "command_timeout": _COMMAND_TIMEOUT, "server_settings": settings, **cache}
