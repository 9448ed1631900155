"""foliot plan: show what a configuration would change, and what would fire."""

import asyncio
import time
from pathlib import Path
from typing import Final

import click

from foliot.domain.deploy.compare import compare
from foliot.domain.deploy.deployment import Changes, Current, Declared
from foliot.domain.deploy.upcoming import UpcomingFire, upcoming_fires
from foliot.domain.instant import LATEST, Instant, from_timedelta, to_datetime, to_iso
from foliot.errors import StorageMissing
from foliot.interfaces.cli.configuration import load_config
from foliot.interfaces.cli.open_storage import opened_storage
from foliot.interfaces.cli.options import database_options, json_option, require_config
from foliot.interfaces.cli.output import print_json, print_line, print_note
from foliot.interfaces.cli.parse import parse_span
from foliot.interfaces.cli.place import refuse_server
from foliot.interfaces.cli.progress import progress_note
from foliot.interfaces.cli.render.changes import change_objects, print_changes
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.table import Column, print_table

_COLUMNS: Final = (Column("WHEN"), Column("JOB", is_whole=True, stays=True), Column("SCHEDULE", is_whole=True))


@click.command("plan")
@database_options
@click.option("--within", default="24h", show_default=True, help="How far ahead: 90s, 15m, 24h, 7d.")
@click.option(
    "-n", "--limit", default=20, show_default=True, type=click.IntRange(0, 10_000), help="Maximum number of fire times."
)
@json_option("one object")
def command(storage: str | None, config: Path | None, within: str, limit: int, as_json: bool) -> int:
    """Show what `foliot reload` would change, and what would fire after it. Nothing is changed.

    The exit code is 1 if the file has errors, or defines a job that another file or an application owns.
    """
    refuse_server()
    ahead = from_timedelta(parse_span(within))
    with progress_note("comparing the configuration with the database"):
        configuration = load_config(require_config(config))
        changes = asyncio.run(_plan(storage or configuration.storage, configuration.declared))
    now = Instant(time.time_ns() // 1_000_000)
    coming = list(upcoming_fires(changes, now, Instant(min(now + ahead, LATEST)), limit))
    if as_json:
        print_json(_object(changes, coming))
    else:
        print_changes(changes)
        if limit:
            _print_fires(coming, within)
    return 1 if changes.refusals else 0


def _print_fires(coming: list[UpcomingFire], within: str) -> None:
    print_line()
    print_table(_COLUMNS, [(moment(to_datetime(one.at)), one.job_id, one.schedule_id) for one in coming])
    if not coming:
        print_note(f"nothing fires within {within}")


async def _plan(url: str, declared: Declared) -> Changes:
    """Compare with the stored definitions; a missing database has none."""
    try:
        async with opened_storage(url) as services:
            return await services.deployer.plan(declared)
    except StorageMissing:
        return compare(declared, Current())


def _object(changes: Changes, coming: list[UpcomingFire]) -> dict[str, object]:
    planned = [{"at": to_iso(one.at), "schedule_id": one.schedule_id, "job_id": one.job_id} for one in coming]
    return {"changes": list(change_objects(changes)), "fires": planned}
