"""foliot workflows rerun: the same execution again, or the part of it that failed."""

from pathlib import Path

import click

from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.references import NAMING
from foliot.interfaces.cli.speaking import tell_done
from foliot.service.services import Services


@click.command("rerun", epilog=NAMING)
@click.argument("execution", shell_complete=complete_ids("run"))
@click.argument("steps", nargs=-1)
@storage_options
@json_option("one object")
def command(execution: str, steps: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> None:
    """Start a new execution that keeps the results of EXECUTION, and print its id.

    STEPS and what comes after them are run again; without STEPS it begins at those that failed.
    """

    async def rerun(services: Services) -> dict[str, str]:
        run = await services.workflows.find_execution(execution)
        return {"run_id": await services.workflows.rerun(run.id, *steps), "rerun_of": run.id}

    done = ask(storage, config, rerun)
    tell_done(done["run_id"], done, as_json=as_json)
