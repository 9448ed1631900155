"""All jobs, schedules or workflows that are stored, read page by page."""

from collections import defaultdict
from typing import NamedTuple

from foliot.errors import RowUnreadable
from foliot.ports.executions import WorkflowVersion
from foliot.service.paging import PAGE, each_of, workflow_id_of
from foliot.service.services import Services
from foliot.service.views import JobView, ScheduleView


class Listed(NamedTuple):
    job: JobView
    schedules: list[ScheduleView]


async def all_jobs(services: Services) -> list[Listed]:
    by_job = defaultdict(list)
    for schedule in await all_schedules(services):
        by_job[schedule.job_id].append(schedule)
    jobs = each_of(lambda after: services.overview.jobs(after=after, limit=PAGE), lambda job: job.id)
    return [Listed(job, by_job[job.id]) async for job in jobs]


async def all_schedules(services: Services, job_id: str | None = None) -> list[ScheduleView]:
    schedules = each_of(
        lambda after: services.overview.schedules(job_id=job_id, after=after, limit=PAGE),
        lambda schedule: schedule.schedule_id,
    )
    return [schedule async for schedule in schedules]


async def all_workflows(services: Services) -> list[WorkflowVersion | RowUnreadable]:
    """The newest version of each, or why it cannot be read."""
    workflows = each_of(lambda after: services.workflows.records(after=after, limit=PAGE), workflow_id_of)
    return [workflow async for workflow in workflows]
