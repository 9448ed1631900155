"""The verbs about logs, in a file of their own that is opened when the first line comes."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import Final, TypeVar

from foliot.adapters.storage.shared.documents import encode, encode_names
from foliot.adapters.storage.shared.pruning import Place
from foliot.adapters.storage.shared.run_rows import chunks_of, kept_from, summary_of
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Row, Session
from foliot.adapters.storage.sqlite.reader import Reader
from foliot.adapters.storage.sqlite.writer import Writer
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.run.logs import LogChunk
from foliot.errors import StorageMissing
from foliot.ports.queries import LogSummary

T = TypeVar("T")

SQL: Final = load_queries(Path(__file__).parent / "sql" / "logs.sql")
_BEFORE_ALL: Final = (-1, -1)


class LogFile:
    """Writer and reader of the log file."""

    def __init__(self, writer: Writer, reader: Reader) -> None:
        self.writer = writer
        self.reader = reader

    async def close(self) -> None:
        await self.reader.close()
        await self.writer.close()


class SqliteLogs:
    """Fills `ports.logs.LogStore`."""

    def __init__(self, main: Reader, open_file: Callable[[], Awaitable[LogFile]]) -> None:
        self._main = main
        self._open_file = open_file
        self._opened: LogFile | None = None
        self._opening = asyncio.Lock()

    async def append(self, chunks: Sequence[LogChunk]) -> list[Token]:
        tokens = {chunk.token for chunk in chunks}
        current = await self._main.read(lambda session: _current(session, tokens))
        fresh = [chunk for chunk in chunks if current.get(chunk.token) == chunk.run_id]
        if fresh:
            await (await self._file()).writer.submit("append", lambda tx: tx.run_many(SQL["append_chunks"], fresh))
        stale = [chunk.token for chunk in chunks if current.get(chunk.token) != chunk.run_id]
        return list(dict.fromkeys(stale))

    async def read(
        self, run_id: RunId, *, after: tuple[Token, int] | None = None, limit: int = 1_000
    ) -> list[LogChunk]:
        values = (run_id, *(after or _BEFORE_ALL), limit)
        return chunks_of(await self._rows(SQL["read_chunks"], values))

    async def tail(self, run_id: RunId, *, limit: int) -> list[LogChunk]:
        return chunks_of(reversed(await self._rows(SQL["last_chunks"], (run_id, limit))))

    async def summary(self, run_id: RunId, token: Token | None) -> LogSummary:
        def look(session: Session) -> LogSummary:
            first = () if token is None else session.rows(SQL["read_chunks"], (run_id, token, -1, 1))
            last = session.rows(SQL["last_chunks"], (run_id, 1))
            return summary_of(session.rows(SQL["log_starts"], (run_id,)), first, last, token)

        return await self._look(look, LogSummary([], None, None))

    async def kept_from(self) -> Instant | None:
        return kept_from(await self._main.read(lambda session: session.value(SQL["logs_kept_from"])))

    async def prune(
        self, removed: Collection[RunId], before: Instant | None, place: Place | None, limit: int
    ) -> tuple[int, Place | None]:
        """Remove the chunks of removed runs, and those older than `before` of runs that are over, if there is a place
        to go on from. The next one comes back: None at the end."""
        old, following = ([], None) if before is None or place is None else await self._old(before, place, limit)

        def work(tx: Transaction) -> int:
            of_runs = tx.run(SQL["remove_chunks_of_runs"], (encode_names(removed),)) if removed else 0
            return of_runs + (tx.run(SQL["remove_chunks"], (encode(old),)) if old else 0)

        return await (await self._file()).writer.submit("prune_logs", work), following

    async def _old(self, before: Instant, place: Place, limit: int) -> tuple[list[int], Place | None]:
        """Chunks are walked in the order they were written: up to `limit` of them."""
        values = (place or 0, limit)
        rows = await (await self._file()).reader.read(lambda session: session.rows(SQL["walk_chunks"], values))
        old = [(rowid, run_id) for rowid, run_id, at in rows if at < before]
        run_ids = encode_names({run_id for _, run_id in old})
        unfinished = await self._main.read(
            lambda session: {run_id for (run_id,) in session.rows(SQL["unfinished_runs"], (run_ids,))}
        )
        following = rows[-1][0] if len(rows) == limit and rows[-1][2] < before else None
        return [rowid for rowid, run_id in old if run_id not in unfinished], following

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _rows(self, sql: str, values: Sequence[object]) -> list[Row]:
        return await self._look(lambda session: session.rows(sql, values), [])

    async def _look(self, look: Callable[[Session], T], nothing: T) -> T:
        try:
            reader = (await self._file()).reader
        except StorageMissing:
            return nothing  # a reader creates no file, and no run has printed a line so far
        return await reader.read(look)

    async def _file(self) -> LogFile:
        async with self._opening:
            if self._opened is None:
                self._opened = await self._open_file()
            return self._opened


def _current(session: Session, tokens: Collection[Token]) -> dict[Token, RunId]:
    return {
        Token(token): RunId(run_id) for token, run_id in session.rows(SQL["current_tokens"], (encode(list(tokens)),))
    }
