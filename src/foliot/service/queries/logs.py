"""Reads the output of runs: all of it, its end, or continuously.

Only the storage is read, so following a run continues when its server or its worker restarts.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.run.logs import (
    LogChunk,
    LogEnd,
    LogState,
    Stream,
    cut_line,
    given_back_line,
    log_end,
    read_closing,
)
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import BEGUN, AttemptRecord, Run
from foliot.errors import NotFound, OutputLost, OutputPruned, OutputTruncated, OutputUnavailable, OutputUnfinished
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.service.event_reader import EventReader

_PAGE: Final = 1_000
_LAST_SEQ: Final = (1 << 63) - 1
"""A position after all output of an attempt."""
_LAST_TOKEN: Final = Token(_LAST_SEQ)
"""A token after all starts of a run."""
_REFUSALS: Final[Mapping[LogState, tuple[type[OutputUnavailable], str, str]]] = {
    LogState.TRUNCATED: (
        OutputTruncated,
        "is not kept whole",
        "Raise the job's output_cap, or let it write large results to a file.",
    ),
    LogState.WORKER_LOST: (OutputLost, "was cut off when its worker was lost", "Run it again: foliot retry RUN."),
    LogState.PRUNED: (OutputPruned, "has been removed", "Raise retention for logs, or run it again: foliot retry RUN."),
    LogState.OPEN: (OutputUnfinished, "is not complete yet", "Read it again when the run has ended."),
}

Cursor = tuple[int, int]
"""A position in the log of a run, after the piece that has this cursor."""


class LogView(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the output of a run. `data` are the bytes as they were printed."""

    run_id: str
    attempt: int
    at: datetime
    stream: Stream
    data: bytes
    cursor: Cursor
    is_closing: bool = False
    """Whether it is the line with which Foliot closes the log of an attempt."""

    @property
    def token(self) -> int:
        """The start that printed it. An attempt that was given back starts again with its number and a new token."""
        return self.cursor[0]

    @property
    def text(self) -> str:
        """The data as text. Bytes that are not UTF-8 are escaped."""
        return self.data.decode("utf-8", "backslashreplace")


class LogTail(NamedTuple):
    """The last pieces of a log, and how it ends."""

    pieces: list[LogView]
    end: LogEnd


class LogDigest(NamedTuple):
    """How the log of a run ends."""

    end: LogEnd
    given_back: int
    """How many starts with output were given back."""


class Logs:
    """Reads the logs of runs."""

    def __init__(self, storage: Storage, events: EventReader) -> None:
        self._storage = storage
        self._events = events

    async def follow(self, run_id: str, after: Cursor | None = None) -> AsyncGenerator[LogView | LogEnd, None]:
        """Yield the output of all attempts of a run until it has ended; the last item is the end of the log.

        `after` is the cursor of the last piece that the caller has.
        """
        run = await self.run(run_id)
        pieces = Pieces(self._storage, run.id, after)
        async for piece in pieces.new(run):
            yield piece
        if not run.status.is_terminal:
            async with self._events.watching([run.id], Topic.LOGS) as watch:
                while not run.status.is_terminal:
                    watch.clear()
                    # The run is read before its log: if it has ended, all its output is in the log.
                    found = await self._storage.queries.get_runs([run.id])
                    if run.id not in found:
                        yield LogEnd(LogState.PRUNED)
                        return
                    run = found[run.id]
                    async for piece in pieces.new(run):
                        yield piece
                    if not run.status.is_terminal:
                        await watch.wait()
        yield await self.end(run)

    async def read(self, run_id: str, after: Cursor | None = None) -> AsyncIterator[LogView | LogEnd]:
        """Yield the output of a run so far; the last item is the end of the log, `open` if more may follow."""
        run = await self.run(run_id)
        async for piece in Pieces(self._storage, run.id, after).new(run):
            yield piece
        yield await self.end(run)

    async def tail(self, run_id: str, pieces: int = 100) -> LogTail:
        """Return the last pieces of the output so far."""
        run = await self.run(run_id)
        chunks = await self._storage.queries.tail_log(run.id, limit=pieces)
        starts = _Starts(await self._storage.queries.attempts(run.id))
        first = (chunks[0].token, chunks[0].seq - 1) if chunks else None
        views = [*_views(chunks, starts, first)]
        last = views[-1].cursor if views else None
        return LogTail([*views, *starts.cuts_before(run, last)], await self.end(run))

    async def summary(self, run: Run, attempts: Sequence[AttemptRecord], kept_from: Instant | None) -> LogDigest:
        """Return how the log of a run ends, with one read of the log."""
        token = attempts[-1].token if attempts else None
        found = await self._storage.queries.log_summary(run.id, token)
        known = {record.token for record in attempts}
        if run.status in BEGUN and run.token is not None:
            known.add(run.token)
        given_back = sum(start not in known for start in found.starts)
        if not run.status.is_terminal:
            return LogDigest(LogEnd(LogState.OPEN), given_back)
        if not attempts:
            return LogDigest(LogEnd(LogState.COMPLETE), given_back)
        chunks = [chunk for chunk in (found.first, found.last) if chunk is not None and chunk.token == token]
        return LogDigest(_log_end(chunks, attempts[-1], kept_from), given_back)

    async def raw_stdout(self, run_id: str, attempt: int | None = None) -> bytes:
        """Return the standard output of one attempt, by default the last: every byte, or an error.

        Raises a subclass of `OutputUnavailable` if it is not complete.
        """
        run = await self.run(run_id)
        record = _find_attempt(run, await self._storage.queries.attempts(run.id), attempt)
        chunks = [] if record is None else await self._chunks(run.id, record.token)
        end = await self._log_end(chunks, record)
        if end.state is not LogState.COMPLETE:
            raise _refusal(run.id, end)
        return b"".join(chunk.data for chunk in chunks if chunk.stream == "stdout")

    async def run(self, run_id: str) -> Run:
        """Return a run as it is stored."""
        found = await self._storage.queries.get_runs([RunId(run_id)])
        if RunId(run_id) not in found:
            raise NotFound("run", run_id)
        return found[RunId(run_id)]

    async def end(self, run: Run) -> LogEnd:
        """Return how the log of the last attempt ends. The log of a run without attempts is complete."""
        if not run.status.is_terminal:
            return LogEnd(LogState.OPEN)
        records = await self._storage.queries.attempts(run.id)
        if not records:
            return LogEnd(LogState.COMPLETE)
        token = records[-1].token
        first = await self._storage.queries.read_log(run.id, after=(token, -1), limit=1)
        last = await self._storage.queries.tail_log(run.id, limit=1)
        return await self._log_end([chunk for chunk in (*first, *last) if chunk.token == token], records[-1])

    async def _log_end(self, chunks: Sequence[LogChunk], record: AttemptRecord | None) -> LogEnd:
        return _log_end(chunks, record, await self._storage.queries.logs_kept_from())

    async def _chunks(self, run_id: RunId, token: Token) -> list[LogChunk]:
        """Return all output of one attempt."""
        chunks: list[LogChunk] = []
        seq = -1
        while page := await self._storage.queries.read_log(run_id, after=(token, seq), limit=_PAGE):
            mine = [chunk for chunk in page if chunk.token == token]
            chunks += mine
            if len(mine) < _PAGE:
                break
            seq = mine[-1].seq
        return chunks


class Pieces:
    """Reads the log of a run from a position on, as far as it has been printed, and continues with each call."""

    def __init__(self, storage: Storage, run_id: RunId, after: Cursor | None = None, *, page: int = _PAGE) -> None:
        self._storage = storage
        self._run_id = run_id
        self._page = page
        self._after = None if after is None else (Token(after[0]), after[1])
        self._known: set[Token] = set()
        self._starts = _Starts(())

    async def new(self, run: Run) -> AsyncIterator[LogView]:
        """Yield the pieces printed since the last call. `run` must have been read before this call."""
        while chunks := await self._storage.queries.read_log(self._run_id, after=self._after, limit=self._page):
            await self._load_attempts({chunk.token for chunk in chunks})
            for piece in _views(chunks, self._starts, self._after):
                yield self._advance(piece)
        if self._after is not None and run.token != self._after[0] and (run.token or run.status.is_terminal):
            await self._load_attempts({run.token or _LAST_TOKEN})
            for piece in self._starts.cuts_before(run, self._after):
                yield self._advance(piece)

    async def _load_attempts(self, tokens: set[Token]) -> None:
        """Read the attempts if a token is new. A start begins after all former ones have ended, so the records of those
        are final."""
        if not tokens <= self._known:
            self._known |= tokens
            self._starts = _Starts(await self._storage.queries.attempts(self._run_id))

    def _advance(self, piece: LogView) -> LogView:
        self._after = Token(piece.cursor[0]), piece.cursor[1]
        return piece


class _Starts:
    """The starts of a run: their attempt numbers by token, and lines about those that were cut off.

    A start that was given back has no record, and the number of the next one.
    """

    def __init__(self, records: Sequence[AttemptRecord]) -> None:
        self._tokens = [record.token for record in records]
        self._lost = [record for record in records if record.reason == Reason.LEASE_LOST]

    def cuts_before(self, run: Run, after: Cursor | None) -> Iterator[LogView]:
        """Yield a line for each start that was cut off after a position, even if the next start has no output yet."""
        if after is None:
            return
        if run.token is not None:
            yield from self.cuts(run.id, after, run.token, run.started_at or run.created_at)
        elif run.finished_at is not None and self._was_given_back(after):
            attempt = self.attempt_number(Token(after[0]))
            yield _cut(run.id, after[0], attempt, run.finished_at, given_back_line(attempt, restarted=False))

    def cuts(self, run_id: RunId, after: Cursor | None, token: Token, at: Instant) -> Iterator[LogView]:
        """Yield a line for each start between a position and `token`, which began at `at`, that was cut off: it was
        given back, or its worker was lost."""
        if after is not None and after[0] < token and self._was_given_back(after):
            attempt = self.attempt_number(Token(after[0]))
            yield _cut(run_id, after[0], attempt, at, given_back_line(attempt))
        for one in self._lost:
            if one.token < token and (after is None or (one.token, _LAST_SEQ) > after):
                attempt = self.attempt_number(one.token)
                yield _cut(run_id, one.token, attempt, one.finished_at, cut_line(attempt))

    def _was_given_back(self, place: Cursor) -> bool:
        """Return whether the start that printed there was given back, and no line about that was yielded yet."""
        return place[1] < _LAST_SEQ and place[0] not in self._tokens

    def attempt_number(self, token: Token) -> int:
        """Return the number of the attempt that a start belongs to."""
        return 1 + sum(known < token for known in self._tokens)


def _views(chunks: Sequence[LogChunk], starts: _Starts, after: Cursor | None) -> Iterator[LogView]:
    """Yield chunks as pieces, and a line between two starts if the first was cut off."""
    for chunk in chunks:
        yield from starts.cuts(chunk.run_id, after, chunk.token, chunk.at)
        after = chunk.token, chunk.seq
        yield _view(chunk, starts.attempt_number(chunk.token))


def _cut(run_id: RunId, token: int, attempt: int, at: Instant, line: bytes) -> LogView:
    return LogView(
        run_id=run_id, attempt=attempt, at=to_datetime(at), stream="meta", data=line, cursor=(token, _LAST_SEQ)
    )


def _view(chunk: LogChunk, attempt: int) -> LogView:
    return LogView(
        run_id=chunk.run_id,
        attempt=attempt,
        at=to_datetime(chunk.at),
        stream=chunk.stream,
        data=chunk.data,
        cursor=(chunk.token, chunk.seq),
        is_closing=read_closing(chunk) is not None,
    )


def _log_end(chunks: Sequence[LogChunk], record: AttemptRecord | None, kept_from: Instant | None) -> LogEnd:
    return log_end(
        chunks,
        is_over=record is not None,
        was_lost=record is not None and record.reason == Reason.LEASE_LOST,
        ended_at=None if record is None else record.finished_at,
        kept_from=kept_from,
    )


def _find_attempt(run: Run, records: Sequence[AttemptRecord], number: int | None) -> AttemptRecord | None:
    """Return the record of an attempt, or None if it has not ended or not begun."""
    if number is None:
        return records[-1] if records and run.status.is_terminal else None
    if number == run.attempt and run.status in BEGUN:
        return None
    for record in records:
        if record.number == number:
            return record
    raise NotFound("attempt", str(number), hint=f"Run {run.id} has {len(records)} attempts.")


def _refusal(run_id: RunId, end: LogEnd) -> OutputUnavailable:
    kind, fact, hint = _REFUSALS[end.state]
    sizes = f": {end.stored} of {end.seen} bytes" if end.seen is not None else ""
    return kind(f"the output of run {run_id} {fact}{sizes}", hint=hint.replace("RUN", run_id))
