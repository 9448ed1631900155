"""foliot mark: it counts as done."""

from pathlib import Path
from typing import Final

import click

from foliot.domain.run.mark import MarkAnswer
from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.references import NAMING
from foliot.service.services import Services

_SAID: Final = {
    MarkAnswer.MARKED: "is a success and will not start",
    MarkAnswer.RECORDED: "has a success standing for it",
    MarkAnswer.SUCCESS: "was a success already",
}


@click.command("mark", epilog=NAMING)
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_ids("run"))
@storage_options
@json_option("one object per run")
def command(runs: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Let RUNS count as successes.

    One that has not started ends at once. One that ended otherwise stays as it is, and a new run, a success from the
    beginning, stands for it. One that is running must be cancelled first.
    """
    return run_batch(storage, config, runs, _mark, as_json=as_json)


async def _mark(services: Services, name: str) -> Result:
    run = await services.runs.find(name)
    answer, marked = await services.runs.mark(run.id)
    standing = "" if marked == run.id else f": {marked}"
    text = f"{run.id} {_SAID[answer]}{standing}"
    return {"run_id": run.id, "answer": answer, "success_id": marked, "text": text}
