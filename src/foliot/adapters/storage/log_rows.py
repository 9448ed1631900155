"""Rows about what runs print, whatever the database."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from foliot.adapters.storage.documents import read_number
from foliot.adapters.storage.shapes import Moment, sight
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.run.logs import LogChunk, Stream
from foliot.ports.logs import LogSummary


class ChunkRow(Struct, array_like=True, frozen=True, gc=False):
    run_id: RunId
    token: Token
    seq: int
    at: Moment
    stream: Stream
    data: bytes


def chunks_of(rows: Iterable[Any]) -> list[LogChunk]:
    """A chunk that cannot be read says so. One that does not say where it belongs is left out: nobody could read on
    behind it."""
    return [_chunk(row) for row in rows if isinstance(row[1], int) and isinstance(row[2], int)]


def _chunk(row: Any) -> LogChunk:
    known, error = sight(ChunkRow, row, "log chunk", row[2])
    if error is not None:
        return LogChunk(known.run_id, known.token, known.seq, Instant(known.at), "meta", f"{error.message}\n".encode())
    return LogChunk(known.run_id, known.token, known.seq, Instant(known.at), known.stream, known.data)


def summary_of(starts: Sequence[Any], first: Sequence[Any], last: Sequence[Any], token: Token | None) -> LogSummary:
    """Of rows: the starts, the first chunk from the start `token` on, and the last chunk."""
    begins = [chunk for chunk in chunks_of(first) if chunk.token == token]
    ends = chunks_of(last)
    tokens = [Token(row[0]) for row in starts if isinstance(row[0], int)]
    return LogSummary(tokens, begins[0] if begins else None, ends[0] if ends else None)


def kept_from(moment: object) -> Instant | None:
    """Since when all logs are kept, as it stands in the database."""
    return None if moment is None else Instant(read_number(moment, "setting", "logs_kept_from"))
