"""foliot ticks: list rows of the tick ledger."""

from collections.abc import Awaitable
from datetime import UTC, datetime
from pathlib import Path

import click

from foliot.domain.schedule.tick import TickOutcome
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_note
from foliot.interfaces.cli.parse import parse_past
from foliot.interfaces.cli.render.format import TICK_COLUMNS, listed_tick_row
from foliot.interfaces.cli.render.table import print_table
from foliot.service.operations import Operations
from foliot.service.queries.documents import as_json
from foliot.service.queries.schedule_view import TickView


@click.command("ticks")
@click.argument("name", metavar="[SCHEDULE|JOB]", required=False, shell_complete=complete_ids("job", "schedule"))
@storage_options
@click.option("--since", help="Only ticks planned since: 24h, 7d, or a time in ISO 8601.")
@click.option("--until", help="Only ticks planned until then, written as for --since.")
@click.option("--missed", is_flag=True, help="Only ticks that did not run because no scheduler was running in time.")
@click.option(
    "--skipped",
    is_flag=True,
    help="Only ticks that were deliberately not run. A tick whose run was skipped by its gate has run: see --ran.",
)
@click.option("--ran", is_flag=True, help="Only ticks that became runs, also if their gate then skipped the run.")
@click.option("--failed", is_flag=True, help="Only ticks without a run because of an error, or whose run failed.")
@click.option(
    "-n", "--limit", default=50, show_default=True, type=click.IntRange(1, 1_000), help="Maximum number of rows."
)
@json_option("one object per line")
def command(
    name: str | None,
    storage: str | None,
    config: Path | None,
    since: str | None,
    until: str | None,
    missed: bool,
    skipped: bool,
    ran: bool,
    failed: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List planned ticks and their outcomes, newest first: of a schedule, of a job, or of all schedules.

    A range of ticks with the same outcome is one row with their number. Options for outcomes may be combined.
    """
    now = datetime.now(UTC)
    wanted = {
        TickOutcome.MISSED: missed,
        TickOutcome.SKIPPED: skipped,
        TickOutcome.RAN: ran,
        TickOutcome.FAILED: failed,
    }

    def page(services: Operations) -> Awaitable[list[TickView]]:
        return services.queries.ticks.newest(
            name,
            since=None if since is None else parse_past(since, now),
            until=None if until is None else parse_past(until, now),
            outcomes=[outcome for outcome, is_wanted in wanted.items() if is_wanted],
            has_failed_run=failed,
            limit=limit,
        )

    _print(with_services(storage, config, page), as_json)


def _print(ticks: list[TickView], is_json: bool) -> None:
    if is_json:
        print_json_lines(as_json(tick) for tick in ticks)
        return
    print_table(TICK_COLUMNS, [listed_tick_row(tick) for tick in ticks])
    if not ticks:
        print_note("no ticks")
