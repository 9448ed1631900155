"""foliot show: everything about one thing."""

from pathlib import Path

import click

from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.references import NAMING
from foliot.interfaces.cli.render.job_page import job_document, print_job
from foliot.interfaces.cli.render.run_page import print_run, run_document
from foliot.interfaces.cli.render.schedule_page import print_schedule, schedule_document
from foliot.interfaces.cli.speaking import tell_json
from foliot.service.queries.jobs import JobPage
from foliot.service.queries.runs import RunPage
from foliot.service.queries.schedules import SchedulePage


@click.command("show", epilog=NAMING)
@click.argument("id", shell_complete=complete_ids("job", "schedule", "run"))
@storage_options
@json_option("one object")
def command(id: str, storage: str | None, config: Path | None, as_json: bool) -> None:  # noqa: A002 - as people read it
    """Tell everything about ID: a job, a schedule or a run, and why it is as it is."""
    page = ask(storage, config, lambda services: services.queries.named(id))
    match page:
        case JobPage():
            tell_json(job_document(page)) if as_json else print_job(page)
        case SchedulePage():
            tell_json(schedule_document(page)) if as_json else print_schedule(page)
        case RunPage():
            tell_json(run_document(page)) if as_json else print_run(page)
