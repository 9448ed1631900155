"""foliot show: everything about a run, a job or a schedule."""

from pathlib import Path
from typing import NamedTuple

import click

from foliot.errors import InvalidInput
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import NAMING, json_option, storage_options
from foliot.interfaces.cli.output import print_json
from foliot.interfaces.cli.render.fanout import items_document
from foliot.interfaces.cli.render.job_page import job_document, print_job
from foliot.interfaces.cli.render.run_page import print_run, run_document
from foliot.interfaces.cli.render.schedule_page import print_schedule, schedule_document
from foliot.service.operations import Operations
from foliot.service.queries.fanout_view import FanoutItemsView
from foliot.service.queries.jobs import JobPage
from foliot.service.queries.runs import RunPage
from foliot.service.queries.schedules import SchedulePage


class _Answer(NamedTuple):
    page: JobPage | SchedulePage | RunPage
    items: FanoutItemsView | None = None


@click.command("show", epilog=NAMING)
@click.argument("id", shell_complete=complete_ids("job", "schedule", "run"))
@storage_options
@click.option("--failed", is_flag=True, help="Of a fanout: list the items that failed, timed out or were cancelled.")
@click.option(
    "--items", metavar="PATTERN", help="Of a fanout: list the items that match, such as '*.org'; '*' for all."
)
@click.option("--after", type=click.IntRange(0), help="Of a fanout: list items after this index.")
@click.option("-n", "--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="How many items.")
@json_option("one object")
def command(
    id: str,  # noqa: A002 - the name in the usage line
    storage: str | None,
    config: Path | None,
    failed: bool,
    items: str | None,
    after: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show everything about ID: a job, a schedule or a run, and why the run has its status.

    The page of a fanout has its progress, its slowest items and the first failed ones. List others with --failed,
    --items and --after.
    """

    async def find(services: Operations) -> _Answer:
        page = await services.queries.named(id)
        if not failed and items is None and after is None:
            return _Answer(page)
        if not isinstance(page, RunPage):
            raise InvalidInput(
                f"{id!a} is not a run: --failed, --items and --after are for fanouts", hint="Leave them out."
            )
        found = services.queries.fanouts.items(page.run.id, after=after, failed=failed, pattern=items, limit=limit)
        return _Answer(page, await found)

    _print(with_services(storage, config, find), as_json)


def _print(answer: _Answer, as_json: bool) -> None:
    match answer.page:
        case JobPage() as page:
            print_json(job_document(page)) if as_json else print_job(page)
        case SchedulePage() as page:
            print_json(schedule_document(page)) if as_json else print_schedule(page)
        case RunPage() as page if as_json:
            listed = {} if answer.items is None else items_document(answer.items)
            print_json({**run_document(page), **listed})
        case RunPage() as page:
            print_run(page, answer.items)
