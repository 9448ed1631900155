"""All jobs, schedules or workflows that are stored, read page by page."""

from collections import defaultdict
from typing import Final, NamedTuple

from foliot.ports.executions import WorkflowVersion
from foliot.service.registrar import ScheduleView
from foliot.service.views import JobView
from foliot.wiring import Services

_PAGE: Final = 1_000


class Listed(NamedTuple):
    job: JobView
    schedules: list[ScheduleView]


async def all_jobs(services: Services) -> list[Listed]:
    by_job = defaultdict(list)
    for schedule in await all_schedules(services):
        by_job[schedule.job_id].append(schedule)
    found: list[Listed] = []
    while page := await services.overview.jobs(after=found[-1].job.id if found else None, limit=_PAGE):
        found += [Listed(job, by_job[job.id]) for job in page]
    return found


async def all_schedules(services: Services, job_id: str | None = None) -> list[ScheduleView]:
    found: list[ScheduleView] = []
    while page := await services.overview.schedules(
        job_id=job_id, after=found[-1].schedule_id if found else None, limit=_PAGE
    ):
        found += page
    return found


async def all_workflows(services: Services) -> list[WorkflowVersion]:
    """The newest version of each."""
    found: list[WorkflowVersion] = []
    while page := await services.workflows.page(after=found[-1].workflow_id if found else None, limit=_PAGE):
        found += page
    return found
