"""One connection to a database file, and the few ways in which verbs talk to it."""

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from foliot.adapters.storage.sqlite.fetching import Row as Row
from foliot.adapters.storage.sqlite.fetching import Values as Values
from foliot.adapters.storage.sqlite.fetching import fetch_all

STATEMENTS_KEPT: Final = 256
_PATIENCE: Final = 1_000
"""How often a lock is asked for before giving up: about five seconds."""
_NAP: Final = 0.0005
_LONGEST_NAP: Final = 0.005
_CHECKPOINT: Final = 4_000
"""After how many pages (16 MB) the log is copied into the file: a burst is not held up by it again and again."""


class Session:
    """Statements in, rows out. The SQL comes from .sql files, values are always bound."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        return fetch_all(self._connection, sql, values)

    def row(self, sql: str, values: Values = ()) -> Row | None:
        """The first row, if there is one."""
        found = fetch_all(self._connection, sql, values)
        return found[0] if found else None

    def value(self, sql: str, values: Values = ()) -> Any:
        """The first column of the first row, or None."""
        found = self.row(sql, values)
        return found[0] if found else None

    def run(self, sql: str, values: Values = ()) -> int:
        """Do it, and say how many rows changed."""
        self._connection.execute(sql, values)
        return self._connection.changes()

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Do it once for each row of values, and say how many rows changed."""
        before = self._connection.total_changes()
        self._connection.executemany(sql, rows)
        return self._connection.total_changes() - before

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """What happens inside is undone as a whole when it raises."""
        self._connection.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK TO part; RELEASE part")
            raise
        self._connection.execute("RELEASE part")

    @contextmanager
    def snapshot(self) -> Iterator["Session"]:
        """All reads inside see one state of the database."""
        self._connection.execute("BEGIN")
        try:
            yield self
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def connect(path: Path, *, synchronous: str, cache_kib: int) -> apsw.Connection:
    """Open an existing file. Locks of other processes are waited for."""
    # No mutex: whoever opens a connection sees to it that one thread at a time uses it, and a lock a call is dear.
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOMUTEX
    connection = apsw.Connection(str(path), flags=flags, statementcachesize=STATEMENTS_KEPT)
    connection.set_busy_handler(wait_for_lock)
    connection.pragma("synchronous", synchronous)
    connection.pragma("cache_size", -cache_kib)
    connection.pragma("temp_store", "memory")
    connection.wal_autocheckpoint(_CHECKPOINT)
    connection.pragma("trusted_schema", 0)
    return connection


def wait_for_lock(asked: int) -> bool:
    """Ask again soon: SQLite's own waiting grows to 100 ms, while the lock is free for 1 ms between two commits."""
    if asked > _PATIENCE:
        return False
    jitter = random.random()  # noqa: S311  (spreads processes that wait for one lock; no secret)
    time.sleep(min(_NAP * (1 + asked / 10), _LONGEST_NAP) * (0.5 + jitter))
    return True
