"""foliot workflows delete: a workflow that is not needed any more."""

from contextlib import suppress
from pathlib import Path

import click

from foliot.errors import RowUnreadable
from foliot.interfaces.cli.deleting import deleting, force_option
from foliot.interfaces.cli.each import do_each
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.workflows.finding import find_workflow
from foliot.wiring import Services


@click.command("delete")
@click.argument("workflows", nargs=-1, required=True, shell_complete=complete_ids("workflow"))
@force_option
@storage_options
@json_option("one object per workflow")
def command(workflows: tuple[str, ...], force: bool, storage: str | None, config: Path | None, as_json: bool) -> int:
    """Delete WORKFLOWS that no file and no application defines, with their schedules and the jobs of their steps.

    Executions that have not begun are cancelled, those that have go on, and history is kept.
    """
    return do_each(storage, config, workflows, deleting(_delete, force=force), as_json=as_json)


async def _delete(services: Services, name: str, force: bool) -> None:
    with suppress(RowUnreadable):
        await find_workflow(services, name)
    await services.dependencies.remove_jobs(await services.workflows.delete(name, force=force))
