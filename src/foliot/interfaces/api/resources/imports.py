"""Imports from other schedulers."""

from typing import Annotated, Final

import msgspec

from foliot.domain.access.role import Permission
from foliot.domain.deploy.text import MAX_BYTES
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.crontab_import import CrontabImport, import_crontab
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import ImportedCrontab

_LARGEST: Final = 4 * MAX_BYTES
"""Of a body. A text of the largest size may have many characters that JSON escapes."""


class CrontabBody(Parameters, frozen=True, kw_only=True):
    text: Annotated[str, msgspec.Meta(max_length=MAX_BYTES)]
    """A crontab."""
    system: bool = False
    """Whether its lines name their users, as those of /etc/crontab."""
    paused: bool = True
    """Pause the new jobs and their schedules."""
    dry_run: bool = True
    """Store nothing."""
    timezone: str | None = None
    """That of cron on its machine; by default that of the server."""
    user: str | None = None
    """Whose crontab it is; by default the account of the server."""
    replace: bool = False
    """Change jobs that exist with the same id and another definition, instead of keeping them."""


@ROUTES.post(
    "/api/import/crontab",
    permission=Permission.EDIT,
    summary="Return what each line of a crontab becomes, and with dry_run false store the jobs.",
    examples=({"text": "0 3 * * * /usr/local/bin/backup\n"},),
    max_body=_LARGEST,
    is_repeatable=False,
)
async def import_crontab_text(call: Call, body: CrontabBody) -> ImportedCrontab:
    order = CrontabImport(
        text=body.text,
        is_system=body.system,
        timezone=body.timezone,
        user=body.user,
        replaces=body.replace,
        pauses=body.paused,
    )
    return await import_crontab(call.services.definitions, order, is_dry_run=body.dry_run)
