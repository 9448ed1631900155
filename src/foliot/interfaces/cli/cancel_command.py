"""foliot cancel: end runs, whether they have started or not."""

from pathlib import Path
from typing import Final

import click

from foliot.domain.run.lease import CancelAnswer
from foliot.errors import FoliotError
from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.references import NAMING
from foliot.service.services import Services

_SAID: Final = {
    CancelAnswer.CANCELLED: "cancelled before it started",
    CancelAnswer.REQUESTED: "its worker was told to end it",
    CancelAnswer.PENDING: "its worker had been told before",
}


@click.command("cancel", epilog=NAMING)
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_ids("run"))
@storage_options
@json_option("one object per run")
def command(runs: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """End RUNS: at once if they have not started, by telling their worker if they have."""
    return run_batch(storage, config, runs, _cancel, as_json=as_json)


async def _cancel(services: Services, name: str) -> Result:
    run = await services.runs.find(name)
    answer = await services.runs.cancel(run.id)
    if answer not in _SAID:
        raise FoliotError(f"run {run.id} is over: {run.status}", hint="Run it again with: foliot retry RUN")
    is_execution = answer is CancelAnswer.REQUESTED and await services.workflows.is_execution(run.id)
    said = "its steps are being ended" if is_execution else _SAID[answer]
    return {"run_id": run.id, "answer": answer, "text": f"{run.id} {said}"}
