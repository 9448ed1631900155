"""foliot workflows pause: a step, left out for a while."""

from pathlib import Path

import click

from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.workflows.pausing import pause


@click.command("pause")
@click.argument("workflow", shell_complete=complete_ids("workflow"))
@click.argument("step")
@storage_options
@json_option("one object")
def command(workflow: str, step: str, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Let executions of WORKFLOW that reach STEP skip it, with what needs its success."""
    pause(storage, config, workflow, step, paused=True, as_json=as_json)
