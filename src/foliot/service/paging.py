"""Reads all stored items of a kind in pages, so that only one page is in memory at a time."""

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
"""How many stored names are compared with a name that does not exist, to suggest a similar one."""
_LONGEST_PAGE: Final = 10_000

Item = TypeVar("Item")
Key = TypeVar("Key")
Key_contra = TypeVar("Key_contra", contravariant=True)
Page_co = TypeVar("Page_co", covariant=True)


def check_limit(limit: object) -> None:
    """Refuse a page size that is not 1 to 10,000."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _LONGEST_PAGE:
        raise InvalidInput(
            f"limit must be 1 to {_LONGEST_PAGE}, not {shown(limit)}",
            hint="Use a number in this range, and read several pages.",
            field="limit",
        )


async def each_of(
    read: Callable[[Key | None], Awaitable[Sequence[Item]]], key: Callable[[Item], Key], *, full: int = 1
) -> AsyncIterator[Item]:
    """Yield all items. `read` is called with the key of the last item and returns the next page.

    A page with fewer than `full` items is the last one.
    """
    after: Key | None = None
    # In a corrupt row the key may not be text. Its text form may sort before it, and the same page is read again.
    seen: set[Key | None] = set()
    while after not in seen and (page := await read(after)):
        seen.add(after)
        for item in page:
            yield item
        if len(page) < full:
            return
        after = key(page[-1])


class Pages(Protocol[Key_contra, Page_co]):
    """Reads a page: the items after a key, at most `limit`."""

    def __call__(self, *, after: Key_contra | None, limit: int) -> Awaitable[Page_co]: ...


async def page_with_errors(
    read: Pages[Key, Sequence[Item]],
    key: Callable[[Item | RowUnreadable], Key],
    after: Key | None,
    limit: int,
) -> list[Item | RowUnreadable]:
    """Return a page, with an error in the place of each unreadable item. Halve the page until it has only that item."""
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
    """Return jobs by id, with an error in the place of each unreadable one."""
    return await page_with_errors(storage.definitions.page_jobs, job_id_of, after, limit)


def job_id_of(job: Job | RowUnreadable) -> JobId:
    return JobId(job.name) if isinstance(job, RowUnreadable) else job.id


def stored_jobs(storage: Storage) -> AsyncIterator[Job]:
    """Yield all readable jobs. An unreadable one is logged and skipped, so that the others stay usable."""
    return _logged("job_unreadable", "job", each_of(lambda after: page_of_jobs(storage, after, PAGE), job_id_of))


async def known_jobs(storage: Storage, job_ids: Collection[JobId]) -> dict[JobId, Job]:
    """Return the named jobs that can be read. An unreadable one counts as missing, so that it can be replaced."""
    found: dict[JobId, Job | RowUnreadable] = await found_with_errors(storage.definitions.get_jobs, list(job_ids))
    return _readable(found)


def stored_schedules(storage: Storage, job_id: JobId | None = None) -> AsyncIterator[Schedule]:
    """Yield all schedules, or those of a job."""
    return each_of(
        lambda after: storage.definitions.page_schedules(job_id=job_id, after=after, limit=PAGE),
        lambda schedule: schedule.id,
    )


def declared_schedules(storage: Storage) -> AsyncIterator[Schedule]:
    """Yield all schedules that a file or an application declares."""
    return each_of(
        lambda after: storage.definitions.page_declared_schedules(after=after, limit=PAGE),
        lambda schedule: schedule.id,
    )


async def page_of_workflows(storage: Storage, after: str | None, limit: int) -> list[WorkflowVersion | RowUnreadable]:
    """Return the newest version of each workflow, by id, with an error in the place of each unreadable one."""
    return await page_with_errors(storage.definitions.page_workflows, workflow_id_of, after, limit)


def workflow_id_of(version: WorkflowVersion | RowUnreadable) -> str:
    return version.name if isinstance(version, RowUnreadable) else version.workflow_id


def stored_workflows(storage: Storage) -> AsyncIterator[WorkflowVersion]:
    """Yield the newest version of each readable workflow. An unreadable one is logged and skipped."""
    return _logged(
        "workflow_unreadable",
        "workflow",
        each_of(lambda after: page_of_workflows(storage, after, PAGE), workflow_id_of),
    )


async def _logged(event: str, kind: str, items: AsyncIterator[Item | RowUnreadable]) -> AsyncIterator[Item]:
    async for item in items:
        if isinstance(item, RowUnreadable):
            log.warning(event, extra={kind: item.name, "error": item.message})
        else:
            yield item


async def versions_with_errors(
    storage: Storage, wanted: Collection[tuple[str, int | None]]
) -> dict[tuple[str, int | None], WorkflowVersion | RowUnreadable]:
    """Return the versions that exist, with an error in the place of each unreadable one."""
    return await found_with_errors(storage.definitions.get_workflows, list(wanted))


async def found_with_errors(
    get: Callable[[Collection[Key]], Awaitable[dict[Key, Item]]], names: Sequence[Key]
) -> dict[Key, Item | RowUnreadable]:
    """Return the items that exist, with an error in the place of each unreadable one."""
    try:
        return {**await get(names)}
    except RowUnreadable as error:
        if len(names) == 1:
            return {names[0]: error}
    half = len(names) // 2
    return await found_with_errors(get, names[:half]) | await found_with_errors(get, names[half:])


def _readable(found: Mapping[Key, Item | RowUnreadable]) -> dict[Key, Item]:
    return {name: item for name, item in found.items() if not isinstance(item, RowUnreadable)}
