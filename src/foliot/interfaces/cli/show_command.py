"""foliot show: everything about one thing."""

from functools import partial
from pathlib import Path

import click

from foliot.domain.ids import JobId, ScheduleId
from foliot.errors import NotFound
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.job_page import JobPage
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.references import NAMING, find_run, nothing
from foliot.interfaces.cli.run_page import RunPage
from foliot.interfaces.cli.schedule_page import SchedulePage
from foliot.interfaces.cli.speaking import tell_json
from foliot.service.services import Services


@click.command("show", epilog=NAMING)
@click.argument("id", shell_complete=complete_ids("job", "schedule", "run"))
@storage_options
@json_option("one object")
def command(id: str, storage: str | None, config: Path | None, as_json: bool) -> None:  # noqa: A002 - as people read it
    """Tell everything about ID: a job, a schedule or a run, and why it is as it is."""
    page = ask(storage, config, partial(_page, name=id))
    if as_json:
        tell_json(page.document())
    else:
        page.print()


async def _page(services: Services, name: str) -> JobPage | SchedulePage | RunPage:
    if await services.storage.jobs.get([JobId(name)]):
        return await JobPage.gather(services, name)
    if await services.storage.schedules.get([ScheduleId(name)]):
        return await SchedulePage.gather(services, name)
    try:
        return await RunPage.gather(services, await find_run(services, name))
    except NotFound:
        raise await nothing(services, name, "job, schedule or run") from None
