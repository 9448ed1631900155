"""foliot jobs delete: a job that is not needed any more."""

from pathlib import Path

import click

from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.deleting import deleted, force_option
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.service.services import Services


@click.command("delete")
@click.argument("jobs", nargs=-1, required=True, shell_complete=complete_ids("job"))
@force_option
@storage_options
@json_option("one object per job")
def command(jobs: tuple[str, ...], force: bool, storage: str | None, config: Path | None, as_json: bool) -> int:
    """Delete JOBS that no file and no application defines, with their schedules.

    Runs that have not started are cancelled, running work goes on, and history is kept.
    """

    async def delete(services: Services, name: str) -> Result:
        return deleted(name, await services.jobs.delete(name, force=force))

    return run_batch(storage, config, jobs, delete, as_json=as_json)
