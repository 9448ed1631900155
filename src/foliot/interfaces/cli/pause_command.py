"""foliot pause: jobs and schedules, held back for a while."""

from pathlib import Path

import click

from foliot.interfaces.cli.batch import run_batch
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.pausing import pausing


@click.command("pause")
@click.argument("ids", nargs=-1, required=True, shell_complete=complete_ids("job", "schedule"))
@storage_options
@json_option("one object per id")
def command(ids: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Stop jobs or schedules from firing. A job stands for all its schedules.

    Running work goes on. Ticks that pass meanwhile are written down as skipped (paused).
    """
    return run_batch(storage, config, ids, pausing(True), as_json=as_json)
