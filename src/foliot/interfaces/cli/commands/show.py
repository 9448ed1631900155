"""foliot show: everything about a run, a job or a schedule."""

from pathlib import Path

import click

from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import NAMING, json_option, storage_options
from foliot.interfaces.cli.output import print_json
from foliot.interfaces.cli.render.job_page import job_document, print_job
from foliot.interfaces.cli.render.run_page import print_run, run_document
from foliot.interfaces.cli.render.schedule_page import print_schedule, schedule_document
from foliot.service.queries.jobs import JobPage
from foliot.service.queries.runs import RunPage
from foliot.service.queries.schedules import SchedulePage


@click.command("show", epilog=NAMING)
@click.argument("id", shell_complete=complete_ids("job", "schedule", "run"))
@storage_options
@json_option("one object")
def command(id: str, storage: str | None, config: Path | None, as_json: bool) -> None:  # noqa: A002 - the name in the usage line
    """Show everything about ID: a job, a schedule or a run, and why the run has its status."""
    page = with_services(storage, config, lambda services: services.queries.named(id))
    match page:
        case JobPage():
            print_json(job_document(page)) if as_json else print_job(page)
        case SchedulePage():
            print_json(schedule_document(page)) if as_json else print_schedule(page)
        case RunPage():
            print_json(run_document(page)) if as_json else print_run(page)
