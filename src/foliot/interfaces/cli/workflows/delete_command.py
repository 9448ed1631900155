"""foliot workflows delete: a workflow that is not needed any more."""

from pathlib import Path

import click

from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.deleting import deleted, force_option
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.service.services import Services


@click.command("delete")
@click.argument("workflows", nargs=-1, required=True, shell_complete=complete_ids("workflow"))
@force_option
@storage_options
@json_option("one object per workflow")
def command(workflows: tuple[str, ...], force: bool, storage: str | None, config: Path | None, as_json: bool) -> int:
    """Delete WORKFLOWS that no file and no application defines, with their schedules and the jobs of their steps.

    Executions that have not begun are cancelled, those that have go on, and history is kept.
    """

    async def delete(services: Services, name: str) -> Result:
        return deleted(name, await services.workflows.delete(name, force=force))

    return run_batch(storage, config, workflows, delete, as_json=as_json)
