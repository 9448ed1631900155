"""Encodes and decodes rows of items, many of them in one JSON array, and rows of children."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from foliot.adapters.storage.shared.documents import read_column
from foliot.adapters.storage.shared.row_types import Count, Moment, instant_of, read_row
from foliot.adapters.storage.shared.rows import Row
from foliot.domain.fanout.chunk import ItemChunk
from foliot.domain.fanout.result import ROOM, ChildResult, ResultQuery
from foliot.domain.ids import RunId
from foliot.domain.run.run import Status
from foliot.ports.items import ItemRun

_DOCUMENTS: Final = msgspec.json.Decoder(list[msgspec.Raw])


class ChildRow(Struct, array_like=True, frozen=True, gc=False):
    child_key: str
    run_id: RunId
    status: Status
    reason: str | None
    exit_code: int | None
    error: str | None
    attempt: Count
    started_at: Moment | None
    finished_at: Moment | None
    document: Any
    output: Any


def item_run_of(row: Row) -> ItemRun:
    """Decode the columns of `ChildRow`."""
    known = read_row(ChildRow, row, "run", row[1])
    return ItemRun(
        known.child_key,
        known.run_id,
        known.status,
        known.reason,
        known.exit_code,
        known.error,
        known.attempt,
        instant_of(known.started_at),
        instant_of(known.finished_at),
        _bytes(known.document),
        _bytes(known.output),
    )


def _bytes(document: Any) -> bytes | None:
    """SQLite stores bytes, PostgreSQL text."""
    return document.encode() if isinstance(document, str) else document


class ResultRow(Struct, array_like=True, frozen=True, gc=False):
    child_key: str
    run_id: RunId
    status: Status
    exit_code: int | None
    error: str | None
    document: Any
    output_size: int | None


def results_in(rows: Iterable[Row], query: ResultQuery) -> list[ChildResult]:
    """Decode the columns of `ResultRow`, up to the size of a page. The outputs are still to be read."""
    page: list[ChildResult] = []
    room = ROOM
    for row in rows:
        known = read_row(ResultRow, row, "run", row[1])
        document = _bytes(known.document) or b"null"
        room -= len(document) + (known.output_size or 0 if query.has_outputs else 0)
        if page and room < 0:
            break
        page.append(
            ChildResult(
                int(known.child_key),
                known.run_id,
                known.status,
                known.exit_code,
                known.error,
                document,
                known.output_size is not None,
            )
        )
    return page


def with_outputs(page: Sequence[ChildResult], outputs: Mapping[RunId, Any]) -> list[ChildResult]:
    return [replace(child, output=_bytes(outputs.get(child.run_id))) for child in page]


def encode_items(chunk: ItemChunk) -> bytes:
    return b"[" + b",".join(chunk.documents) + b"]"


def items_in(run_id: RunId, rows: Iterable[Row], first: int, limit: int) -> list[bytes]:
    """Return the items from the index `first`, out of rows with the index of their first item and their body."""
    found: list[bytes] = []
    for begin, body in rows:
        documents: Sequence[msgspec.Raw] = read_column(_DOCUMENTS.decode, body, "items of run", run_id)
        found += [bytes(one) for one in documents[max(first - begin, 0) : first + limit - begin]]
    return found
