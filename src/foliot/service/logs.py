"""What runs printed: all of it, its end, or as it comes.

Only the storage is asked, so following a run goes on when its server or its worker is started again.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Millis, to_datetime
from foliot.domain.logs import LogChunk, LogEnd, LogState, Stream, cut_line, judge_log, read_closing
from foliot.domain.outcome import Reason
from foliot.domain.run import BEGUN, AttemptRecord, Run
from foliot.errors import NotFound, OutputLost, OutputPruned, OutputTruncated, OutputUnavailable, OutputUnfinished
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage

LOOK_EVERY: Final = Millis(250)
_PAGE: Final = 1_000
_BEHIND: Final = (1 << 63) - 1
"""Behind all that an attempt printed."""
_REFUSALS: Final[Mapping[LogState, tuple[type[OutputUnavailable], str, str]]] = {
    LogState.TRUNCATED: (
        OutputTruncated,
        "is not kept whole",
        "Raise the job's output_cap, or let it write large results to a file.",
    ),
    LogState.WORKER_LOST: (OutputLost, "was cut off when its worker vanished", "Run it again: foliot retry RUN."),
    LogState.PRUNED: (OutputPruned, "has been removed", "Raise retention for logs, or run it again: foliot retry RUN."),
    LogState.OPEN: (OutputUnfinished, "is not complete yet", "Ask again when the run is over."),
}

Cursor = tuple[int, int]
"""A place in the log of a run: behind the piece that has it."""


class LogView(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of what a run printed. `data` are the bytes as they were printed."""

    run_id: str
    attempt: int
    at: datetime
    stream: Stream
    data: bytes
    cursor: Cursor
    is_closing: bool = False
    """Whether it is the line by which Foliot ends the log of an attempt."""

    @property
    def text(self) -> str:
        """For people: what is no UTF-8 is shown as such."""
        return self.data.decode("utf-8", "backslashreplace")


class LogTail(NamedTuple):
    """The last pieces of a log, and how it ends."""

    pieces: list[LogView]
    end: LogEnd


class Logs:
    """Reads what runs printed."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def follow(self, run_id: str, after: Cursor | None = None) -> AsyncIterator[LogView | LogEnd]:
        """What the run prints, through all its attempts, until it is over; the last item says how the log ends.

        `after` continues behind a piece that was seen before.
        """
        run = await self._run(run_id)
        pieces = Pieces(self._storage, run.id, after)
        while True:
            async for piece in pieces.new():
                yield piece
            if run.status.is_terminal:
                break
            await self._clock.wait(asyncio.Event(), LOOK_EVERY)
            # The run first, its log after it: what was printed before the end is there when the end is seen.
            found = await self._storage.runs.get([run.id])
            if run.id not in found:
                yield LogEnd(LogState.PRUNED)
                return
            run = found[run.id]
        yield await self._end(run)

    async def read(self, run_id: str, after: Cursor | None = None) -> AsyncIterator[LogView | LogEnd]:
        """What the run printed so far; the last item says how the log ends, `open` where more may come."""
        run = await self._run(run_id)
        async for piece in Pieces(self._storage, run.id, after).new():
            yield piece
        yield await self._end(run)

    async def tail(self, run_id: str, pieces: int = 100) -> LogTail:
        """The last pieces of what the run printed so far."""
        run = await self._run(run_id)
        chunks = await self._storage.logs.tail(run.id, limit=pieces)
        numbers = _Numbers(await self._storage.runs.attempts(run.id))
        first = (chunks[0].token, chunks[0].seq - 1) if chunks else None
        return LogTail([*_views(chunks, numbers, first)], await self._end(run))

    async def raw_stdout(self, run_id: str, attempt: int | None = None) -> bytes:
        """What one attempt, the last one unless said otherwise, wrote to its standard output: every byte, or an error.

        Raises one of `OutputUnavailable` where it is not all there.
        """
        run = await self._run(run_id)
        record = _asked_for(run, await self._storage.runs.attempts(run.id), attempt)
        chunks = [] if record is None else await self._chunks(run.id, record.token)
        end = await self._judge(chunks, record)
        if end.state is not LogState.COMPLETE:
            raise _refusal(run.id, end)
        return b"".join(chunk.data for chunk in chunks if chunk.stream == "stdout")

    async def _run(self, run_id: str) -> Run:
        found = await self._storage.runs.get([RunId(run_id)])
        if RunId(run_id) not in found:
            raise NotFound("run", run_id)
        return found[RunId(run_id)]

    async def _end(self, run: Run) -> LogEnd:
        """How the log of the last attempt ends. A run that never began has nothing to tell."""
        if not run.status.is_terminal:
            return LogEnd(LogState.OPEN)
        records = await self._storage.runs.attempts(run.id)
        if not records:
            return LogEnd(LogState.COMPLETE)
        token = records[-1].token
        first = await self._storage.logs.read(run.id, after=(token, -1), limit=1)
        last = await self._storage.logs.tail(run.id, limit=1)
        return await self._judge([chunk for chunk in (*first, *last) if chunk.token == token], records[-1])

    async def _judge(self, chunks: Sequence[LogChunk], record: AttemptRecord | None) -> LogEnd:
        return judge_log(
            chunks,
            is_over=record is not None,
            was_lost=record is not None and record.reason == Reason.LEASE_LOST,
            ended_at=None if record is None else record.finished_at,
            kept_from=await self._storage.logs.kept_from(),
        )

    async def _chunks(self, run_id: RunId, token: Token) -> list[LogChunk]:
        """All that one attempt printed."""
        chunks: list[LogChunk] = []
        seq = -1
        while page := await self._storage.logs.read(run_id, after=(token, seq), limit=_PAGE):
            mine = [chunk for chunk in page if chunk.token == token]
            chunks += mine
            if len(mine) < _PAGE:
                break
            seq = mine[-1].seq
        return chunks


class Pieces:
    """The log of a run from a place on, as far as it has been printed. Asked again, it goes on where it was."""

    def __init__(self, storage: Storage, run_id: RunId, after: Cursor | None = None) -> None:
        self._storage = storage
        self._run_id = run_id
        self._after = None if after is None else (Token(after[0]), after[1])
        self._known: set[Token] = set()
        self._numbers = _Numbers(())

    async def new(self) -> AsyncIterator[LogView]:
        while chunks := await self._storage.logs.read(self._run_id, after=self._after, limit=_PAGE):
            tokens = {chunk.token for chunk in chunks}
            if not tokens <= self._known:
                self._known |= tokens
                self._numbers = _Numbers(await self._storage.runs.attempts(self._run_id))
            for piece in _views(chunks, self._numbers, self._after):
                self._after = Token(piece.cursor[0]), piece.cursor[1]
                yield piece


class _Numbers:
    """Which attempt a token belongs to. One that was given back is not on record, and has the number of the next."""

    def __init__(self, records: Sequence[AttemptRecord]) -> None:
        self._tokens = [record.token for record in records]
        self._lost = [record for record in records if record.reason == Reason.LEASE_LOST]

    def lost_between(self, after: Cursor | None, token: Token) -> list[AttemptRecord]:
        """Attempts before that of the token whose worker vanished, from a place in the log on."""
        return [one for one in self._lost if one.token < token and (after is None or (one.token, _BEHIND) > after)]

    def of(self, token: Token) -> int:
        return 1 + sum(known < token for known in self._tokens)


def _views(chunks: Sequence[LogChunk], numbers: _Numbers, after: Cursor | None) -> Iterator[LogView]:
    """Chunks as pieces, and between two attempts a line where the log of the first was cut off."""
    for chunk in chunks:
        for record in numbers.lost_between(after, chunk.token):
            yield _cut(record, numbers.of(record.token))
        after = chunk.token, chunk.seq
        yield _view(chunk, numbers.of(chunk.token))


def _cut(record: AttemptRecord, attempt: int) -> LogView:
    return LogView(
        run_id=record.run_id,
        attempt=attempt,
        at=to_datetime(record.finished_at),
        stream="meta",
        data=cut_line(attempt),
        cursor=(record.token, _BEHIND),
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


def _asked_for(run: Run, records: Sequence[AttemptRecord], number: int | None) -> AttemptRecord | None:
    """The record of an attempt. None: it is not over, or has not begun."""
    if number is None:
        return records[-1] if records and run.status.is_terminal else None
    if number == run.attempt and run.status in BEGUN:
        return None
    for record in records:
        if record.number == number:
            return record
    raise NotFound("attempt", str(number), hint=f"The run {run.id} has had {len(records)}.")


def _refusal(run_id: RunId, end: LogEnd) -> OutputUnavailable:
    kind, fact, hint = _REFUSALS[end.state]
    sizes = f": {end.stored} of {end.seen} bytes" if end.seen is not None else ""
    return kind(f"the output of run {run_id} {fact}{sizes}", hint=hint.replace("RUN", run_id))
