"""Splits messages so that each request is small enough for the server."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, TypeVar

from foliot.domain.run.logs import LogChunk
from foliot.domain.work.message import FinishedRun, LogPiece, RunLog

Item = TypeVar("Item")
ROOM: Final = 2 << 20
"""Bytes of output or results in one request, before they are encoded. The server accepts 8 MiB."""


def finish_batches(finishes: Iterable[FinishedRun]) -> list[list[FinishedRun]]:
    """Return at least one batch, which may be empty."""
    return list(_batches((one, len(one.output or b"") + len(one.error)) for one in finishes)) or [[]]


def chunk_batches(chunks: Iterable[LogChunk]) -> Iterator[list[LogChunk]]:
    return _batches((chunk, len(chunk.data)) for chunk in chunks)


def run_logs(chunks: Iterable[LogChunk], texts: dict[int, str]) -> tuple[RunLog, ...]:
    """Return messages with the chunks of each lease, in their order. `texts`: the text of each token."""
    ordered = sorted(chunks, key=lambda chunk: (chunk.token, chunk.seq))
    return tuple(
        RunLog(run_id=run_id, token=texts[token], pieces=tuple(map(_piece, group)))
        for (run_id, token), group in groupby(ordered, key=lambda chunk: (chunk.run_id, chunk.token))
    )


def _piece(chunk: LogChunk) -> LogPiece:
    return LogPiece(seq=chunk.seq, stream=chunk.stream, data=chunk.data, at=chunk.at)


def _batches(sized: Iterable[tuple[Item, int]]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    room = ROOM
    for item, size in sized:
        if batch and size > room:
            yield batch
            batch, room = [], ROOM
        batch.append(item)
        room -= size
    if batch:
        yield batch
