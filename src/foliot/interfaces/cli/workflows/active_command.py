"""foliot workflows active: executions under way."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.render.execution import execution_document
from foliot.interfaces.cli.render.explanation import words
from foliot.interfaces.cli.speaking import say, tell_objects
from foliot.interfaces.cli.table import Column, moment, print_table
from foliot.service.queries.executions import ExecutionPage

_COLUMNS: Final = (
    Column("EXECUTION", is_whole=True),
    Column("WORKFLOW", is_whole=True),
    Column("VERSION"),
    Column("STATUS", stays=True),
    Column("STARTED"),
    Column("WHY"),
)


@click.command("active")
@storage_options
@click.option("--workflow", help="Only executions of this workflow.", shell_complete=complete_ids("workflow"))
@click.option("-n", "--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many.")
@json_option("one object per line")
def command(storage: str | None, config: Path | None, workflow: str | None, limit: int, as_json: bool) -> None:
    """List executions that are not over, oldest first: how far they are, and what they wait for."""
    found = ask(storage, config, lambda services: services.queries.workflows.active(workflow_id=workflow, limit=limit))
    if as_json:
        tell_objects(map(execution_document, found))
        return
    print_table(_COLUMNS, map(_row, found))
    if not found:
        say("no executions under way")


def _row(page: ExecutionPage) -> Sequence[object]:
    view = page.execution
    return view.id, view.workflow_id, view.version, view.status, moment(view.started_at), words(page.why)
