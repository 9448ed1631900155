"""foliot cancel, retry, mark, pause and resume: change runs, jobs and schedules by hand."""

from pathlib import Path
from typing import Final

import click

from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import MarkAnswer
from foliot.errors import FoliotError
from foliot.interfaces.cli.batch import Action, Result, run_batch
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.options import NAMING, json_option, storage_options
from foliot.service.services import Services

_CANCELLED: Final = {
    CancelAnswer.CANCELLED: "cancelled before it started",
    CancelAnswer.REQUESTED: "cancellation requested",
    CancelAnswer.PENDING: "cancellation was already requested",
}
_MARKED: Final = {
    MarkAnswer.MARKED: "marked as success, it will not start",
    MarkAnswer.RECORDED: "replaced by a new run with status success",
    MarkAnswer.SUCCESS: "was already a success",
}


@click.command("cancel", epilog=NAMING)
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_ids("run"))
@storage_options
@json_option("one object per run")
def cancel(runs: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Cancel RUNS: at once if they have not started, else by a request to their worker."""
    return run_batch(storage, config, runs, _cancel, as_json=as_json)


async def _cancel(services: Services, name: str) -> Result:
    run = await services.runs.find(name)
    answer = await services.runs.cancel(run.id)
    if answer not in _CANCELLED:
        raise FoliotError(f"run {run.id} is over: {run.status}", hint="Run it again with: foliot retry RUN")
    is_execution = answer is CancelAnswer.REQUESTED and await services.workflows.is_execution(run.id)
    done = "cancellation of its steps requested" if is_execution else _CANCELLED[answer]
    return {"run_id": run.id, "answer": answer, "text": f"{run.id} {done}"}


@click.command("retry", epilog=NAMING)
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_ids("run"))
@storage_options
@json_option("one object per run")
def retry(runs: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Start new runs with the payload and options of RUNS that are over, and print their ids."""
    return run_batch(storage, config, runs, _retry, as_json=as_json)


async def _retry(services: Services, name: str) -> Result:
    run = await services.runs.find(name)
    new_id = await services.runs.retry(run.id)
    return {"run_id": new_id, "retry_of": run.id, "text": new_id}


@click.command("mark", epilog=NAMING)
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_ids("run"))
@storage_options
@json_option("one object per run")
def mark(runs: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Mark RUNS as successes.

    A run that has not started ends at once. A run that ended without success stays as it is, and a new run with
    status success is recorded in its place. A running run must be cancelled first.
    """
    return run_batch(storage, config, runs, _mark, as_json=as_json)


async def _mark(services: Services, name: str) -> Result:
    run = await services.runs.find(name)
    answer, marked = await services.runs.mark(run.id)
    new_run = "" if marked == run.id else f": {marked}"
    text = f"{run.id} {_MARKED[answer]}{new_run}"
    return {"run_id": run.id, "answer": answer, "success_id": marked, "text": text}


@click.command("pause")
@click.argument("ids", nargs=-1, required=True, shell_complete=complete_ids("job", "schedule"))
@storage_options
@json_option("one object per id")
def pause(ids: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Stop jobs (all their schedules) or schedules from firing.

    Running work continues. Ticks during the pause are recorded as skipped (paused). Workflows skip the steps that name
    a paused job.
    """
    return run_batch(storage, config, ids, _pause_action(True), as_json=as_json)


@click.command("resume")
@click.argument("ids", nargs=-1, required=True, shell_complete=complete_ids("job", "schedule"))
@storage_options
@json_option("one object per id")
def resume(ids: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Let paused jobs (all their schedules) or schedules fire again, and paused jobs run as steps."""
    return run_batch(storage, config, ids, _pause_action(False), as_json=as_json)


def _pause_action(paused: bool) -> Action:
    async def set_paused(services: Services, name: str) -> Result:
        word = "paused" if paused else "resumed"
        schedules = await services.schedules.pause_all(name, paused)
        text = f"{word} {', '.join(schedules) or name}"
        return {"id": name, "schedules": schedules, "done": word, "text": text}

    return set_paused
