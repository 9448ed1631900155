"""The audit trail: who changed what."""

from datetime import datetime

from foliot.domain.access.role import Permission
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.paging import PageQuery, page, text_cursor
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import Page
from foliot.service.commands.audit import AuditView


class AuditQuery(PageQuery, frozen=True, kw_only=True):
    actor: str | None = None
    """Exactly this actor, such as `token:deploy`."""
    id: str | None = None
    """Changes of the job, run, schedule or other object with this id."""
    since: datetime | None = None
    before: str | None = None
    """The changes before the entry with this `cursor`."""


@ROUTES.get("/api/audit", permission=Permission.ADMINISTER, summary="List changes, newest first.")
async def list_changes(call: Call, query: AuditQuery) -> Page[AuditView]:
    found = await call.services.audit.page(
        actor=query.actor,
        id=query.id,
        since=query.since,
        before=text_cursor(query.cursor) or query.before,
        limit=query.limit + 1,
    )
    return page(found, query.limit, lambda entry: entry.cursor)
