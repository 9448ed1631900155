"""foliot workflows mark: a step counts as done."""

from pathlib import Path

import click

from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.references import NAMING
from foliot.interfaces.cli.speaking import tell_done
from foliot.service.services import Services


@click.command("mark", epilog=NAMING)
@click.argument("execution", shell_complete=complete_ids("run"))
@click.argument("step")
@storage_options
@json_option("one object")
def command(execution: str, step: str, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Let STEP of EXECUTION count as a success, and print the id of the execution that goes on.

    One that waits is a success at once. Where the execution is over, a new one goes on after the step.
    """

    async def mark(services: Services) -> dict[str, str]:
        run = await services.workflows.find_execution(execution)
        return {"run_id": await services.workflows.mark_step(run.id, step), "marked_in": run.id, "step": step}

    done = ask(storage, config, mark)
    tell_done(done["run_id"], done, as_json=as_json)
