"""Everything that is stored of a kind, read in pages: however much there is, one page of it is in memory."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, TypeVar

from foliot.domain.ids import JobId
from foliot.domain.job import Job
from foliot.domain.schedule import Schedule
from foliot.ports.executions import WorkflowVersion
from foliot.ports.storage import Storage

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


def stored_jobs(storage: Storage) -> AsyncIterator[Job]:
    return each_of(lambda after: storage.jobs.page(after=after, limit=PAGE), lambda job: job.id)


def stored_schedules(storage: Storage, job_id: JobId | None = None) -> AsyncIterator[Schedule]:
    """All schedules, or those of a job."""
    return each_of(
        lambda after: storage.schedules.page(job_id=job_id, after=after, limit=PAGE), lambda schedule: schedule.id
    )


def stored_workflows(storage: Storage) -> AsyncIterator[WorkflowVersion]:
    """The newest version of each."""
    return each_of(lambda after: storage.workflows.page(after=after, limit=PAGE), lambda version: version.workflow_id)
