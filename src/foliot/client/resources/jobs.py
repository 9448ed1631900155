"""Jobs by HTTP."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, TypedDict, Unpack

from foliot.client.request import given_only
from foliot.client.resources.base import PAGE, Resource, each_item
from foliot.domain.input.timing import Moment, Span
from foliot.domain.input.typed import RunOptions
from foliot.domain.job.state import JobState
from foliot.service.answers import Deleted, JobDetail, ListedJob, Page, Paused
from foliot.service.queries.history import JobHistory
from foliot.service.queries.job_row_view import JobFacets, JobRow
from foliot.service.queries.jobs import JobPage
from foliot.service.queries.run_view import RunView

Document = Mapping[str, Any]
"""A definition with the keys of a configuration file."""


class RowFilters(TypedDict, total=False):
    """Which jobs a list has."""

    search: str | None
    """A part of the id, the name or a tag, in any case."""
    tag: str | None
    kind: str | None
    state: JobState | None


class AsyncJobs(Resource):
    """Runs, reads, stores, pauses and deletes jobs."""

    async def run(
        self,
        job_id: str,
        payload: Any = None,
        *,
        run_at: Moment | None = None,
        delay: Span | None = None,
        dedupe_key: str | None = None,
        dedupe: str = "forever",
        **options: Unpack[RunOptions],
    ) -> RunView:
        """Start a run of a job, or an execution of a workflow, now, at a time (`run_at`) or after a delay.

        If another run has taken the `dedupe_key`, it is returned, and no run is created.
        """
        body = given_only(payload=payload, run_at=run_at, delay=delay, dedupe_key=dedupe_key)
        body |= {"dedupe": dedupe, "options": dict(options)}
        return await self._post(RunView, "jobs", job_id, "run", body=body)

    async def get(self, job_id: str) -> JobDetail:
        """Return a job with its schedules and the document that defines it."""
        return await self._get(JobDetail, "jobs", job_id)

    async def page(self, *, limit: int = PAGE, cursor: str | None = None, hidden: bool = False) -> Page[ListedJob]:
        """Return some jobs by id. `hidden`: also the jobs of the steps of workflows, and those of Foliot itself."""
        return await self._get(Page[ListedJob], "jobs", limit=limit, cursor=cursor, all=hidden)

    async def each(self, *, hidden: bool = False) -> AsyncIterator[ListedJob]:
        """Yield all jobs by id, and read them page by page."""
        async for job in each_item(lambda cursor: self.page(cursor=cursor, hidden=hidden)):
            yield job

    async def show(self, job_id: str) -> JobPage:
        """Return everything about a job: schedules, latest runs and ticks, gate."""
        return await self._get(JobPage, "jobs", job_id, "page")

    async def row(self, job_id: str) -> JobRow:
        """Return a job with its schedules, its latest run and the strip of its newest and next ticks."""
        return await self._get(JobRow, "jobs", job_id, "row")

    async def rows(self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[RowFilters]) -> Page[JobRow]:
        """Return some jobs by id, each as `row` does."""
        return await self._get(Page[JobRow], "job-rows", limit=limit, cursor=cursor, **filters)

    async def facets(self) -> JobFacets:
        """Count jobs by state, kind and tag."""
        return await self._get(JobFacets, "job-rows", "facets")

    async def history(self, job_id: str, *, limit: int = 90) -> JobHistory:
        """Return the newest runs of a job, with the usual duration and the usual delay of the start."""
        return await self._get(JobHistory, "jobs", job_id, "history", limit=limit)

    async def create(self, document: Document) -> JobDetail:
        """Create or replace a job. Without an `id` it gets one."""
        return await self._post(JobDetail, "jobs", body=document)

    async def put(self, job_id: str, document: Document, *, revision: int | None = None) -> JobDetail:
        """Create or replace the job with this id. With `revision`, only if that is its revision."""
        return await self._put(JobDetail, "jobs", job_id, body=document, revision=revision)

    async def delete(self, job_id: str, *, force: bool = False, revision: int | None = None) -> Deleted:
        """Delete a job with its schedules; its history is kept. `force`: also if a file defines it."""
        return await self._delete(Deleted, "jobs", job_id, force=force, revision=revision)

    async def pause(self, job_id: str) -> Paused:
        """Pause a job with all its schedules."""
        return await self._post(Paused, "jobs", job_id, "pause")

    async def resume(self, job_id: str) -> Paused:
        """Resume a job with all its schedules."""
        return await self._post(Paused, "jobs", job_id, "resume")
