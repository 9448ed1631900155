"""foliot workflows approve: an answer that lets go on."""

from pathlib import Path

import click

from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.references import NAMING
from foliot.interfaces.cli.workflows.answering import answer


@click.command("approve", epilog=NAMING)
@click.argument("execution", shell_complete=complete_ids("run"))
@click.argument("step")
@storage_options
@click.option("--by", help="Who says so.")
@json_option("one object")
def command(execution: str, step: str, storage: str | None, config: Path | None, by: str | None, as_json: bool) -> None:
    """Let STEP of EXECUTION, which waits for an answer, go on."""
    answer(storage, config, execution, step, by, approve=True, as_json=as_json)
