"""The bare schedule table on PostgreSQL, 1,000 per transaction."""

import asyncio
import time

import asyncpg

from bench.orders import Order, Result, obey

BATCH = 1_000
HOUR = 3_600_000
_SCHEMA = """
CREATE TABLE schedules (id bigint PRIMARY KEY, next_due bigint NOT NULL, step bigint NOT NULL, spec text NOT NULL);
CREATE INDEX schedules_by_due ON schedules (next_due);
CREATE TABLE runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, schedule bigint NOT NULL, due bigint NOT NULL,
    UNIQUE (schedule, due)
);
CREATE TABLE ready (queue smallint, prio smallint, id bigint, PRIMARY KEY (queue, prio, id));
"""
_ADD = "INSERT INTO schedules SELECT number, $2, $3, 'noop' FROM unnest($1::bigint[]) AS number"
_PEEK = "SELECT min(next_due) FROM schedules"
_DUE = "SELECT id, next_due, step FROM schedules WHERE next_due <= $1 ORDER BY next_due LIMIT $2 FOR UPDATE SKIP LOCKED"
_CREATE = """
WITH new AS (
    INSERT INTO runs (schedule, due) SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING
    RETURNING id)
INSERT INTO ready SELECT 0, 0, id FROM new
"""
_MOVE = "UPDATE schedules SET next_due = next_due + step WHERE id = ANY ($1::bigint[])"


async def _hold(order: Order) -> Result:
    db = await asyncpg.connect(order.place)
    await db.execute(_SCHEMA)
    due = int(order.due_at * 1000)
    began = time.monotonic()
    for start in range(0, order.count, BATCH):
        await db.execute(_ADD, range(start, min(start + BATCH, order.count)), due, HOUR)
    return {"add": order.count / (time.monotonic() - began)}


async def _schedule(order: Order) -> None:
    """Sleep until a schedule is due, fire it, for ever."""
    db = await asyncpg.connect(order.place)
    while True:
        due = await db.fetchval(_PEEK)
        await asyncio.sleep(max(0.0, due / 1000 - time.time()) if due else 3600.0)
        while await _fire(db, int(time.time() * 1000)):
            pass


async def _fire(db: "asyncpg.Connection[asyncpg.Record]", now: int) -> int:
    async with db.transaction():
        rows = await db.fetch(_DUE, now, BATCH)
        schedules, dues = [row[0] for row in rows], [row[1] for row in rows]
        await db.execute(_CREATE, schedules, dues)
        await db.execute(_MOVE, schedules)
        return len(rows)


async def _peek(order: Order) -> Result:
    db = await asyncpg.connect(order.place)
    began = time.monotonic()
    for _ in range(1_000):
        await db.fetchval(_PEEK)
    return {"peek": (time.monotonic() - began) * 1000}


if __name__ == "__main__":
    obey(
        {
            "hold": lambda order: asyncio.run(_hold(order)),
            "schedule": lambda order: asyncio.run(_schedule(order)),
            "peek": lambda order: asyncio.run(_peek(order)),
        }
    )
