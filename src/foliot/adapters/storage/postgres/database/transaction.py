"""One database: connections and transactions, and how failures are handled.

    snapshot(read)        BEGIN REPEATABLE READ, READ ONLY, read, COMMIT
    write(verb, work)     BEGIN, work, events, before_commit, COMMIT, after_commit, ring the bell
        is_single         work is one statement and notes no event: it needs no BEGIN, and one round trip is enough
        collision         repeated, after a pause
        read-only         repeated, in a new session
        connection lost   repeated; if the commit was in progress, `Transaction.is_repeat` is set
        bad data          `Unstorable` for the caller, which divides the batch
        cancelled         rolled back within a second, or else the connection is closed

A transaction contains only statements and short decisions; the server ends one that is idle for five seconds.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from copy import copy
from typing import Any, Final, TypeVar

import asyncpg

from foliot.adapters.storage.postgres.database.bell import Bell
from foliot.adapters.storage.postgres.database.dsn import Dsn
from foliot.adapters.storage.postgres.database.errors import BROKEN, READ_ONLY, is_bad_data, retry, translate
from foliot.adapters.storage.postgres.database.schema import statements
from foliot.adapters.storage.postgres.database.server_clock import ServerClock
from foliot.adapters.storage.postgres.database.values import columns, literal, without_unstorable
from foliot.adapters.storage.shared.audit_rows import audit_row
from foliot.adapters.storage.shared.documents import encode
from foliot.adapters.storage.shared.event_items import Items
from foliot.domain.access.actor import SYSTEM, Actor
from foliot.domain.access.trail import ChangeRecord
from foliot.domain.events import EventKind
from foliot.domain.instant import Instant
from foliot.errors import Unstorable
from foliot.ports.topic import Topic

S = TypeVar("S")
T = TypeVar("T")
Faults = Callable[[str], None]

SETTINGS: Final = {
    "application_name": "foliot",
    "idle_in_transaction_session_timeout": "5000",
    "lock_timeout": "10000",
    "statement_timeout": "60000",
    # Every statement finds its rows by a key. A plan made while a table was empty must not scan it later on.
    "enable_seqscan": "off",
    "jit": "off",
}
_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_BEGIN_SNAPSHOT: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_ROLLBACK_TIMEOUT: Final = 1.0
"""Seconds that the server has to roll back. After that the connection is closed."""


class Transaction:
    """Statements of one transaction, and what follows after its commit."""

    def __init__(
        self,
        connection: "asyncpg.pool.PoolConnectionProxy[Any]",
        schema: str,
        clock: ServerClock,
        *,
        is_repeat: bool,
        actor: Actor = SYSTEM,
    ) -> None:
        self.connection = connection
        self.clock = clock
        self.actor = actor
        self._statements = statements(schema)
        self.is_repeat = is_repeat
        """The same work may have been saved before, by a commit with a lost reply."""
        self.at = Instant(0)
        self.topics: set[Topic] = set()
        self.keys: set[str] = set()
        """Limits where a place became free, or where a run began to wait."""
        self.events: list[tuple[EventKind, Items]] = []
        self.changes: list[ChangeRecord] = []

    async def rows(self, name: str, *values: object) -> list[Any]:
        return await self.connection.fetch(self._statements[name], *_sent(values))

    async def column(self, name: str, *values: object) -> list[Any]:
        return [row[0] for row in await self.connection.fetch(self._statements[name], *_sent(values))]

    async def value(self, name: str, *values: object) -> Any:
        return await self.connection.fetchval(self._statements[name], *_sent(values))

    async def run(self, name: str, *values: object) -> None:
        await self.connection.execute(self._statements[name], *_sent(values))

    async def now(self, at: Instant | None) -> Instant:
        """Return the current time of this transaction: the server's, unless one is given."""
        if at is None:
            asked = self.clock.elapsed()
            at = Instant(await self.value("now"))
            self.clock.learn(at, asked)
        self.at = at
        return at

    def add_event(self, kind: EventKind, items: Items) -> None:
        """Save an event with this transaction, if it has items."""
        if items:
            self.events.append((kind, items))
            self.topics.add(Topic.EVENTS)

    def record(self, changes: Iterable[ChangeRecord]) -> None:
        """Save changes in the audit trail with this transaction, with its actor."""
        self.changes.extend(changes)

    async def save_events(self) -> None:
        """Save the events and the entries of the audit trail."""
        if self.changes:
            now = self.at or await self.now(None)
            await self.run("add_audit", *columns(audit_row(now, self.actor, change) for change in self.changes))
        if self.events:
            kinds = [kind.value for kind, _ in self.events]
            await self.run("add_events", self.at, kinds, [encode(items) for _, items in self.events])


def _sent(values: Iterable[object]) -> Iterator[object]:
    """Return the values for the driver: arrays as text, except arrays of bytes."""
    return (
        literal(value) if isinstance(value, list) and not (value and isinstance(value[0], bytes)) else value
        for value in values
    )


WriteFunction = Callable[[Transaction], Awaitable[T]]


class Snapshot:
    """A consistent read of the database. A text that PostgreSQL cannot store matches no row."""

    def __init__(self, connection: "asyncpg.pool.PoolConnectionProxy[Any]", schema: str) -> None:
        self._connection = connection
        self._statements = statements(schema)

    async def rows(self, name: str, *values: object) -> list[Any]:
        # Checked before sending: an error of the server would end the transaction.
        possible = without_unstorable(values)
        return [] if possible is None else await self._connection.fetch(self._statements[name], *_sent(possible))


class Database:
    """Connections to one schema of one database, shared by all verbs."""

    def __init__(self, dsn: Dsn, pool: "asyncpg.Pool[Any]", bell: Bell, faults: Faults, clock: ServerClock) -> None:
        self.dsn = dsn
        self.clock = clock
        self.actor = SYSTEM
        self._pool = pool
        self._bell = bell
        self._faults = faults
        self._statements = statements(dsn.schema)
        # Behind a transaction pooler a setting lasts for one transaction, so each one sets its own.
        settings = "".join(f"; SET LOCAL {name} = '{value}'" for name, value in SETTINGS.items())
        self._settings = settings if dsn.is_pooled else ""
        self._begin = _BEGIN + self._settings

    def acting_as(self, actor: Actor) -> "Database":
        """Return the same database, with transactions in the name of an actor."""
        acting = copy(self)
        acting.actor = actor
        return acting

    async def rows(self, name: str, *values: object) -> list[Any]:
        """Read rows without a transaction. A text that PostgreSQL cannot store matches no row."""
        try:
            return await self._fetch(name, values)
        except Unstorable:
            # Checked only after a failure, which is rare.
            possible = without_unstorable(values)
            if possible == values:
                raise
            return [] if possible is None else await self._fetch(name, possible)

    async def _fetch(self, name: str, values: Sequence[object]) -> list[Any]:
        async def once() -> list[Any]:
            async with self._pool.acquire() as connection, _rolled_back_if_cancelled(connection):
                return await connection.fetch(self._statements[name], *_sent(values))

        return await self._retry(once, lambda: True)

    async def value(self, name: str, *values: object) -> Any:
        found = await self.rows(name, *values)
        return found[0][0] if found else None

    async def snapshot(self, read: Callable[[Snapshot], Awaitable[T]]) -> T:
        """Read several things in one snapshot. After a failure `read` may be called again."""

        async def once() -> T:
            async with self._pool.acquire() as connection:
                try:
                    await connection.execute(_BEGIN_SNAPSHOT + self._settings)
                    answer = await read(Snapshot(connection, self.dsn.schema))
                    await connection.execute("COMMIT")
                except BaseException:
                    await _roll_back(connection)
                    raise
                return answer

        return await self._retry(once, lambda: True)

    async def now(self, at: Instant | None) -> Instant:
        if at is not None:
            return at
        asked = self.clock.elapsed()
        server_time = Instant(await self.value("now"))
        self.clock.learn(server_time, asked)
        return server_time

    async def write(
        self,
        verb: str,
        work: WriteFunction[T],
        *,
        is_single: bool = False,
        is_repeatable: bool = True,
        merge: Callable[[T, T], T] | None = None,
    ) -> T:
        """Execute `work` in one transaction. `merge` joins the answers of a commit with a lost reply and of its repeat.

        Single work is one statement, which is a transaction by itself; if repeated, it may be more than one.
        """
        doubtful: list[T | None] = []

        async def once() -> T:
            # Behind a pooler a statement needs a transaction, which sets the settings.
            is_alone = is_single and not doubtful and not self.dsn.is_pooled
            return await self._once(verb, work, doubtful, is_alone)

        answer = await self._retry(once, lambda: is_repeatable or not doubtful)
        return merge(doubtful[0], answer) if merge and doubtful and doubtful[0] is not None else answer

    async def _once(self, verb: str, work: WriteFunction[T], doubtful: list[T | None], is_alone: bool) -> T:
        async with self._pool.acquire() as connection:
            is_repeat = bool(doubtful)
            transaction = Transaction(connection, self.dsn.schema, self.clock, is_repeat=is_repeat, actor=self.actor)
            do = self._at_once if is_alone else self._in_transaction
            answer = await do(verb, transaction, work, doubtful)
        self._faults(f"{verb}.after_commit")
        self._bell.ring(transaction.topics)
        return answer

    async def _in_transaction(
        self, verb: str, transaction: Transaction, work: WriteFunction[T], doubtful: list[T | None]
    ) -> T:
        connection = transaction.connection
        try:
            await connection.execute(self._begin)
            answer = await work(transaction)
            await transaction.save_events()
            self._faults(f"{verb}.before_commit")
        except BaseException:
            await _roll_back(connection)
            raise
        try:
            async with _rolled_back_if_cancelled(connection):
                await connection.execute("COMMIT")
        except BROKEN:
            doubtful.append(answer)
            raise
        return answer

    async def _at_once(
        self, verb: str, transaction: Transaction, work: WriteFunction[T], doubtful: list[T | None]
    ) -> T:
        self._faults(f"{verb}.before_commit")
        try:
            async with _rolled_back_if_cancelled(transaction.connection):
                return await work(transaction)
        except BROKEN:
            doubtful.append(None)
            raise

    async def _retry(self, once: Callable[[], Awaitable[T]], may_repeat: Callable[[], bool]) -> T:
        async def once_in_new_session() -> T:
            try:
                return await once()
            except READ_ONLY:
                await self._pool.expire_connections()
                raise

        try:
            return await retry(once_in_new_session, lambda _: may_repeat())
        except (asyncpg.PostgresError, *BROKEN, ValueError) as error:
            if is_bad_data(error):
                raise Unstorable(error) from error
            raise translate(error, self.dsn.server) from error


async def divide(items: Sequence[S], save: Callable[[Sequence[S]], Awaitable[list[T]]]) -> list[T]:
    """Save a batch. An item that cannot be stored is found by halving the batch, and left out."""
    try:
        return await save(items)
    except Unstorable:
        if len(items) == 1:
            return []
    half = len(items) // 2
    return await divide(items[:half], save) + await divide(items[half:], save)


def merge_lists(first: list[S], second: list[S]) -> list[S]:
    """Join the answers of two tries, for `write`: the second one finds the work of the first one done."""
    return list(dict.fromkeys(first + second))


@asynccontextmanager
async def _rolled_back_if_cancelled(connection: "asyncpg.pool.PoolConnectionProxy[Any]") -> AsyncIterator[None]:
    """Roll back soon when cancelled: the pool would wait until the server has stopped the statement."""
    try:
        yield
    except asyncio.CancelledError:
        await _roll_back(connection)
        raise


async def _roll_back(connection: "asyncpg.pool.PoolConnectionProxy[Any]") -> None:
    if connection.is_closed():
        return
    try:
        async with asyncio.timeout(_ROLLBACK_TIMEOUT):
            await connection.execute("ROLLBACK")
    except BaseException as error:
        connection.terminate()  # then the server rolls back
        if not isinstance(error, (asyncpg.PostgresError, *BROKEN)):
            raise
