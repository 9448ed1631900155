"""The bare tables on SQLite."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import apsw

from bench.calls import plain_calls_per_second
from bench.contenders import ceiling
from bench.contenders.group_commit import Writer, connect
from bench.orders import Order, Result, obey_async

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, job TEXT NOT NULL, args TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ready (queue INT, prio INT, id INT, PRIMARY KEY (queue, prio, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leases (id INTEGER PRIMARY KEY, worker INT, attempt INT, started INT);
CREATE TABLE IF NOT EXISTS outcomes (
    run_id INT, attempt INT, state TEXT, worker INT, started INT, ended INT, PRIMARY KEY (run_id, attempt)
) WITHOUT ROWID;
"""
_PICK = """
SELECT ready.prio, runs.id, runs.args FROM ready JOIN runs USING (id) WHERE queue = 0 ORDER BY prio, ready.id LIMIT ?
"""
_END = """
INSERT INTO outcomes SELECT id, attempt, 'succeeded', worker, started, ?1 FROM leases WHERE id = ?2 AND worker = 1
"""


class SqliteRuns:
    """Claims lease with an attempt count; a finish moves the lease to an outcome."""

    def __init__(self, place: str, synchronous: str) -> None:
        db = connect(place, synchronous)
        db.execute(_SCHEMA)
        self._writer = Writer(db)
        self.wake = asyncio.Event()

    async def enqueue(self, arguments: Sequence[str]) -> None:
        await self._writer.do(lambda db: _enqueue(db, arguments))

    async def announce(self) -> None:
        self.wake.set()

    async def claim(self, limit: int) -> list[tuple[int, str]]:
        return await self._writer.do(lambda db: _claim(db, limit))

    async def finish(self, ids: Sequence[int]) -> None:
        await self._writer.do(lambda db: _finish(db, ids))


def _enqueue(db: apsw.Connection, arguments: Sequence[str]) -> None:
    first = (db.last_insert_rowid() if db.total_changes() else 0) + 1
    ids = range(first, first + len(arguments))
    db.executemany("INSERT INTO ready VALUES (0, 0, ?)", [(run_id,) for run_id in ids])
    db.executemany("INSERT INTO runs VALUES (?, 'noop', ?)", list(zip(ids, arguments, strict=True)))


def _claim(db: apsw.Connection, limit: int) -> list[tuple[int, str]]:
    picked: list[tuple[Any, ...]] = db.execute(_PICK, (limit,)).fetchall()
    now = time.time_ns()
    db.executemany("DELETE FROM ready WHERE queue = 0 AND prio = ? AND id = ?", [row[:2] for row in picked])
    db.executemany("INSERT INTO leases VALUES (?, 1, 1, ?)", [(row[1], now) for row in picked])
    return [(run_id, argument) for _, run_id, argument in picked]


def _finish(db: apsw.Connection, ids: Sequence[int]) -> None:
    now = time.time_ns()
    db.executemany(_END, [(now, run_id) for run_id in ids])
    db.executemany("DELETE FROM leases WHERE id = ? AND worker = 1", [(run_id,) for run_id in ids])


async def _open(order: Order) -> SqliteRuns:
    return SqliteRuns(order.place, order.synchronous)


async def _single(order: Order) -> Result:
    """Commit two rows, without a thread or a loop: no program can enqueue a run faster."""
    db = connect(order.place, order.synchronous)
    db.execute(_SCHEMA)

    def commit() -> None:
        db.execute("BEGIN IMMEDIATE")
        _enqueue(db, [""])
        db.execute("COMMIT")

    return {"single": plain_calls_per_second(order.seconds, commit)}


if __name__ == "__main__":
    obey_async({**ceiling.operations(_open), "single": _single})
