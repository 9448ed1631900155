"""The bare tables on PostgreSQL, with the statements that measured best."""

import asyncio
from collections.abc import Sequence

import asyncpg

from bench.calls import calls_per_second
from bench.contenders import ceiling
from bench.orders import Order, Result, obey_async

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, job text NOT NULL, args text NOT NULL
);
CREATE TABLE IF NOT EXISTS ready (queue smallint, prio smallint, id bigint, PRIMARY KEY (queue, prio, id));
CREATE TABLE IF NOT EXISTS leases (id bigint PRIMARY KEY, worker int, attempt smallint, started timestamptz);
CREATE TABLE IF NOT EXISTS outcomes (
    run_id bigint, attempt smallint, state text, worker int, started timestamptz, ended timestamptz,
    PRIMARY KEY (run_id, attempt)
);
"""
_ENQUEUE = """
WITH new AS (INSERT INTO runs (job, args) SELECT 'noop', unnest($1::text[]) RETURNING id)
INSERT INTO ready SELECT 0, 0, id FROM new
"""
_CLAIM = """
WITH picked AS (
    DELETE FROM ready WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ready WHERE queue = 0 ORDER BY prio, id LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING id
), leased AS (INSERT INTO leases SELECT id, 1, 1, now() FROM picked RETURNING id)
SELECT id, args FROM runs WHERE id = ANY (ARRAY(SELECT id FROM leased))
"""
_FINISH = """
WITH ended AS (DELETE FROM leases WHERE id = ANY ($1::bigint[]) AND worker = 1 RETURNING *)
INSERT INTO outcomes SELECT id, attempt, 'succeeded', worker, started, now() FROM ended
"""
_CHANNEL = "ready"


class PostgresRuns:
    """One connection per verb, so that a claim and a finish may run concurrently; the wake-up has its own."""

    def __init__(self, sessions: Sequence["asyncpg.Connection[asyncpg.Record]"]) -> None:
        self._enqueuing, self._claiming, self._finishing = sessions
        self.wake = asyncio.Event()

    @classmethod
    async def open(cls, dsn: str) -> "PostgresRuns":
        sessions = [await asyncpg.connect(dsn) for _ in range(3)]
        await sessions[0].execute(_SCHEMA)
        runs = cls(sessions)
        await sessions[1].add_listener(_CHANNEL, lambda *_: runs.wake.set())
        return runs

    async def enqueue(self, arguments: Sequence[str]) -> None:
        await self._enqueuing.execute(_ENQUEUE, arguments)

    async def announce(self) -> None:
        await self._enqueuing.execute(f"NOTIFY {_CHANNEL}")

    async def claim(self, limit: int) -> list[tuple[int, str]]:
        return [(row[0], row[1]) for row in await self._claiming.fetch(_CLAIM, limit)]

    async def finish(self, ids: Sequence[int]) -> None:
        await self._finishing.execute(_FINISH, ids)


class BatchedRuns:
    """Enqueues for many callers: one statement in flight, and requests that arrive meanwhile go into the next."""

    def __init__(self, runs: PostgresRuns) -> None:
        self._runs = runs
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self.wake = runs.wake
        self.claim = runs.claim
        self.finish = runs.finish
        self.announce = runs.announce

    async def enqueue(self, arguments: Sequence[str]) -> None:
        done = asyncio.get_running_loop().create_future()
        self._waiting += [(argument, done) for argument in arguments]
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        await done

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            await self._runs.enqueue([argument for argument, _ in batch])
            for _, done in batch:
                if not done.done():
                    done.set_result(None)
        self._writing = None


async def _open(order: Order) -> BatchedRuns:
    return BatchedRuns(await PostgresRuns.open(order.place))


async def _single(order: Order) -> Result:
    """Commit two rows with one statement, on one connection."""
    runs = await PostgresRuns.open(order.place)
    return {"single": await calls_per_second(order.seconds, lambda: runs.enqueue([""]))}


if __name__ == "__main__":
    obey_async({**ceiling.operations(_open), "single": _single})
