"""foliot cancel, retry, mark, pause and resume: change runs, jobs and schedules by hand."""

import getpass
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import click

from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import MarkAnswer
from foliot.domain.tree.run_kind import FanoutRole, RunKind
from foliot.errors import FoliotError, InvalidInput
from foliot.interfaces.cli.batch import Action, Result, run_batch
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.options import NAMING, json_option, storage_options
from foliot.interfaces.cli.parse import parse_future
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.pause import pause_text
from foliot.service.commands.cancels import CANCELLABLE
from foliot.service.operations import Operations
from foliot.service.queries.documents import as_json as document_of

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
_ALL: Final = "all"


@click.command("cancel", epilog=NAMING)
@click.argument("runs", nargs=-1, shell_complete=complete_ids("run"))
@click.option("--all", "is_all", is_flag=True, help="Cancel all runs that have not ended, at most 1,000.")
@click.option("--job", help="With --all: only runs of this job or workflow.", shell_complete=complete_ids("job"))
@click.option(
    "--status",
    type=click.Choice([one.value for one in CANCELLABLE]),
    help="With --all: only runs that have this status now.",
)
@click.option("--yes", is_flag=True, help="With --all: do it. Otherwise the command only says how many runs there are.")
@storage_options
@json_option("one object per run")
def cancel(
    runs: tuple[str, ...],
    is_all: bool,
    job: str | None,
    status: str | None,
    yes: bool,
    storage: str | None,
    config: Path | None,
    as_json: bool,
) -> int:
    """Cancel RUNS, or with --all those of a job or of all jobs.

    A run that has not started ends at once; the worker of a running one is asked to end it.
    """
    if is_all == bool(runs):
        given = "runs and --all are mutually exclusive" if is_all else "no run is given"
        raise InvalidInput(given, hint="Give ids of runs, or --all.")
    if is_all:
        return run_batch(storage, config, [_ALL], _cancel_all_action(job, status, yes), as_json=as_json)
    if job is not None or status is not None or yes:
        raise InvalidInput("--job, --status and --yes need --all", hint="Write foliot cancel --all, or leave them out.")
    return run_batch(storage, config, runs, _cancel, as_json=as_json)


def _cancel_all_action(job: str | None, status: str | None, is_confirmed: bool) -> Action:
    async def cancel_all(services: Operations, _name: str) -> Result:
        done = await services.runs.cancel_all(job, status=status, confirm=is_confirmed)
        text = f"{done.cancelled} cancelled before they started, cancellation of {done.requested} requested"
        more = "" if done.is_complete else "; there may be more: repeat the command"
        return {**document_of(done), "text": f"{text}{more}"}

    return cancel_all


async def _cancel(services: Operations, name: str) -> Result:
    run = await services.queries.runs.named(name)
    answer = await services.runs.cancel(run.id)
    if answer not in _CANCELLED:
        raise FoliotError(f"run {run.id} has already ended: {run.status}", hint="Run it again with: foliot retry RUN")
    done = _CANCELLED[answer]
    if answer is CancelAnswer.REQUESTED and run.role is FanoutRole.PARENT:
        done = "cancellation of its items requested"
    elif answer is CancelAnswer.REQUESTED and run.kind is not RunKind.CHAIN and run.queue == TREES_QUEUE:
        done = "cancellation of its steps requested"
    return {"run_id": run.id, "answer": answer, "text": f"{run.id} {done}"}


@click.command("retry", epilog=NAMING)
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_ids("run"))
@storage_options
@click.option("--failed", is_flag=True, help="Of fanouts: repeat only items that failed, timed out or were cancelled.")
@json_option("one object per run")
def retry(runs: tuple[str, ...], storage: str | None, config: Path | None, failed: bool, as_json: bool) -> int:
    """Repeat RUNS that have ended: start new runs with the same payload and options, and print their ids.

    A fanout reads its inputs again; with --failed, a new fanout runs the failed items of RUNS.
    """
    return run_batch(storage, config, runs, partial(_retry, is_for_failed=failed), as_json=as_json)


async def _retry(services: Operations, name: str, *, is_for_failed: bool) -> Result:
    run = await services.queries.runs.named(name)
    new_id = await (services.runs.retry_failed(run.id) if is_for_failed else services.runs.retry(run.id))
    return {"run_id": new_id, "retry_of": run.id, "text": new_id}


@click.command("mark", epilog=NAMING)
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_ids("run"))
@storage_options
@json_option("one object per run")
def mark(runs: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Mark RUNS as successful.

    A run that has not started ends at once. A run that ended without success stays as it is, and a new run with
    status success is recorded in its place. A running run must be cancelled first.
    """
    return run_batch(storage, config, runs, _mark, as_json=as_json)


async def _mark(services: Operations, name: str) -> Result:
    run = await services.queries.runs.named(name)
    answer, marked = await services.runs.mark(run.id)
    new_run = "" if marked == run.id else f": {marked}"
    text = f"{run.id} {_MARKED[answer]}{new_run}"
    return {"run_id": run.id, "answer": answer, "success_id": marked, "text": text}


@click.command("pause")
@click.argument("ids", nargs=-1, shell_complete=complete_ids("job", "schedule"))
@click.option("--all", "is_all", is_flag=True, help="Pause all schedules, also those that are created meanwhile.")
@click.option("--until", help="With --all: when the pause ends: 90m, 24h, or a time in ISO 8601.")
@click.option("--note", help="With --all: why. It is shown with the pause.")
@storage_options
@json_option("one object per id")
def pause(
    ids: tuple[str, ...],
    is_all: bool,
    until: str | None,
    note: str | None,
    storage: str | None,
    config: Path | None,
    as_json: bool,
) -> int:
    """Pause jobs with all their schedules, single schedules, or all schedules.

    Running work continues. When the pause ends, its ticks are recorded as skipped (paused). Workflows skip the steps
    that name a paused job.
    """
    _check_ids(ids, is_all)
    if is_all:
        return run_batch(storage, config, [_ALL], _pause_all_action(until, note), as_json=as_json)
    if until is not None or note is not None:
        hint = "Write foliot pause --all, or leave --until and --note out."
        raise InvalidInput("--until and --note need --all", hint=hint)
    return run_batch(storage, config, ids, _pause_action(True), as_json=as_json)


@click.command("resume")
@click.argument("ids", nargs=-1, shell_complete=complete_ids("job", "schedule"))
@click.option("--all", "is_all", is_flag=True, help="End the pause of all schedules (foliot pause --all).")
@storage_options
@json_option("one object per id")
def resume(ids: tuple[str, ...], is_all: bool, storage: str | None, config: Path | None, as_json: bool) -> int:
    """Resume paused jobs with all their schedules, or single schedules.

    --all ends the pause of all schedules. What was paused by its id stays paused.
    """
    _check_ids(ids, is_all)
    if is_all:
        return run_batch(storage, config, [_ALL], _resume_all, as_json=as_json)
    return run_batch(storage, config, ids, _pause_action(False), as_json=as_json)


def _check_ids(ids: tuple[str, ...], is_all: bool) -> None:
    if is_all == bool(ids):
        given = "ids and --all are mutually exclusive" if is_all else "no job or schedule is given"
        raise InvalidInput(given, hint="Give ids of jobs and schedules, or --all.")


def _pause_all_action(until: str | None, note: str | None) -> Action:
    async def pause_all(services: Operations, _name: str) -> Result:
        at = None if until is None else parse_future(until, datetime.now(UTC))
        paused = await services.schedules.pause_all(at, note or "", _user())
        return {"done": "paused", **document_of(paused), "text": pause_text(paused)}

    return pause_all


async def _resume_all(services: Operations, _name: str) -> Result:
    ended = await services.schedules.resume_all()
    if ended is None:
        raise FoliotError(
            "the schedules were not paused with --all",
            hint="To resume a job or schedule, write its id. See: foliot schedules",
        )
    text = f"resumed all schedules, paused since {moment(ended.since)}"
    return {"done": "resumed", **document_of(ended), "text": text}


def _user() -> str:
    """Return the name of the user of this process, or nothing if it has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""


async def _are_paused(services: Operations, schedules: Sequence[str]) -> bool:
    """Return whether schedules that were resumed by their ids are paused by `foliot pause --all`."""
    return any(one.all_paused for one in await services.queries.schedules.all() if one.schedule_id in schedules)


def _pause_action(paused: bool) -> Action:
    async def set_paused(services: Operations, name: str) -> Result:
        word = "paused" if paused else "resumed"
        schedules = await services.schedules.pause_named(name, paused)
        text = f"{word} {', '.join(schedules) or name}"
        if not paused and await _are_paused(services, schedules):
            text += "; all schedules are still paused: foliot resume --all"
        return {"id": name, "schedules": schedules, "done": word, "text": text}

    return set_paused
