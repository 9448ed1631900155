"""foliot jobs delete: a job that is not needed any more."""

from pathlib import Path

import click

from foliot.domain.ids import JobId
from foliot.interfaces.cli.deleting import deleting, force_option
from foliot.interfaces.cli.each import do_each
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.wiring import Services


@click.command("delete")
@click.argument("jobs", nargs=-1, required=True, shell_complete=complete_ids("job"))
@force_option
@storage_options
@json_option("one object per job")
def command(jobs: tuple[str, ...], force: bool, storage: str | None, config: Path | None, as_json: bool) -> int:
    """Delete JOBS that no file and no application defines, with their schedules.

    Runs that have not started are cancelled, running work goes on, and history is kept.
    """
    return do_each(storage, config, jobs, deleting(_delete, force=force), as_json=as_json)


async def _delete(services: Services, name: str, force: bool) -> None:
    await services.registrar.delete_job(name, force=force)
    await services.dependencies.remove_jobs([JobId(name)])
