"""foliot jobs: list jobs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from foliot.domain.workflow.spec import HIDDEN_SOURCES
from foliot.interfaces.cli.command_group import check_option_order, lazy_group
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_note
from foliot.interfaces.cli.render.format import job_state, moment, rule, status
from foliot.interfaces.cli.render.table import Column, print_table
from foliot.service.queries.documents import as_json
from foliot.service.queries.job_view import JobView
from foliot.service.queries.jobs import JobListItem
from foliot.service.queries.schedule_view import ScheduleView

_COLUMNS: Final = (
    Column("JOB", is_whole=True),
    Column("KIND"),
    Column("STATE", stays=True),
    Column("SCHEDULE"),
    Column("NEXT"),
    Column("LAST RUN"),
    Column("FROM"),
)
_SECTIONS: Final = {"Control": {"delete": "Delete jobs."}}
_HOMES: Final = {"delete": "delete:delete_jobs"}


@click.group("jobs", cls=lazy_group(_SECTIONS, _HOMES), invoke_without_command=True, subcommand_metavar="[COMMAND]")
@storage_options
@click.option("--tag", help="Only jobs with this tag.")
@click.option("--all", "is_all", is_flag=True, help="Also jobs that Foliot itself uses, and steps of workflows.")
@json_option("one object per line")
@click.pass_context
def command(
    context: click.Context, storage: str | None, config: Path | None, tag: str | None, is_all: bool, as_json: bool
) -> None:
    """List jobs: their schedules, their next tick and the status of their last run."""
    if context.invoked_subcommand is not None:
        check_option_order(context, context.invoked_subcommand)
        return
    found = [
        one
        for one in with_services(storage, config, lambda services: services.queries.jobs.all())
        if (is_all or one.job.source not in HIDDEN_SOURCES) and (tag is None or tag in one.job.tags)
    ]
    if as_json:
        print_json_lines(map(_document, found))
        return
    print_table(_COLUMNS, map(_row, found))
    if not found:
        print_note("no jobs")


def _document(listed: JobListItem) -> dict[str, object]:
    schedules = [as_json(schedule) for schedule in listed.schedules]
    return {**as_json(listed.job), "state": job_state(listed.job, listed.schedules), "schedules": schedules}


def _state(job: JobView, schedules: Sequence[ScheduleView]) -> str:
    state = job_state(job, schedules)
    return f"{state} (failures)" if state == "paused" and job.stopped_at is not None else state


def _row(listed: JobListItem) -> tuple[object, ...]:
    job, schedules = listed.job, listed.schedules
    coming = [schedule.next_run_at for schedule in schedules if schedule.next_run_at and not schedule.paused]
    more = f" and {len(schedules) - 1} more" if len(schedules) > 1 else ""
    rules = f"{rule(schedules[0])}{more}" if schedules else "-"
    last = "-" if job.latest_run is None else status(job.latest_run)
    return (
        job.id,
        job.kind,
        _state(job, schedules),
        rules,
        moment(min(coming, default=None)),
        last,
        job.source,
    )
