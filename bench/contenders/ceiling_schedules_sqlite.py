"""The bare schedule table on SQLite: read due schedules, insert a run for each, advance them; 1,000 per transaction."""

import time
from collections.abc import Sequence
from typing import Any

import apsw

from bench.contenders.group_commit import connect
from bench.orders import Order, Result, obey

Row = tuple[Any, ...]

BATCH = 1_000
HOUR = 3_600_000
_SCHEMA = """
CREATE TABLE schedules (id INTEGER PRIMARY KEY, next_due INT NOT NULL, step INT NOT NULL, spec TEXT NOT NULL);
CREATE INDEX schedules_by_due ON schedules (next_due);
CREATE TABLE runs (id INTEGER PRIMARY KEY, schedule INT NOT NULL, due INT NOT NULL, UNIQUE (schedule, due));
CREATE TABLE ready (queue INT, prio INT, id INT, PRIMARY KEY (queue, prio, id)) WITHOUT ROWID;
"""
_PEEK = "SELECT min(next_due) FROM schedules"


def _hold(order: Order) -> Result:
    db = connect(order.place, order.synchronous)
    db.execute(_SCHEMA)
    due = int(order.due_at * 1000)
    began = time.monotonic()
    for start in range(0, order.count, BATCH):
        numbers = range(start, min(start + BATCH, order.count))
        with db:
            db.executemany("INSERT INTO schedules VALUES (?, ?, ?, 'noop')", [(n, due, HOUR) for n in numbers])
    return {"add": order.count / (time.monotonic() - began)}


def _schedule(order: Order) -> None:
    """Sleep until a schedule is due, fire it, for ever."""
    db = connect(order.place, order.synchronous)
    while True:
        (due,) = db.execute(_PEEK).fetchone() or (None,)
        time.sleep(max(0.0, due / 1000 - time.time()) if due else 3600.0)
        while rows := _due(db, int(time.time() * 1000)):
            _fire(db, rows)


def _due(db: apsw.Connection, now: int) -> list[Row]:
    query = "SELECT id, next_due, step FROM schedules WHERE next_due <= ? ORDER BY next_due LIMIT ?"
    return db.execute(query, (now, BATCH)).fetchall()


def _fire(db: apsw.Connection, rows: Sequence[Row]) -> None:
    with db:
        for schedule, due, _ in rows:
            db.execute("INSERT INTO runs (schedule, due) VALUES (?, ?) ON CONFLICT DO NOTHING", (schedule, due))
            db.execute("INSERT INTO ready VALUES (0, 0, ?)", (db.last_insert_rowid(),))
        moved = [(due + step, schedule) for schedule, due, step in rows]
        db.executemany("UPDATE schedules SET next_due = ? WHERE id = ?", moved)


def _peek(order: Order) -> Result:
    db = connect(order.place, order.synchronous)
    began = time.monotonic()
    for _ in range(1_000):
        db.execute(_PEEK).fetchone()
    return {"peek": (time.monotonic() - began) * 1000}


if __name__ == "__main__":
    obey({"hold": _hold, "schedule": _schedule, "peek": _peek})
