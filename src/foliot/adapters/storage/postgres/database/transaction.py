"""One database: connections, transactions, and what to do when they fail.

    snapshot(look)        BEGIN REPEATABLE READ, READ ONLY, look, COMMIT
    write(verb, work)     BEGIN, work, events, before_commit, COMMIT, after_commit, ring the bell
        is_single         work is one statement and notes no event: it needs no BEGIN, and no answer is waited for twice
        collision         once more, after a pause
        may only read     once more, in a session that is opened for it
        connection lost   once more; was the commit under way, `work` is told that it may find its own traces
        bad data          to the caller, who divides the batch
        cancelled         rolled back in a moment, or the connection is given up: whoever cancels is in a hurry

A transaction holds nothing but statements and small decisions; a server gives up on one that idles for five seconds.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import asyncpg

from foliot.adapters.storage.postgres.arrays import literal
from foliot.adapters.storage.postgres.bell import Bell
from foliot.adapters.storage.postgres.dsn import Dsn
from foliot.adapters.storage.postgres.impossible import without_impossible
from foliot.adapters.storage.postgres.persistence import persist
from foliot.adapters.storage.postgres.server_clock import ServerClock
from foliot.adapters.storage.postgres.statements import statements
from foliot.adapters.storage.postgres.trouble import BROKEN, READ_ONLY, is_bad_data, translate
from foliot.adapters.storage.shared.documents import encode
from foliot.adapters.storage.shared.event_items import Items
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
    # Every statement finds its rows by a key. A plan made while a table was empty must not read it whole later on.
    "enable_seqscan": "off",
    "jit": "off",
}
_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_BEGIN_SNAPSHOT: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_LAST_WORD: Final = 1.0
"""Seconds that a server has to end what was given up. After that it is taken for gone."""


class Transaction:
    """What `work` does its work with."""

    def __init__(
        self,
        connection: "asyncpg.pool.PoolConnectionProxy[Any]",
        schema: str,
        clock: ServerClock,
        *,
        is_repeat: bool,
    ) -> None:
        self.connection = connection
        self.clock = clock
        self._statements = statements(schema)
        self.is_repeat = is_repeat
        """The same work may have been saved already, by a commit whose answer was lost."""
        self.at = Instant(0)
        self.topics: set[Topic] = set()
        self.keys: set[str] = set()
        """Limits where a place became free, or where somebody began to wait."""
        self.events: list[tuple[EventKind, Items]] = []

    async def rows(self, name: str, *values: object) -> list[Any]:
        return await self.connection.fetch(self._statements[name], *_sent(values))

    async def column(self, name: str, *values: object) -> list[Any]:
        return [row[0] for row in await self.connection.fetch(self._statements[name], *_sent(values))]

    async def value(self, name: str, *values: object) -> Any:
        return await self.connection.fetchval(self._statements[name], *_sent(values))

    async def run(self, name: str, *values: object) -> None:
        await self.connection.execute(self._statements[name], *_sent(values))

    async def now(self, at: Instant | None) -> Instant:
        """The moment this transaction takes as now: the server's, unless one is given."""
        if at is None:
            asked = self.clock.elapsed()
            at = Instant(await self.value("now"))
            self.clock.learn(at, asked)
        self.at = at
        return at

    def note(self, kind: EventKind, items: Items) -> None:
        """Write an event with this transaction. Nothing happened, nothing is written."""
        if items:
            self.events.append((kind, items))

    async def save_events(self) -> None:
        if self.events:
            kinds = [kind.value for kind, _ in self.events]
            await self.run("add_events", self.at, kinds, [encode(items) for _, items in self.events])


def _sent(values: Iterable[object]) -> Iterator[object]:
    """What is given to the driver: arrays as text, except those of bytes."""
    return (literal(value) if isinstance(value, list) and not _are_bytes(value) else value for value in values)


def _are_bytes(values: list[object]) -> bool:
    return bool(values) and isinstance(values[0], bytes)


Work = Callable[[Transaction], Awaitable[T]]


class Snapshot:
    """One state of the database. Who asks by a text that no row can hold finds nothing."""

    def __init__(self, connection: "asyncpg.pool.PoolConnectionProxy[Any]", schema: str) -> None:
        self._connection = connection
        self._statements = statements(schema)

    async def rows(self, name: str, *values: object) -> list[Any]:
        # Looked at before they are sent: an error of the server would end the transaction.
        possible = without_impossible(values)
        return [] if possible is None else await self._connection.fetch(self._statements[name], *_sent(possible))


class Database:
    """Connections to one schema of one database, shared by all verbs."""

    def __init__(self, dsn: Dsn, pool: "asyncpg.Pool[Any]", bell: Bell, faults: Faults, clock: ServerClock) -> None:
        self.dsn = dsn
        self.clock = clock
        self._pool = pool
        self._bell = bell
        self._faults = faults
        self._statements = statements(dsn.schema)
        # Behind a transaction pooler a setting holds for one transaction, so each one brings its own.
        settings = "".join(f"; SET LOCAL {name} = '{value}'" for name, value in SETTINGS.items())
        self._settings = settings if dsn.is_pooled else ""
        self._begin = _BEGIN + self._settings

    async def rows(self, name: str, *values: object) -> list[Any]:
        """Read, outside any transaction of ours. Who asks by a text that no row can hold finds nothing."""
        try:
            return await self._read(name, values)
        except Unstorable:
            # Seldom, so that the many that ask for what may exist do not pay for it.
            possible = without_impossible(values)
            if possible == values:
                raise
            return [] if possible is None else await self._read(name, possible)

    async def _read(self, name: str, values: Sequence[object]) -> list[Any]:
        async def read() -> list[Any]:
            async with self._pool.acquire() as connection, _leaving_in_time(connection):
                return await connection.fetch(self._statements[name], *_sent(values))

        return await self._persist(read, lambda: True)

    async def value(self, name: str, *values: object) -> Any:
        found = await self.rows(name, *values)
        return found[0][0] if found else None

    async def snapshot(self, look: Callable[[Snapshot], Awaitable[T]]) -> T:
        """Read several things from one state of the database. After a failure `look` may be called again."""

        async def once() -> T:
            async with self._pool.acquire() as connection:
                try:
                    await connection.execute(_BEGIN_SNAPSHOT + self._settings)
                    answer = await look(Snapshot(connection, self.dsn.schema))
                    await connection.execute("COMMIT")
                except BaseException:
                    await _roll_back(connection)
                    raise
                return answer

        return await self._persist(once, lambda: True)

    async def now(self, at: Instant | None) -> Instant:
        if at is not None:
            return at
        asked = self.clock.elapsed()
        said = Instant(await self.value("now"))
        self.clock.learn(said, asked)
        return said

    async def write(
        self,
        verb: str,
        work: Work[T],
        *,
        is_single: bool = False,
        is_repeatable: bool = True,
        merge: Callable[[T, T], T] | None = None,
    ) -> T:
        """Do `work` in one transaction. `merge` joins the answer of a commit in doubt with that of its repetition.

        Single work is one statement, which is a transaction by itself; repeated, it may be more than one.
        """
        doubtful: list[T | None] = []

        async def once() -> T:
            # Behind a pooler the settings are those of a transaction that has begun.
            is_alone = is_single and not doubtful and not self.dsn.is_pooled
            return await self._once(verb, work, doubtful, is_alone)

        answer = await self._persist(once, lambda: is_repeatable or not doubtful)
        return merge(doubtful[0], answer) if merge and doubtful and doubtful[0] is not None else answer

    async def _once(self, verb: str, work: Work[T], doubtful: list[T | None], is_alone: bool) -> T:
        async with self._pool.acquire() as connection:
            transaction = Transaction(connection, self.dsn.schema, self.clock, is_repeat=bool(doubtful))
            do = self._at_once if is_alone else self._in_transaction
            answer = await do(verb, transaction, work, doubtful)
        self._faults(f"{verb}.after_commit")
        self._bell.ring(transaction.topics)
        return answer

    async def _in_transaction(self, verb: str, transaction: Transaction, work: Work[T], doubtful: list[T | None]) -> T:
        connection = transaction.connection
        try:
            await connection.execute(self._begin)
            answer = await work(transaction)
            await transaction.save_events()
            self._faults(f"{verb}.before_commit")
        except BaseException:
            await _roll_back(connection)
            raise
        await _commit(connection, lambda: doubtful.append(answer))
        return answer

    async def _at_once(self, verb: str, transaction: Transaction, work: Work[T], doubtful: list[T | None]) -> T:
        self._faults(f"{verb}.before_commit")
        try:
            async with _leaving_in_time(transaction.connection):
                return await work(transaction)
        except BROKEN:
            doubtful.append(None)
            raise

    async def _persist(self, once: Callable[[], Awaitable[T]], may_repeat: Callable[[], bool]) -> T:
        """Try, and try again where that can help."""

        async def once_more() -> T:
            try:
                return await once()
            except READ_ONLY:
                await self._pool.expire_connections()
                raise

        try:
            return await persist(once_more, lambda _: may_repeat())
        except (asyncpg.PostgresError, *BROKEN, ValueError) as error:
            if is_bad_data(error):
                raise Unstorable(error) from error
            raise translate(error, self.dsn.server) from error


async def divide(items: Sequence[S], save: Callable[[Sequence[S]], Awaitable[list[T]]]) -> list[T]:
    """Save a batch; an item that cannot be stored is left out, whatever it takes to find it."""
    try:
        return await save(items)
    except Unstorable:
        if len(items) == 1:
            return []
    half = len(items) // 2
    return await divide(items[:half], save) + await divide(items[half:], save)


def merge_lists(first: tuple[list[S], set[str]], second: tuple[list[S], set[str]]) -> tuple[list[S], set[str]]:
    """For `write`: what the first try did, the second one finds done. The sets are keys that became free."""
    return list(dict.fromkeys(first[0] + second[0])), first[1] | second[1]


async def _commit(connection: "asyncpg.pool.PoolConnectionProxy[Any]", doubt: Callable[[], None]) -> None:
    try:
        async with _leaving_in_time(connection):
            await connection.execute("COMMIT")
    except BROKEN:
        doubt()
        raise


@asynccontextmanager
async def _leaving_in_time(connection: "asyncpg.pool.PoolConnectionProxy[Any]") -> AsyncIterator[None]:
    """Who is cancelled inside leaves soon: the pool would wait until the server says that it has stopped."""
    try:
        yield
    except asyncio.CancelledError:
        await _roll_back(connection)
        raise


async def _roll_back(connection: "asyncpg.pool.PoolConnectionProxy[Any]") -> None:
    if connection.is_closed():
        return
    try:
        async with asyncio.timeout(_LAST_WORD):
            await connection.execute("ROLLBACK")
    except BaseException as error:
        connection.terminate()  # the server rolls back by itself when it notices
        if not isinstance(error, (asyncpg.PostgresError, *BROKEN)):
            raise
