"""foliot audit: who changed what."""

from collections.abc import Awaitable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_note
from foliot.interfaces.cli.parse import parse_past
from foliot.interfaces.cli.render.format import moment, plain
from foliot.interfaces.cli.render.table import Column, print_table
from foliot.service.commands.audit import AuditView
from foliot.service.operations import Operations
from foliot.service.queries.documents import as_json

_COLUMNS: Final = (
    Column("AT"),
    Column("ACTOR", stays=True),
    Column("ACTION", stays=True),
    Column("WHAT"),
    Column("ID", is_whole=True, stays=True),
    Column("CHANGE"),
)
_FIELDS: Final = 4
"""How many changed fields a row names."""


@click.command("audit")
@storage_options
@click.option("--actor", help="Only changes by this actor: cli:NAME, token:NAME, user:NAME, app, system.")
@click.option("--id", "name", help="Only changes of this job, schedule, workflow, run, token and so on.")
@click.option("--since", help="Only changes since: 24h, 7d, or a time in ISO 8601.")
@click.option("--before", help="Continue a list: the cursor of its last entry.")
@click.option(
    "-n", "--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="Maximum number of rows."
)
@json_option("one object per line")
def command(
    storage: str | None,
    config: Path | None,
    actor: str | None,
    name: str | None,
    since: str | None,
    before: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List changes, newest first: who made each of them, when, and the fields before and after it.

    Secrets are masked. Runs that applications and schedules create are not listed.
    """
    start = None if since is None else parse_past(since, datetime.now(UTC))

    def page(services: Operations) -> Awaitable[list[AuditView]]:
        return services.audit.page(actor=actor, id=name, since=start, before=before, limit=limit)

    _print(with_services(storage, config, page), as_json, limit)


def _print(entries: list[AuditView], is_json: bool, limit: int) -> None:
    if is_json:
        print_json_lines(as_json(entry) for entry in entries)
        return
    print_table(_COLUMNS, [_row(entry) for entry in entries])
    if not entries:
        print_note("no changes")
    elif len(entries) == limit:
        print_note(f"there may be more: --before {entries[-1].cursor}")


def _row(entry: AuditView) -> tuple[str, ...]:
    actor = f"{entry.actor} ({entry.detail})" if entry.detail else entry.actor
    return moment(entry.at), actor, entry.action, entry.kind, entry.id, _change(entry)


def _change(entry: AuditView) -> str:
    before, after = entry.before or {}, entry.after or {}
    names = list(dict.fromkeys([*before, *after]))
    shown = ", ".join(_field(name, before, after) for name in names[:_FIELDS])
    return shown if len(names) <= _FIELDS else f"{shown} and {len(names) - _FIELDS} more"


def _field(name: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    if name in before and name in after:
        return f"{name}: {plain(before[name])} -> {plain(after[name])}"
    return f"{name}: {plain(after.get(name, before.get(name)))}"
