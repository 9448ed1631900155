"""foliot jobs: what there is to do."""

from pathlib import Path
from typing import Final

import click

from foliot.domain.workflow.jobs import PART_SOURCE
from foliot.interfaces.cli.lazy import lazy_group
from foliot.interfaces.cli.misplaced import refuse_misplaced
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.speaking import say, tell_objects
from foliot.interfaces.cli.table import Column, moment, print_table
from foliot.interfaces.cli.words import job_state, rule, status
from foliot.service.queries.documents import as_json
from foliot.service.queries.jobs import ListedJob

_COLUMNS: Final = (
    Column("JOB", is_whole=True),
    Column("KIND"),
    Column("STATE", stays=True),
    Column("SCHEDULE"),
    Column("NEXT"),
    Column("LAST RUN"),
    Column("FROM"),
)
_OWN: Final = ("foliot", PART_SOURCE)
_SECTIONS: Final = {"Act": {"delete": "Delete jobs."}}


@click.group(
    "jobs",
    cls=lazy_group("foliot.interfaces.cli.jobs", _SECTIONS),
    invoke_without_command=True,
    subcommand_metavar="[COMMAND]",
)
@storage_options
@click.option("--tag", help="Only jobs with this tag.")
@click.option("--all", "is_all", is_flag=True, help="Also those that Foliot itself needs, and steps of workflows.")
@json_option("one object per line")
@click.pass_context
def command(
    context: click.Context, storage: str | None, config: Path | None, tag: str | None, is_all: bool, as_json: bool
) -> None:
    """List jobs: when they run, and how they ran last."""
    if context.invoked_subcommand is not None:
        refuse_misplaced(context, context.invoked_subcommand)
        return
    found = [
        one
        for one in ask(storage, config, lambda services: services.queries.jobs.all())
        if (is_all or one.job.source not in _OWN) and (tag is None or tag in one.job.tags)
    ]
    if as_json:
        tell_objects(map(_document, found))
        return
    print_table(_COLUMNS, map(_row, found))
    if not found:
        say("no jobs")


def _document(listed: ListedJob) -> dict[str, object]:
    schedules = [as_json(schedule) for schedule in listed.schedules]
    return {**as_json(listed.job), "state": job_state(listed.job, listed.schedules), "schedules": schedules}


def _row(listed: ListedJob) -> tuple[object, ...]:
    job, schedules = listed.job, listed.schedules
    coming = [schedule.next_run_at for schedule in schedules if schedule.next_run_at and not schedule.paused]
    more = f" and {len(schedules) - 1} more" if len(schedules) > 1 else ""
    rules = f"{rule(schedules[0])}{more}" if schedules else "-"
    last = "-" if job.latest_run is None else status(job.latest_run)
    return job.id, job.kind, job_state(job, schedules), rules, moment(min(coming, default=None)), last, job.source
