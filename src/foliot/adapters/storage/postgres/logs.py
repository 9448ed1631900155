"""What runs print, in a PostgreSQL storage."""

from collections.abc import Sequence
from functools import partial

from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.database import Database, Snapshot, Transaction, divide
from foliot.adapters.storage.shared.run_rows import chunks_of, kept_from, summary_of
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.run.logs import LogChunk
from foliot.ports.queries import LogSummary


class PostgresLogs:
    """Fills `ports.logs.LogStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, chunks: Sequence[LogChunk]) -> list[Token]:
        return await append_chunks(self._database, chunks)

    async def read(
        self, run_id: RunId, *, after: tuple[Token, int] | None = None, limit: int = 1_000
    ) -> list[LogChunk]:
        token, seq = after or (-1, -1)
        return chunks_of(await self._database.rows("read_logs", run_id, token, seq, limit))

    async def tail(self, run_id: RunId, *, limit: int) -> list[LogChunk]:
        return chunks_of(reversed(await self._database.rows("last_logs", run_id, limit)))

    async def summary(self, run_id: RunId, token: Token | None) -> LogSummary:
        async def look(snapshot: Snapshot) -> LogSummary:
            first = [] if token is None else await snapshot.rows("read_logs", run_id, token, -1, 1)
            last = await snapshot.rows("last_logs", run_id, 1)
            return summary_of(await snapshot.rows("log_starts", run_id), first, last, token)

        return await self._database.snapshot(look)

    async def kept_from(self) -> Instant | None:
        return kept_from(await self._database.value("logs_kept_from"))


async def append_chunks(database: Database, chunks: Sequence[LogChunk]) -> list[Token]:
    """Save the chunks of current leases, and return the tokens of the others."""

    async def save(some: Sequence[LogChunk]) -> list[tuple[Token, int]]:
        return await database.write("append", partial(_append, chunks=some))

    saved = set(await divide(chunks, save)) if chunks else set()
    return list(dict.fromkeys(chunk.token for chunk in chunks if (chunk.token, chunk.seq) not in saved))


async def _append(transaction: Transaction, *, chunks: Sequence[LogChunk]) -> list[tuple[Token, int]]:
    run_ids = sorted({chunk.run_id for chunk in chunks})
    current = dict(await transaction.rows("current_tokens", run_ids))
    kept = [chunk for chunk in chunks if current.get(chunk.token) == chunk.run_id]
    if kept:
        await transaction.run("append_logs", *columns(kept))
    return [(chunk.token, chunk.seq) for chunk in kept]
