"""foliot schedules: list schedules."""

from pathlib import Path
from typing import Final

import click

from foliot.interfaces.cli.command_group import check_option_order, lazy_group
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_note
from foliot.interfaces.cli.render.format import moment, rule, schedule_state
from foliot.interfaces.cli.render.table import Column, print_table
from foliot.service.queries.documents import as_json
from foliot.service.queries.schedule_view import ScheduleView

_COLUMNS: Final = (
    Column("SCHEDULE", is_whole=True),
    Column("JOB", is_whole=True),
    Column("WHEN"),
    Column("STATE", stays=True),
    Column("NEXT"),
    Column("LAST RAN"),
)
_SECTIONS: Final = {"Control": {"delete": "Delete schedules."}}
_HOMES: Final = {"delete": "delete:delete_schedules"}


@click.group(
    "schedules", cls=lazy_group(_SECTIONS, _HOMES), invoke_without_command=True, subcommand_metavar="[COMMAND]"
)
@storage_options
@click.option("--job", help="Only schedules of this job.", shell_complete=complete_ids("job"))
@json_option("one object per line")
@click.pass_context
def command(context: click.Context, storage: str | None, config: Path | None, job: str | None, as_json: bool) -> None:
    """List schedules: their rules, their next tick and the last tick that ran."""
    if context.invoked_subcommand is not None:
        check_option_order(context, context.invoked_subcommand)
        return
    found = with_services(storage, config, lambda services: services.queries.schedules.all(job))
    if as_json:
        print_json_lines(map(_object, found))
        return
    print_table(_COLUMNS, map(_row, found))
    if not found:
        print_note("no schedules")


def _object(schedule: ScheduleView) -> dict[str, object]:
    return {**as_json(schedule), "state": schedule_state(schedule)}


def _row(schedule: ScheduleView) -> tuple[object, ...]:
    return (
        schedule.schedule_id,
        schedule.job_id or schedule.workflow_id,
        rule(schedule),
        schedule_state(schedule),
        "-" if schedule.paused else moment(schedule.next_run_at),
        moment(schedule.last_scheduled_at),
    )
