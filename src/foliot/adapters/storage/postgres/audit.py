"""The trail of changes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.shared.audit_rows import audit_entry
from foliot.domain.access.trail import AuditAction, AuditEntry, AuditKind, ChangeRecord
from foliot.domain.instant import LATEST, Instant
from foliot.ports.audit import AuditCursor, AuditFilter

_NEWEST: Final = AuditCursor(LATEST, 1 << 62)


class PostgresAudit:
    """Fills `ports.audit.Audit`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, changes: Sequence[ChangeRecord], *, at: Instant | None = None) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.now(at)
            transaction.record(changes)

        await self._database.write("add_audit", work)

    async def page(self, only: AuditFilter) -> list[AuditEntry]:
        before = only.before or _NEWEST
        when = (only.since or 0, before.at, before.seq, only.limit)
        if only.id is not None:
            rows = await self._database.rows("audit_of_id", only.id, only.actor, *when)
        elif only.actor is not None:
            rows = await self._database.rows("audit_of_actor", only.actor, *when)
        else:
            rows = await self._database.rows("audit_of_all", *when)
        return [audit_entry(row) for row in rows]

    async def latest(
        self, kind: AuditKind, ids: Collection[str], actions: Collection[AuditAction]
    ) -> Mapping[str, AuditEntry]:
        if not ids:
            return {}
        rows = await self._database.rows("latest_audit", kind.value, list(ids), [action.value for action in actions])
        return {entry.id: entry for entry in map(audit_entry, rows)}
