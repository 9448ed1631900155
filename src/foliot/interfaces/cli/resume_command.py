"""foliot resume: jobs and schedules, let go again."""

from pathlib import Path

import click

from foliot.interfaces.cli.batch import run_batch
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.pausing import pausing


@click.command("resume")
@click.argument("ids", nargs=-1, required=True, shell_complete=complete_ids("job", "schedule"))
@storage_options
@json_option("one object per id")
def command(ids: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Let jobs or schedules fire again. A job stands for all its schedules."""
    return run_batch(storage, config, ids, pausing(False), as_json=as_json)
