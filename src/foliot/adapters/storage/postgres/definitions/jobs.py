"""Stores, reads and deletes jobs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from foliot.adapters.storage.postgres.database.batcher import Batcher
from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.postgres.definitions.renames import rename_jobs
from foliot.adapters.storage.postgres.definitions.schedules import delete_schedules
from foliot.adapters.storage.postgres.rows.admit import Admitter
from foliot.adapters.storage.postgres.rows.watch import watch_jobs
from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.documents import as_stored_job, counted_as, encode
from foliot.adapters.storage.shared.event_items import about_jobs, deleted_jobs
from foliot.adapters.storage.shared.expected import refuse_changed
from foliot.adapters.storage.shared.rows import job_of, read_rows
from foliot.domain.access.trail import AuditKind
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant, Millis
from foliot.domain.job.job import Job, JobSpec
from foliot.errors import RowUnreadable


class JobDefinitions:
    """The calls about jobs, see `PostgresDefinitions`."""

    _database: Database
    _admitter: Admitter
    _project: str
    _getting: Batcher[JobId, Job | RowUnreadable | None]

    async def put_jobs(
        self,
        jobs: Sequence[tuple[JobId, JobSpec]],
        *,
        expected: Mapping[JobId, int] | None = None,
        at: Instant | None = None,
    ) -> list[Job]:
        if not jobs:
            return []
        work = partial(put_jobs, project=self._project, jobs=dict(jobs), at=at, expected=expected)
        put = await self._database.write("put_jobs", work)
        return [put[job_id] for job_id, _ in jobs]

    async def get_jobs(self, job_ids: Collection[JobId]) -> dict[JobId, Job]:
        """Read jobs. Concurrent calls are answered together, by one statement."""
        if not job_ids:
            return {}
        found: dict[JobId, Job] = {}
        for job in await self._getting.ask(list(job_ids)):
            if isinstance(job, RowUnreadable):
                raise job
            if job is not None:
                found[job.id] = job
        return found

    async def _get_jobs(self, job_ids: Sequence[JobId]) -> list[Job | RowUnreadable | None]:
        """Return the jobs, or raise: an unreadable job is an error only for the calls that name it."""
        rows = await self._database.rows("get_jobs", self._project, list(dict.fromkeys(job_ids)))
        jobs, errors = read_rows(partial(job_of, self._project), rows)
        found: dict[str, Job | RowUnreadable] = {error.name: error for error in errors}
        found |= {job.id: job for job in jobs}
        return [found.get(job_id) for job_id in job_ids]

    async def page_jobs(self, *, after: JobId | None = None, limit: int = 100) -> list[Job]:
        rows = await self._database.rows("page_jobs", self._project, after or "", limit)
        return [job_of(self._project, row) for row in rows]

    async def pause_job(self, job_id: JobId, *, paused: bool, at: Instant | None = None) -> None:
        async def work(transaction: Transaction) -> None:
            if paused:
                await pause_jobs(transaction, self._project, [job_id], await transaction.now(at))
                return
            changed = await transaction.column("resume_job", self._project, job_id)
            transaction.record(changes.paused(AuditKind.JOB, changed, is_paused=False))

        await self._database.write("pause_job", work)

    async def rename_jobs(self, renames: Mapping[JobId, JobId], *, at: Instant | None = None) -> dict[JobId, JobId]:
        if not renames:
            return {}

        async def work(transaction: Transaction) -> dict[JobId, JobId]:
            return await rename_jobs(transaction, self._project, renames, await transaction.now(at))

        # After a commit with a lost reply, the second try finds the results of the first one.
        return await self._admitter.write("rename_jobs", work, at, merge=lambda first, second: first | second)

    async def watch_jobs(self, look_back: Mapping[JobId, Millis]) -> None:
        if look_back:
            await self._database.write("watch", partial(watch_jobs, project=self._project, look_back=look_back))


async def lock_jobs(transaction: Transaction, project: str, job_ids: Collection[JobId]) -> dict[JobId, Job]:
    """Lock jobs, and return those that can be read. A definition that replaces an unreadable one is a new job."""
    rows = await transaction.rows("lock_jobs", project, sorted(job_ids))
    jobs, _ = read_rows(partial(job_of, project), rows)
    return {job.id: job for job in jobs}


async def put_jobs(
    transaction: Transaction,
    *,
    project: str,
    jobs: dict[JobId, JobSpec],
    at: Instant | None,
    expected: Mapping[JobId, int] | None = None,
) -> dict[JobId, Job]:
    """Create or change jobs; an equal definition keeps its revision."""
    known = await lock_jobs(transaction, project, jobs)
    changed = [
        job_id for job_id, spec in jobs.items() if job_id not in known or known[job_id].spec != as_stored_job(spec)
    ]
    for job_id in changed:
        refuse_changed("job", job_id, known[job_id].revision if job_id in known else 0, expected)
    if changed:
        now = await transaction.now(at)
        documents = [encode(jobs[job_id]) for job_id in changed]
        limits = [jobs[job_id].pause_after_failures for job_id in changed]
        counted = [counted_as(jobs[job_id]) for job_id in changed]
        await transaction.run("put_jobs", project, now, changed, documents, limits, counted)
    rows = await transaction.rows("get_jobs", project, list(jobs))
    put = {job.id: job for job in (job_of(project, row) for row in rows)}
    transaction.add_event(EventKind.JOB_CHANGED, about_jobs(put[job_id] for job_id in changed))
    former = {job_id: job.spec for job_id, job in known.items()}
    transaction.record(changes.put_jobs(former, {job_id: put[job_id].spec for job_id in changed}))
    return put


async def pause_jobs(transaction: Transaction, project: str, job_ids: Iterable[JobId], now: Instant) -> None:
    """Pause jobs. One that is paused keeps its time."""
    for job_id in job_ids:
        paused = await transaction.column("pause_job", now, project, job_id)
        transaction.record(changes.paused(AuditKind.JOB, paused, is_paused=True))


async def delete_jobs(transaction: Transaction, project: str, job_ids: list[JobId], now: Instant) -> dict[JobId, int]:
    """Delete jobs with their schedules, not their runs. Returns those that existed, with their last revisions."""
    former = await lock_jobs(transaction, project, job_ids)
    deleted: dict[JobId, int] = dict(await transaction.rows("delete_jobs", project, job_ids))
    transaction.record(
        changes.deleted_jobs({job_id: former[job_id].spec if job_id in former else None for job_id in deleted})
    )
    if deleted:
        await transaction.run("raise_revision_floor", max(deleted.values()))
        schedules = await transaction.column("schedules_of_jobs", project, list(deleted))
        await delete_schedules(transaction, project, schedules, now)
    transaction.add_event(EventKind.JOB_DELETED, deleted_jobs(deleted))
    return deleted
