"""foliot schedules delete: a schedule that is not needed any more."""

from pathlib import Path

import click

from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.deleting import force_option
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.service.services import Services


@click.command("delete")
@click.argument("schedules", nargs=-1, required=True, shell_complete=complete_ids("schedule"))
@force_option
@storage_options
@json_option("one object per schedule")
def command(schedules: tuple[str, ...], force: bool, storage: str | None, config: Path | None, as_json: bool) -> int:
    """Delete SCHEDULES that no file and no application defines. The runs that they started are kept."""

    async def delete(services: Services, name: str) -> Result:
        await services.schedules.delete(name, force=force)
        return {"id": name, "done": "deleted", "text": f"deleted {name}"}

    return run_batch(storage, config, schedules, delete, as_json=as_json)
