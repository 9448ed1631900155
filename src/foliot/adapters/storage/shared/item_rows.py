"""Encodes and decodes rows of items: many items in one JSON array."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from foliot.adapters.storage.shared.documents import read_column
from foliot.adapters.storage.shared.row_types import Count, Moment, instant_of, read_row
from foliot.adapters.storage.shared.rows import Row
from foliot.domain.ids import RunId
from foliot.domain.run.run import Status
from foliot.ports.items import ItemChunk, ItemRun

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


def encode_items(chunk: ItemChunk) -> bytes:
    return b"[" + b",".join(chunk.documents) + b"]"


def items_in(run_id: RunId, rows: Iterable[Row], first: int, limit: int) -> list[bytes]:
    """Return the items from the index `first`, out of rows with the index of their first item and their body."""
    found: list[bytes] = []
    for begin, body in rows:
        documents: Sequence[msgspec.Raw] = read_column(_DOCUMENTS.decode, body, "items of run", run_id)
        found += [bytes(one) for one in documents[max(first - begin, 0) : first + limit - begin]]
    return found
