"""Reads logs by line: a page of lines, and searches.

A position in the middle of a log is found with checkpoints: at some ends of lines, the number of lines so far is
kept in memory. A request extends them by a limited number of bytes, so that the first requests for a large log are
fast too. The number of lines is then known only up to there, and the page says so.
"""

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from foliot.domain.ids import RunId
from foliot.domain.run.logs import LogState, Stream
from foliot.domain.run.run import Run
from foliot.ports.storage import Storage
from foliot.service.queries.logs import Cursor, Logs, LogView, Pieces

LONGEST_LINE: Final = 8_000
"""Characters of a line that are returned. The rest is in the download."""
_COUNTED: Final = 48 << 20
"""Bytes of a log that one request counts."""
_SEARCHED: Final = 8 << 20
"""Bytes of a log that one request searches."""
_RETURNED: Final = 1 << 20
"""Bytes of lines in one page."""
_BETWEEN: Final = 256 << 10
"""Bytes between two checkpoints."""
_LOGS: Final = 64
"""How many logs have checkpoints in memory."""
_CHUNKS: Final = 50
"""How many chunks are read at once."""
_LARGEST_BUFFER: Final = 4 * LONGEST_LINE
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;:?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_ERROR: Final = re.compile(r"\b(?i:error|fatal|panic|critical|traceback)\b|[a-z](?:Error|Exception)\b")


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a log, without its line break."""

    number: int
    """From 1, through all attempts."""
    at: datetime
    attempt: int
    stream: Stream
    text: str
    """Bytes that are not UTF-8 are escaped."""
    is_cut: bool = False
    """The line is longer than the text."""


class LogLines(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines of a log."""

    items: list[LogLine]
    total: int
    """How many lines the log has, as far as they have been counted."""
    is_counted: bool
    """Whether all lines have been counted. If not, the next request counts more."""
    state: LogState
    """How the log ends: `open` if more may follow."""


class LogMatches(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a log that match a search."""

    items: list[LogLine]
    next: int | None
    """Continue the search with this line. None: all lines so far have been searched."""


class _Checkpoint(NamedTuple):
    cursor: Cursor | None
    line: int
    """The line, from 0, that begins after the cursor."""


class _Index:
    """What is known about the lines of a log."""

    def __init__(self) -> None:
        self.checkpoints = [_Checkpoint(None, 0)]
        self.edge = self.checkpoints[0]
        """The last end of a line that was counted."""
        self.total = 0
        self.is_counted = False

    def before(self, line: int) -> _Checkpoint:
        """Return the last known position at or before the beginning of a line."""
        if line >= self.edge.line:
            return self.edge
        return self.checkpoints[bisect_right(self.checkpoints, line, key=lambda one: one.line) - 1]


class LineQueries:
    def __init__(self, storage: Storage, logs: Logs) -> None:
        self._storage = storage
        self._logs = logs
        self._indexes: OrderedDict[RunId, _Index] = OrderedDict()

    async def page(self, run_id: str, *, first: int | None, limit: int) -> LogLines:
        """Return lines from the line `first` on, or the last ones. A page may be shorter if its lines are long."""
        run = await self._logs.run(run_id)
        index = await self._count(run)
        start = max(1, index.total - limit + 1) if first is None else first
        items: list[LogLine] = []
        size = 0
        async for line in self._lines(run, index, start):
            items.append(line)
            size += len(line.text)
            if len(items) == limit or size >= _RETURNED:
                break
        end = await self._logs.end(run)
        total = max(index.total, items[-1].number if items else 0)
        return LogLines(items=items, total=total, is_counted=index.is_counted, state=end.state)

    async def search(self, run_id: str, *, text: str | None, first: int, limit: int) -> LogMatches:
        """Return lines from the line `first` on that contain a text in any case; without a text, lines that look like
        errors. One call searches some megabytes."""
        run = await self._logs.run(run_id)
        index = await self._count(run)
        matches = _matcher(text)
        items: list[LogLine] = []
        size = 0
        async for line in self._lines(run, index, first):
            size += len(line.text) + 1
            if line.stream != "meta" and matches(_ESCAPES.sub("", line.text)):
                items.append(line)
            if len(items) == limit or size >= _SEARCHED:
                return LogMatches(items=items, next=line.number + 1)
        return LogMatches(items=items, next=None)

    async def _count(self, run: Run) -> _Index:
        """Return the index of a log, after counting more of its lines."""
        index = self._indexes.pop(run.id, None) or _Index()
        self._indexes[run.id] = index
        if len(self._indexes) > _LOGS:
            self._indexes.popitem(last=False)
        counter = _Counter(index.edge.line)
        size = since = 0
        index.is_counted = False
        async for piece in Pieces(self._storage, run.id, index.edge.cursor, page=_CHUNKS).new(run):
            counter.add(piece)
            size += len(piece.data)
            since += len(piece.data)
            if counter.unfinished is None:
                index.edge = _Checkpoint(piece.cursor, counter.line)
                if since >= _BETWEEN:
                    index.checkpoints.append(index.edge)
                    since = 0
            index.total = counter.total
            if size >= _COUNTED and counter.unfinished is None:
                return index
        index.is_counted = True
        return index

    async def _lines(self, run: Run, index: _Index, first: int) -> AsyncIterator[LogLine]:
        """Yield the lines from the line `first` on."""
        place = index.before(first - 1)
        splitter = _Splitter(place.line)
        async for piece in Pieces(self._storage, run.id, place.cursor, page=_CHUNKS).new(run):
            for line in splitter.add(piece):
                if line.number >= first:
                    yield line
        for line in splitter.rest():
            if line.number >= first:
                yield line


class _Counter:
    """Counts lines. A line also ends where another stream begins."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.unfinished: Stream | None = None

    def add(self, piece: LogView) -> None:
        if not piece.data:
            return
        if self.unfinished not in (None, piece.stream):
            self.line += 1
        self.line += piece.data.count(b"\n")
        self.unfinished = None if piece.data.endswith(b"\n") else piece.stream

    @property
    def total(self) -> int:
        return self.line + (self.unfinished is not None)


class _Splitter:
    """Splits pieces into lines, by the same rule."""

    def __init__(self, line: int) -> None:
        self._line = line
        self._begin: LogView | None = None
        self._data = b""

    def add(self, piece: LogView) -> Iterator[LogLine]:
        if not piece.data:
            return
        if self._begin is not None and self._begin.stream != piece.stream:
            yield from self.rest()
        *whole, last = piece.data.split(b"\n")
        for data in whole:
            self._extend(piece, data)
            yield from self.rest()
        if last:
            self._extend(piece, last)

    def _extend(self, piece: LogView, data: bytes) -> None:
        self._begin = self._begin or piece
        if len(self._data) <= _LARGEST_BUFFER:
            self._data += data[: _LARGEST_BUFFER + 1]

    def rest(self) -> Iterator[LogLine]:
        """Yield the line that has begun."""
        if self._begin is None:
            return
        begin, data = self._begin, self._data
        self._line += 1
        self._begin, self._data = None, b""
        text = data.decode("utf-8", "backslashreplace").removesuffix("\r")
        yield LogLine(
            number=self._line,
            at=begin.at,
            attempt=begin.attempt,
            stream=begin.stream,
            text=text[:LONGEST_LINE],
            is_cut=len(text) > LONGEST_LINE,
        )


def _matcher(text: str | None) -> Callable[[str], object]:
    if text is None:
        return _ERROR.search
    wanted = text.casefold()
    return lambda line: wanted in line.casefold()
