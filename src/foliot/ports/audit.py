"""The audit port: reads the trail of changes. Other verbs write it, in the transaction of each change."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from foliot.domain.access.trail import AuditAction, AuditEntry, AuditKind, ChangeRecord
from foliot.domain.instant import Instant


class AuditCursor(NamedTuple):
    """The last entry of a page. The next page begins with the entry before it."""

    at: Instant
    seq: int


class AuditFilter(NamedTuple):
    """Which entries are wanted. None: all."""

    actor: str | None = None
    id: str | None = None
    since: Instant | None = None
    before: AuditCursor | None = None
    limit: int = 100


class Audit(Protocol):
    async def add(self, changes: Sequence[ChangeRecord], *, at: Instant | None = None) -> None:
        """Record something that changes no other row, such as a login or a refused credential."""
        ...

    async def page(self, only: AuditFilter) -> list[AuditEntry]:
        """Return up to `limit` entries, newest first."""
        ...

    async def latest(
        self, kind: AuditKind, ids: Collection[str], actions: Collection[AuditAction]
    ) -> Mapping[str, AuditEntry]:
        """Return the newest entry of each id with one of these actions, for the ids that have one."""
        ...
