"""The audit trail: who changed what."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from foliot.domain.access.trail import AuditAction, AuditEntry, AuditKind, ChangeRecord, Document
from foliot.domain.input.timing import Moment, optional_instant
from foliot.domain.input.words import text
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.vocabulary.field import Field
from foliot.domain.vocabulary.job import OPTIONS
from foliot.domain.vocabulary.schedule import POLICY
from foliot.errors import InvalidInput
from foliot.ports.audit import AuditCursor, AuditFilter
from foliot.ports.storage import Storage
from foliot.service.paging import check_limit

_FIELDS: Final[Mapping[str, Sequence[Field]]] = {
    AuditKind.JOB: OPTIONS,
    AuditKind.WORKFLOW: OPTIONS,
    AuditKind.SCHEDULE: POLICY,
}


class AuditView(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded change."""

    at: datetime
    actor: str
    """Who made it: `cli:anna`, `token:deploy`, `user:anna`, `app`, `system`."""
    detail: str
    """How it was made: for a deployment, the file. Otherwise empty."""
    action: str
    kind: str
    """What was changed: run, job, schedule, workflow, step, dependency, chains, project, dsn, token or user."""
    id: str
    before: dict[str, Any] | None
    """The changed fields as they were. Secrets are masked."""
    after: dict[str, Any] | None
    """The changed fields as they are since then."""
    cursor: str
    """Give it as `before` to get the entries before this one."""


class AuditService:
    """Reads the audit trail, and records what changes no other row."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def page(
        self,
        *,
        actor: str | None = None,
        id: str | None = None,  # noqa: A002 - the name of the field
        since: Moment | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[AuditView]:
        """Return up to `limit` entries, at most 10,000, newest first.

        `actor` and `id` select entries with exactly this text. `before` is the cursor of the last entry of the page
        before.
        """
        check_limit(limit)
        only = AuditFilter(
            actor=None if actor is None else text(actor, "actor", InvalidInput),
            id=None if id is None else text(id, "id", InvalidInput),
            since=optional_instant(since, "since"),
            before=None if before is None else _read_cursor(text(before, "before", InvalidInput)),
            limit=limit,
        )
        return [view_entry(entry) for entry in await self._storage.audit.page(only)]

    async def record(self, action: AuditAction, kind: AuditKind, name: str, after: Document | None = None) -> None:
        """Record something that changes no other row, such as a refused credential. It must contain no secrets."""
        await self._storage.audit.add([ChangeRecord(action, kind, name, None, after)])


def view_entry(entry: AuditEntry) -> AuditView:
    return AuditView(
        at=to_datetime(entry.at),
        actor=entry.actor,
        detail=entry.detail,
        action=entry.action,
        kind=entry.kind,
        id=entry.id,
        before=_as_written(entry.kind, entry.before),
        after=_as_written(entry.kind, entry.after),
        cursor=f"{entry.at}-{entry.seq}",
    )


def _as_written(kind: str, values: Document | None) -> Document | None:
    """Return values with the names and units that files use: `retry.base` is `retry_delay`, in seconds."""
    fields = _FIELDS.get(kind)
    if values is None or fields is None:
        return values
    return dict(_option(fields, name, value) for name, value in values.items())


def _option(fields: Sequence[Field], name: str, value: Any) -> tuple[str, Any]:
    for field in fields:
        if name == field.attribute or (name.startswith("step.") and name.endswith(f".{field.attribute}")):
            written = field.read.write(value) if isinstance(value, int | list) else value
            return name.removesuffix(field.attribute) + field.name, written
    return name, value


def _read_cursor(cursor: str) -> AuditCursor:
    numbers: Sequence[str] = cursor.split("-")
    if len(numbers) != 2 or not all(one.isascii() and one.isdigit() and len(one) < 19 for one in numbers):
        raise InvalidInput("this is not a cursor", hint="Use the cursor of the last entry.", field="before")
    return AuditCursor(Instant(int(numbers[0])), int(numbers[1]))
