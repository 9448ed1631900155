"""Decodes and encodes rows of chains, of the documents of their classes, and of ended steps."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from foliot.adapters.storage.shared.documents import read_column
from foliot.adapters.storage.shared.row_types import Count, Moment, instant_of, read_row
from foliot.adapters.storage.shared.rows import Row
from foliot.domain.chain.state import ChainOutcome, ChainRecord, ChainState
from foliot.domain.chain.step import ChainBody
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Status
from foliot.domain.tree.kind import ChildEnd, SharedDocument

_BODY: Final = msgspec.json.Decoder(ChainBody)
NO_DOCUMENT: Final = SharedDocument(0, None)


class ChainRow(Struct, array_like=True, frozen=True, gc=False):
    run_id: RunId
    chain_id: str
    class_id: str
    slot: str
    state: ChainState
    outcome: ChainOutcome | None
    armed_at: Moment
    deadline: Moment | None
    expires_at: Moment
    closed_at: Moment | None
    children: Count
    tokens: Count
    usd: float


def chain_row(project: str, record: ChainRecord) -> Row:
    """Return run_id, project, and the other columns of `ChainRow`."""
    return (
        *(record.run_id, project, record.chain_id, record.class_id, record.slot, record.state.value),
        *(None if record.outcome is None else record.outcome.value, record.armed_at, record.deadline),
        *(record.expires_at, record.closed_at, record.children, record.tokens, record.usd),
    )


def chain_record_of(row: Row) -> ChainRecord:
    """Decode the columns of `ChainRow`."""
    known = read_row(ChainRow, row, "chain", row[0])
    return ChainRecord(
        run_id=known.run_id,
        chain_id=known.chain_id,
        class_id=known.class_id,
        slot=known.slot,
        state=known.state,
        outcome=known.outcome,
        armed_at=Instant(known.armed_at),
        deadline=instant_of(known.deadline),
        expires_at=Instant(known.expires_at),
        closed_at=instant_of(known.closed_at),
        children=known.children,
        tokens=known.tokens,
        usd=known.usd,
    )


def chain_body_of(document: Any, run_id: RunId) -> ChainBody:
    return read_column(_BODY.decode, document, "chain", run_id)


def bytes_of(document: Any) -> bytes | None:
    """Return a document as bytes: SQLite stores bytes, PostgreSQL text."""
    return document.encode() if isinstance(document, str) else document


def shared_document_of(row: Sequence[Any]) -> SharedDocument:
    """Decode version, body."""
    version, body = row
    return SharedDocument(version, bytes_of(body))


def child_end_of(row: Sequence[Any]) -> ChildEnd:
    """Decode status, reason, error, exit_code, output, started_at. A status that cannot be read counts as failed."""
    status, reason, error, exit_code, output, started_at = row
    known = next((one for one in Status if one == status), Status.FAILED)
    return ChildEnd(known, reason, error, exit_code, bytes_of(output), instant_of(started_at))
