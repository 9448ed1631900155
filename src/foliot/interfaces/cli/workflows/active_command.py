"""foliot workflows active: executions under way."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from foliot.interfaces.cli.execution_words import Told
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.speaking import say, tell_objects
from foliot.interfaces.cli.table import Column, moment, print_table
from foliot.interfaces.cli.workflows.finding import find_workflow
from foliot.service.services import Services

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

    async def look(services: Services) -> list[Told]:
        if workflow is not None:
            await find_workflow(services, workflow)
        found = await services.storage.executions.active(workflow_id=workflow, limit=limit)
        told = [await Told.gather(services, execution.run_id) for execution in found]
        return [one for one in told if one is not None]

    found = ask(storage, config, look)
    if as_json:
        tell_objects(one.document() for one in found)
        return
    print_table(_COLUMNS, map(_row, found))
    if not found:
        say("no executions under way")


def _row(told: Told) -> Sequence[object]:
    view = told.view
    return view.id, view.workflow_id, view.version, view.status, moment(view.started_at), told.why()
