"""foliot retry: the same once more."""

from pathlib import Path

import click

from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.references import NAMING
from foliot.service.services import Services


@click.command("retry", epilog=NAMING)
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_ids("run"))
@storage_options
@json_option("one object per run")
def command(runs: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Start new runs of what is over, with the payload and options of RUNS. Prints the ids of the new ones."""
    return run_batch(storage, config, runs, _retry, as_json=as_json)


async def _retry(services: Services, name: str) -> Result:
    run = await services.runs.find(name)
    again = await services.runs.retry(run.id)
    return {"run_id": again, "retry_of": run.id, "text": again}
