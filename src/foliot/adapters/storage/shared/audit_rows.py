"""Rows of the audit trail, the same for every database."""

from collections.abc import Sequence
from typing import Any

from foliot.adapters.storage.shared.documents import decode, encode, read_column, storable
from foliot.domain.access.actor import Actor
from foliot.domain.access.trail import AuditEntry, ChangeRecord
from foliot.domain.instant import Instant


def audit_row(now: Instant, actor: Actor, change: ChangeRecord) -> tuple[Any, ...]:
    """Return the columns at, actor, detail, action, kind, id, before and after."""
    before, after = [None if document is None else encode(document) for document in (change.before, change.after)]
    who = storable(str(actor)), storable(actor.detail)
    return (now, *who, change.action.value, change.kind.value, storable(change.id), before, after)


def audit_entry(row: Sequence[Any]) -> AuditEntry:
    """Read the columns seq, at, actor, detail, action, kind, id, before and after."""
    *columns, before, after = row
    documents = (read_column(decode, document, "audit entry", row[0]) for document in (before, after))
    return AuditEntry(*columns, *documents)
