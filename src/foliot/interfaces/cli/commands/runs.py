"""foliot runs: list runs."""

from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from foliot.domain.run.run import Status, parse_status
from foliot.domain.tree.run_kind import RunKind
from foliot.errors import InvalidInput
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import NAMING, json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_note
from foliot.interfaces.cli.parse import parse_past
from foliot.interfaces.cli.render.format import RUN_COLUMNS, run_row
from foliot.interfaces.cli.render.table import Column, print_table
from foliot.service.operations import Operations
from foliot.service.queries.documents import as_json
from foliot.service.queries.run_view import RunView

_COLUMNS: Final = (*RUN_COLUMNS[:3], Column("KIND"), *RUN_COLUMNS[3:])


def _statuses(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [status for status in Status if status.startswith(incomplete)]


@click.command("runs", epilog=NAMING)
@storage_options
@click.option("--job", help="Only runs of this job.", shell_complete=complete_ids("job"))
@click.option("--schedule", help="Only runs of this schedule.", shell_complete=complete_ids("schedule"))
@click.option("--status", help=f"Only runs with this status: {', '.join(Status)}.", shell_complete=_statuses)
@click.option("--failed", is_flag=True, help="Only runs that failed or timed out.")
@click.option("--since", help="Only runs created since: 24h, 7d, or a time in ISO 8601.")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in RunKind]),
    help="Only runs of this kind; job: runs that are not part of a workflow or fanout.",
)
@click.option(
    "--parent",
    help="Only the steps of this execution, or the items of this fanout.",
    shell_complete=complete_ids("run"),
)
@click.option("--root", help="Only runs in the tree of this run, at any depth.", shell_complete=complete_ids("run"))
@click.option("--all", "children", is_flag=True, help="Also steps, items and reducers.")
@click.option(
    "-n", "--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="Maximum number of rows."
)
@json_option("one object per line")
def command(
    storage: str | None,
    config: Path | None,
    job: str | None,
    schedule: str | None,
    status: str | None,
    failed: bool,
    since: str | None,
    kind: str | None,
    parent: str | None,
    root: str | None,
    children: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List runs, newest first.

    Steps of workflows and items of fanouts are left out, unless --all, --job, --parent, --root or --kind asks for them.
    """
    if parent is not None and root is not None:
        raise InvalidInput("--parent and --root are mutually exclusive", hint="Leave out one of them.")
    if failed and status is not None:
        raise InvalidInput("--failed and --status are mutually exclusive", hint="Leave out one of them.")
    known = None if status is None else parse_status(status)
    first = None if since is None else parse_past(since, datetime.now(UTC))

    def page(services: Operations) -> Awaitable[list[RunView]]:
        return services.queries.runs.newest(
            job=job,
            schedule=schedule,
            status=known,
            parent=parent,
            root=root,
            children=children,
            failed=failed,
            since=first,
            kind=None if kind is None else RunKind(kind),
            limit=limit,
        )

    _print(with_services(storage, config, page), as_json)


def _print(runs: list[RunView], is_json: bool) -> None:
    if is_json:
        print_json_lines(as_json(run) for run in runs)
        return
    print_table(_COLUMNS, [_row(run) for run in runs])
    if not runs:
        print_note("no runs")


def _row(run: RunView) -> Sequence[object]:
    run_id, job_id, shown_status, *rest = run_row(run)
    return run_id, job_id, shown_status, run.kind, *rest
