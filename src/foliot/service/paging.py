"""Everything that is stored of a kind, read in pages: however much there is, one page of it is in memory."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final, Protocol, TypeVar

from foliot.domain.ids import JobId
from foliot.domain.job.job import Job
from foliot.domain.schedule.schedule import Schedule
from foliot.errors import InvalidInput, RowUnreadable, shown
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)

PAGE: Final = 1_000
SUGGESTIONS: Final = 1_000
"""How many names are compared with one that does not exist."""
_LONGEST_PAGE: Final = 10_000

Item = TypeVar("Item")
Key = TypeVar("Key")
Key_contra = TypeVar("Key_contra", contravariant=True)
Page_co = TypeVar("Page_co", covariant=True)


def check_limit(limit: object) -> None:
    """Refuse a page size that is not 1 to 10,000."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _LONGEST_PAGE:
        raise InvalidInput(
            f"limit must be 1 to {_LONGEST_PAGE}, not {shown(limit)}", hint="Ask for less at once.", field="limit"
        )


async def each_of(
    read: Callable[[Key | None], Awaitable[Sequence[Item]]], key: Callable[[Item], Key], *, full: int = 1
) -> AsyncIterator[Item]:
    """What `read` hands out, page after page: it is given the key of the last item that it gave.

    A page with fewer than `full` items is the last one.
    """
    after: Key | None = None
    # A key that is not text, and is given as it is written out, may be found again behind itself.
    read_on: set[Key | None] = set()
    while after not in read_on and (page := await read(after)):
        read_on.add(after)
        for item in page:
            yield item
        if len(page) < full:
            return
        after = key(page[-1])


class Pages(Protocol[Key_contra, Page_co]):
    """What hands out items in pages: those after a key, not more than the limit."""

    def __call__(self, *, after: Key_contra | None, limit: int) -> Awaitable[Page_co]: ...


async def page_with_errors(
    read: Pages[Key, Sequence[Item]],
    key: Callable[[Item | RowUnreadable], Key],
    after: Key | None,
    limit: int,
) -> list[Item | RowUnreadable]:
    """A page, with an error in the place of each item that cannot be read: it is halved until that stands alone."""
    try:
        return [*await read(after=after, limit=limit)]
    except RowUnreadable as error:
        if limit == 1:
            return [error]
    half = limit // 2
    first = await page_with_errors(read, key, after, half)
    if len(first) < half:
        return first
    return first + await page_with_errors(read, key, key(first[-1]), limit - half)


async def page_of_jobs(storage: Storage, after: JobId | None, limit: int) -> list[Job | RowUnreadable]:
    """Jobs by id, with an error in the place of each that cannot be read."""
    return await page_with_errors(storage.definitions.page_jobs, job_id_of, after, limit)


def job_id_of(job: Job | RowUnreadable) -> JobId:
    return JobId(job.name) if isinstance(job, RowUnreadable) else job.id


def stored_jobs(storage: Storage) -> AsyncIterator[Job]:
    """All that can be read. One that cannot is told of, and keeps nobody from working with the others."""
    return _telling("job_unreadable", "job", each_of(lambda after: page_of_jobs(storage, after, PAGE), job_id_of))


async def known_jobs(storage: Storage, job_ids: Collection[JobId]) -> dict[JobId, Job]:
    """Those of the named jobs that can be read. Who puts another one in the place of one that cannot mends it."""
    found: dict[JobId, Job | RowUnreadable] = await found_with_errors(storage.definitions.get_jobs, list(job_ids))
    return _readable(found)


def stored_schedules(storage: Storage, job_id: JobId | None = None) -> AsyncIterator[Schedule]:
    """All schedules, or those of a job."""
    return each_of(
        lambda after: storage.definitions.page_schedules(job_id=job_id, after=after, limit=PAGE),
        lambda schedule: schedule.id,
    )


async def page_of_workflows(storage: Storage, after: str | None, limit: int) -> list[WorkflowVersion | RowUnreadable]:
    """The newest version of each workflow, by id, with an error in the place of each that cannot be read."""
    return await page_with_errors(storage.definitions.page_workflows, workflow_id_of, after, limit)


def workflow_id_of(version: WorkflowVersion | RowUnreadable) -> str:
    return version.name if isinstance(version, RowUnreadable) else version.workflow_id


def stored_workflows(storage: Storage) -> AsyncIterator[WorkflowVersion]:
    """The newest version of each, as far as they can be read. One that cannot is told of, as with jobs."""
    return _telling(
        "workflow_unreadable",
        "workflow",
        each_of(lambda after: page_of_workflows(storage, after, PAGE), workflow_id_of),
    )


async def _telling(event: str, kind: str, items: AsyncIterator[Item | RowUnreadable]) -> AsyncIterator[Item]:
    async for item in items:
        if isinstance(item, RowUnreadable):
            log.warning(event, extra={kind: item.name, "error": item.message})
        else:
            yield item


async def versions_with_errors(
    storage: Storage, wanted: Collection[tuple[str, int | None]]
) -> dict[tuple[str, int | None], WorkflowVersion | RowUnreadable]:
    """Those of the versions that exist, with an error in the place of each that cannot be read."""
    return await found_with_errors(storage.definitions.get_workflows, list(wanted))


async def found_with_errors(
    get: Callable[[Collection[Key]], Awaitable[dict[Key, Item]]], names: Sequence[Key]
) -> dict[Key, Item | RowUnreadable]:
    """What there is of these, found as a page is."""
    try:
        return {**await get(names)}
    except RowUnreadable as error:
        if len(names) == 1:
            return {names[0]: error}
    half = len(names) // 2
    return await found_with_errors(get, names[:half]) | await found_with_errors(get, names[half:])


def _readable(found: Mapping[Key, Item | RowUnreadable]) -> dict[Key, Item]:
    return {name: item for name, item in found.items() if not isinstance(item, RowUnreadable)}
