"""Commands on jobs: put, pause, resume, delete, wait, and the dependencies between them."""

from collections.abc import AsyncIterator, Collection, Mapping

from foliot.domain.chain.spec import CHAIN
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.input.timing import Span
from foliot.domain.input.words import flag, text
from foliot.domain.job.job import Job, JobSpec, check_name, watched_by
from foliot.domain.run.payload import encode_payload
from foliot.domain.workflow.jobs import is_part_of_workflow
from foliot.domain.workflow.spec import GRAPH, Edge
from foliot.errors import InvalidInput, InvalidJob, InvalidSchedule, NotFound, RowUnreadable
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.service.commands.dependencies import DependencyService
from foliot.service.commands.ownership import refuse_foreign, refuse_owned
from foliot.service.notifications.begin import begin_notifications
from foliot.service.notifications.urls import UrlSecrets
from foliot.service.paging import (
    SUGGESTIONS,
    check_limit,
    job_id_of,
    known_jobs,
    page_of_jobs,
    stored_jobs,
    stored_schedules,
    stored_workflows,
)
from foliot.service.queries.job_view import JobView
from foliot.service.queries.jobs import JobQueries
from foliot.service.queries.run_view import RunView, view_run
from foliot.service.run_waiter import RunWaiter


class JobService:
    """Creates and changes jobs."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        dependencies: DependencyService,
        urls: UrlSecrets,
        waiter: RunWaiter,
    ) -> None:
        self._storage = storage
        self._urls = urls
        self._dependencies = dependencies
        self._queries = JobQueries(storage, clock)
        self._waiter = waiter

    async def put(
        self,
        jobs: Mapping[JobId, JobSpec],
        *,
        coming: Collection[JobId] = (),
        expected: Mapping[JobId, int] | None = None,
    ) -> list[Job]:
        """Create or replace jobs, all or none. They may depend on jobs in `coming`, which are stored later.

        `expected`: the revisions that changes were made for; another one raises ChangedMeanwhile.
        """
        prepared = await self.prepare(jobs, coming=coming)
        stored = await self._storage.definitions.put_jobs(list(prepared.items()), expected=expected)
        watched = watched_by(jobs)
        if watched:
            await self._storage.definitions.watch_jobs(watched)
        return stored

    async def prepare(
        self, jobs: Mapping[JobId, JobSpec], *, coming: Collection[JobId] = ()
    ) -> Mapping[JobId, JobSpec]:
        """Return jobs in the form that the storage takes. One that is invalid or has another owner refuses all.

        Jobs that notify begin the notifications of this storage, even if they are not stored afterwards.
        """
        for job_id, spec in jobs.items():
            check_job(job_id, spec)
        known = await known_jobs(self._storage, jobs)
        refuse_foreign("job", ((job_id, job.spec.source, jobs[job_id].source) for job_id, job in known.items()))
        await self._check_gates(jobs, {*jobs, *coming})
        if any(spec.notify.urls for spec in jobs.values()):
            jobs = await self._urls.seal(jobs, known)
        if any(spec.notify.urls or spec.kind == CHAIN for spec in jobs.values()):
            # Chains raise alerts, which are at least logged.
            await begin_notifications(self._storage)
        return jobs

    async def _check_gates(self, jobs: Mapping[JobId, JobSpec], coming: Collection[JobId]) -> None:
        """Refuse a gate on a job that is neither stored nor put together with it."""
        named = {name for spec in jobs.values() if spec.gate is not None for name in spec.gate.depends_on}
        await self.refuse_missing(named.difference(coming))

    async def pause(self, job_id: str, paused: bool = True) -> list[ScheduleId]:
        """Pause a job with all its schedules, or resume it, and return the ids of these schedules.

        All its schedules are paused, and executions of workflows skip the steps that name it. A step that is a job of
        its own is paused in its workflow, see `WorkflowService.pause_step`.
        """
        flag(paused, "paused", InvalidSchedule)
        job = await self.record(job_id)
        if not is_part_of_workflow(job.spec):
            await self._storage.definitions.pause_job(job.id, paused=paused)
        names = [schedule.id async for schedule in stored_schedules(self._storage, job.id)]
        return [schedule.id for schedule in await self._storage.definitions.pause_schedules(names, paused=paused)]

    async def resume(self, job_id: str) -> list[ScheduleId]:
        """Resume a job with all its schedules, and return their ids."""
        return await self.pause(job_id, paused=False)

    async def delete(self, job_id: str, *, force: bool = False) -> list[ScheduleId]:
        """Delete a job with its schedules and dependencies, and return the ids of these schedules.

        Its runs that have not started are cancelled; its history is kept. `force` also deletes a job that a file or an
        application defined; a definition that is still there creates it again.
        """
        flag(force, "force", InvalidInput)
        try:
            job = await self.record(job_id)
        except RowUnreadable:
            # The owner of an unreadable row is not known, so only `force` deletes it.
            if not force:
                raise
        else:
            _check_deletion(job, force=force)
        await self.refuse_needed([JobId(job_id)])
        schedules = [schedule.id async for schedule in stored_schedules(self._storage, JobId(job_id))]
        if not await self._storage.definitions.delete_jobs([JobId(job_id)]):
            raise await self.not_found(job_id)
        return schedules

    async def is_running(self, job_id: str) -> bool:
        """Return whether a run of the job is running now, alone or as a step of a workflow."""
        return await self._waiter.is_running((await self.record(job_id)).id)

    # `asyncio.timeout` around the call would cancel it in the middle of a read from the storage.
    async def wait(self, job_id: str, timeout: Span | None = None) -> list[RunView]:  # noqa: ASYNC109
        """Wait until all runs of the job that are running now have ended, and return them. Raise WaitTimeout after the
        timeout.

        Steps of workflows are included. WaitTimeout is also a TimeoutError; the runs go on.
        """
        ended = await self._waiter.job_ended((await self.record(job_id)).id, timeout=timeout)
        return [view_run(run) for run in ended]

    async def add_dependency(self, child: str, parent: str, condition: str = "success") -> None:
        """Start `child` after each scheduled run of `parent` that ends with the condition: success, failure, skipped or
        complete.

        Jobs that are connected so are started together, in one execution, by a schedule of any job that waits for no
        other. An edge that closes a cycle, or that joins two such jobs with schedules of their own, is refused.
        """
        await self._dependencies.add(child, parent, condition)

    async def remove_dependency(self, child: str, parent: str) -> None:
        """Remove a dependency. Refused while an execution with both jobs is open."""
        await self._dependencies.remove(child, parent)

    async def dependencies(self, child: str) -> list[Edge]:
        """Return the dependencies of a job."""
        return await self._dependencies.of(child)

    async def page(self, *, after: str | None = None, limit: int = 100) -> list[JobView]:
        """Return up to `limit` jobs with ids after `after`, in the order of their ids, each with its latest run."""
        check_limit(limit)
        begin = None if after is None else text(after, "after", InvalidInput)
        return [listed.job for listed in await self._queries.listed(after=begin, limit=limit)]

    async def record(self, job_id: str) -> Job:
        """Return a job as it is stored."""
        found = await self._storage.definitions.get_jobs([JobId(text(job_id, "job_id"))])
        if JobId(job_id) not in found:
            raise await self.not_found(job_id)
        return found[JobId(job_id)]

    async def not_found(self, job_id: str) -> NotFound:
        """Return the error for a job that does not exist, with a similar name if there is one."""
        known = [job_id_of(job) for job in await page_of_jobs(self._storage, None, SUGGESTIONS)]
        return NotFound("job", job_id, known=known)

    async def refuse_missing(self, job_ids: Collection[JobId]) -> None:
        """Refuse job ids that are not stored."""
        missing = sorted(set(job_ids) - (await self._storage.definitions.get_jobs(job_ids)).keys()) if job_ids else []
        if missing:
            raise await self.not_found(missing[0])

    async def refuse_needed(self, job_ids: Collection[JobId]) -> None:
        """Refuse to delete jobs that a gate or a workflow outside of them needs."""
        doomed = set(job_ids)
        needs: list[tuple[JobId, str]] = []
        needs += [(job, name) async for name, gate in self._gates() if name not in doomed for job in gate.depends_on]
        async for version in stored_workflows(self._storage):
            if version.spec.source != "foliot" and version.workflow_id not in doomed:
                needs += [(step.job, version.workflow_id) for step in version.spec.steps if step.job is not None]
        needed = next((job for job, _ in needs if job in doomed), None)
        if needed is not None:
            users = dict.fromkeys(user for job, user in needs if job == needed)
            raise InvalidJob(
                f'job "{needed}" is needed by {", ".join([*users][:10])}',
                hint="Change or delete these first, or disable the job instead.",
                field="job_id",
            )

    async def _gates(self) -> AsyncIterator[tuple[JobId, Gate]]:
        async for job in stored_jobs(self._storage):
            if job.spec.gate is not None:
                yield job.id, job.spec.gate


def check_job(job_id: JobId, spec: JobSpec) -> None:
    """Refuse a job definition that cannot be stored."""
    try:
        check_name("job_id", job_id)
        spec.check()
        if spec.gate is not None:
            spec.gate.check(job_id)
        encode_payload(spec.payload_template, what="payload_template")
    except InvalidInput as error:
        error.add_context(f"job {job_id[:64]!a}")
        raise


def _check_deletion(job: Job, *, force: bool) -> None:
    refuse_owned("job", job.id, job.spec.source, force=force)
    if job.spec.kind == GRAPH:
        raise InvalidJob(
            f'"{job.id}" is a workflow',
            hint="Delete it with its steps: foliot workflows delete, in code app.workflows.delete.",
            field="job_id",
        )
