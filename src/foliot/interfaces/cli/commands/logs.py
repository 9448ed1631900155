"""foliot logs: print the output of a run."""

import sys
from functools import partial
from pathlib import Path

import click

from foliot.domain.tree.run_kind import FanoutRole
from foliot.errors import FoliotError, InvalidInput
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import NAMING, json_option, storage_options
from foliot.interfaces.cli.output import print_note
from foliot.interfaces.cli.render.log import JsonPrinter, TextPrinter, print_log
from foliot.interfaces.cli.render.step_log import StepJsonPrinter, StepTextPrinter, print_steps
from foliot.service.operations import Operations
from foliot.service.queries.run_view import RunView


@click.command("logs", epilog=NAMING)
@click.argument("run", shell_complete=complete_ids("run"))
@storage_options
@click.option("-f", "--follow", is_flag=True, help="Continue until the run has ended, through all its attempts.")
@click.option(
    "--stdout",
    is_flag=True,
    help="Only the standard output of one attempt, byte for byte; an error if it is not complete.",
)
@click.option("--attempt", type=click.IntRange(1), help="Only this attempt. Default with --stdout: the last one.")
@click.option("--item", metavar="ITEM", help="Of a fanout: the output of this item, by index or exact text.")
@click.option(
    "--tail", type=click.IntRange(0, 1_000_000), help="Print only this many of the last lines, and what follows."
)
@click.option("--timestamps", is_flag=True, help="Begin each line with its time and stream.")
@json_option("one object per piece, and one with the state of the log")
def command(
    run: str,
    storage: str | None,
    config: Path | None,
    follow: bool,
    stdout: bool,
    attempt: int | None,
    item: str | None,
    tail: int | None,
    timestamps: bool,
    as_json: bool,
) -> None:
    """Print the output of RUN.

    For an execution or a chain, print the output of its steps, with the name of the step in each line. For a fanout,
    print the output of one item, or of its reducer.

    On a terminal colours are kept, and all other control characters are removed.
    """
    if stdout:
        if follow or timestamps or as_json or tail is not None:
            raise InvalidInput("--stdout can only be combined with --attempt", hint="Remove the other options.")
        sys.stdout.buffer.write(with_services(storage, config, partial(_stdout, run=run, item=item, attempt=attempt)))
        return

    async def show(services: Operations) -> None:
        found = await _find(services, run, item)
        if found is None:
            return
        steps = await services.queries.workflows.step_names(found.id)
        if steps is not None:
            if attempt is not None or tail is not None:
                raise _not_for_trees(found.id)
            joint = StepJsonPrinter() if as_json else StepTextPrinter(steps, timestamps=timestamps)
            await print_steps(services, found.id, joint, is_following=follow)
            return
        printer = JsonPrinter() if as_json else TextPrinter(timestamps=timestamps)
        await print_log(services, found.id, printer, is_following=follow, attempt=attempt, tail=tail)

    with_services(storage, config, show)


async def _find(services: Operations, name: str, item: str | None) -> RunView | None:
    """Return the run whose output is printed: of a fanout that of an item, or of its reducer. None: it has none."""
    run = await services.queries.runs.named(name)
    if item is not None:
        found = await services.queries.fanouts.item(run.id, item)
        if found.run_id is None:
            raise FoliotError(
                f"item {found.index} of fanout {run.id} has no run: {found.status}", hint=f"See: foliot show {run.id}"
            )
        return await services.queries.runs.named(found.run_id)
    if run.role is not FanoutRole.PARENT:
        return run
    print_note(f"the output of an item: foliot logs {run.id} --item INDEX")
    progress = await services.queries.fanouts.progress(run.id)
    reducer = None if progress is None or progress.reducer is None else progress.reducer.run_id
    return None if reducer is None else await services.queries.runs.named(reducer)


async def _stdout(services: Operations, run: str, item: str | None, attempt: int | None) -> bytes:
    found = await _find(services, run, item)
    if found is None:
        return b""
    if await services.queries.workflows.step_names(found.id) is not None:
        raise _not_for_trees(found.id)
    return await services.logs.raw_stdout(found.id, attempt)


def _not_for_trees(run_id: str) -> InvalidInput:
    return InvalidInput(
        f"run {run_id} has steps: --stdout, --attempt and --tail work only for the run of a step",
        hint=f"List the runs of its steps with: foliot runs --root {run_id}",
    )
