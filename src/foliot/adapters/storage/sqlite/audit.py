"""The trail of changes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from foliot.adapters.storage.shared.audit_rows import audit_entry
from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.session import SQL, Row
from foliot.domain.access.trail import AuditAction, AuditEntry, AuditKind, ChangeRecord
from foliot.domain.instant import LATEST, Instant
from foliot.ports.audit import AuditCursor, AuditFilter

_NEWEST: Final = AuditCursor(LATEST, 1 << 62)


class SqliteAudit(PortBase):
    """Fills `ports.audit.Audit`."""

    async def add(self, changes: Sequence[ChangeRecord], *, at: Instant | None = None) -> None:
        await self._writer.submit("add_audit", lambda tx: tx.record(tx.now(at), changes))

    async def page(self, only: AuditFilter) -> list[AuditEntry]:
        before = only.before or _NEWEST
        when = (only.since or 0, before.at, before.seq, only.limit)
        if only.id is not None:
            rows = await self._rows("audit_of_id", only.id, only.actor, *when)
        elif only.actor is not None:
            rows = await self._rows("audit_of_actor", only.actor, *when)
        else:
            rows = await self._rows("audit_of_all", *when)
        return [audit_entry(row) for row in rows]

    async def latest(
        self, kind: AuditKind, ids: Collection[str], actions: Collection[AuditAction]
    ) -> Mapping[str, AuditEntry]:
        rows = await self._rows("latest_audit", kind.value, encode_names(ids), encode_names(actions))
        return {entry.id: entry for entry in map(audit_entry, rows)}

    async def _rows(self, query: str, *values: object) -> list[Row]:
        return await self._reader.read(lambda session: session.rows(SQL[query], values))
