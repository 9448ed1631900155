"""Everything that is stored of a kind, read in pages: however much there is, one page of it is in memory."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from typing import Final, TypeVar

from foliot.domain.ids import JobId
from foliot.domain.job import Job
from foliot.domain.schedule import Schedule
from foliot.errors import RowUnreadable
from foliot.ports.executions import WorkflowVersion
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)

PAGE: Final = 1_000

Item = TypeVar("Item")
Key = TypeVar("Key")


async def each_of(
    read: Callable[[Key | None], Awaitable[Sequence[Item]]], key: Callable[[Item], Key]
) -> AsyncIterator[Item]:
    """What `read` hands out, page after page: it is given the key of the last item that it gave."""
    after: Key | None = None
    while page := await read(after):
        for item in page:
            yield item
        after = key(page[-1])


async def page_of_jobs(storage: Storage, after: JobId | None, limit: int) -> list[Job | RowUnreadable]:
    """A page, with an error in the place of each job that cannot be read: it is halved until that stands alone."""
    try:
        return [*await storage.jobs.page(after=after, limit=limit)]
    except RowUnreadable as error:
        if limit == 1:
            return [error]
    half = limit // 2
    first = await page_of_jobs(storage, after, half)
    return first if len(first) < half else first + await page_of_jobs(storage, job_id_of(first[-1]), limit - half)


def job_id_of(job: Job | RowUnreadable) -> JobId:
    return JobId(job.name) if isinstance(job, RowUnreadable) else job.id


async def stored_jobs(storage: Storage) -> AsyncIterator[Job]:
    """All that can be read. One that cannot is told of, and keeps nobody from working with the others."""
    async for job in each_of(lambda after: page_of_jobs(storage, after, PAGE), job_id_of):
        if isinstance(job, RowUnreadable):
            log.warning("job_not_readable", extra={"job": job.name, "error": job.message})
        else:
            yield job


async def known_jobs(storage: Storage, job_ids: Collection[JobId]) -> dict[JobId, Job]:
    """Those of the named jobs that can be read. Who puts another one in the place of one that cannot mends it."""
    try:
        return await storage.jobs.get(job_ids)
    except RowUnreadable:
        if len(job_ids) == 1:
            return {}
    known: dict[JobId, Job] = {}
    for job_id in job_ids:
        known |= await known_jobs(storage, [job_id])
    return known


def stored_schedules(storage: Storage, job_id: JobId | None = None) -> AsyncIterator[Schedule]:
    """All schedules, or those of a job."""
    return each_of(
        lambda after: storage.schedules.page(job_id=job_id, after=after, limit=PAGE), lambda schedule: schedule.id
    )


def stored_workflows(storage: Storage) -> AsyncIterator[WorkflowVersion]:
    """The newest version of each."""
    return each_of(lambda after: storage.workflows.page(after=after, limit=PAGE), lambda version: version.workflow_id)
