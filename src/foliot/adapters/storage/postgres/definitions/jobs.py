"""The jobs of a PostgreSQL storage."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from foliot.adapters.storage.postgres.admission import Admission
from foliot.adapters.storage.postgres.cancelling import end_unstarted
from foliot.adapters.storage.postgres.database import Database, Transaction, merge_lists
from foliot.adapters.storage.postgres.gathering import Gathering
from foliot.adapters.storage.postgres.impossible import possible_ones
from foliot.adapters.storage.postgres.renaming import rename_jobs
from foliot.adapters.storage.postgres.schedules import delete_schedules
from foliot.adapters.storage.shared.documents import as_stored_job, encode
from foliot.adapters.storage.shared.event_items import about_jobs, deleted_jobs
from foliot.adapters.storage.shared.rows import job_of, sort_out
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job, JobSpec
from foliot.errors import RowUnreadable


class PostgresJobs:
    """Fills `ports.jobs.JobStore`."""

    def __init__(self, database: Database, admission: Admission, project: str) -> None:
        self._database = database
        self._admission = admission
        self._project = project
        self._getting = Gathering[JobId, Job | RowUnreadable | None](self._get)

    async def put(self, jobs: Sequence[tuple[JobId, JobSpec]], *, at: Instant | None = None) -> list[Job]:
        if not jobs:
            return []
        work = partial(put_jobs, project=self._project, jobs=dict(jobs), at=at)
        put = await self._database.write("put_jobs", work)
        return [put[job_id] for job_id, _ in jobs]

    async def get(self, job_ids: Collection[JobId]) -> dict[JobId, Job]:
        """Calls that come while another is under way are answered together, by one look."""
        if not job_ids:
            return {}
        found: dict[JobId, Job] = {}
        for job in await self._getting.ask(list(job_ids)):
            if isinstance(job, RowUnreadable):
                raise job
            if job is not None:
                found[job.id] = job
        return found

    async def _get(self, job_ids: Sequence[JobId]) -> list[Job | RowUnreadable | None]:
        """What cannot be read is the answer to those alone who asked for it."""
        rows = await self._database.rows("get_jobs", self._project, list(dict.fromkeys(job_ids)))
        jobs, errors = sort_out(partial(job_of, self._project), rows)
        found: dict[str, Job | RowUnreadable] = {error.name: error for error in errors}
        found |= {job.id: job for job in jobs}
        return [found.get(job_id) for job_id in job_ids]

    async def page(self, *, after: JobId | None = None, limit: int = 100) -> list[Job]:
        return [
            job_of(self._project, row) for row in await self._database.rows("page_jobs", self._project, after, limit)
        ]

    async def delete(self, job_ids: Collection[JobId], *, at: Instant | None = None) -> list[JobId]:
        if not job_ids:
            return []
        deleted, keys = await self._database.write(
            "delete_jobs", partial(self._delete, job_ids=possible_ones(job_ids), at=at), merge=merge_lists
        )
        await self._admission.follow(keys, at)
        return deleted

    async def _delete(
        self, transaction: Transaction, *, job_ids: list[JobId], at: Instant | None
    ) -> tuple[list[JobId], set[str]]:
        now = await transaction.now(at)
        deleted = await delete_jobs(transaction, self._project, job_ids, now)
        if deleted:
            runs = await transaction.column("unstarted_runs_of_jobs", self._project, list(deleted))
            await end_unstarted(transaction, runs, now)
        return [job_id for job_id in job_ids if job_id in deleted], transaction.keys

    async def rename(self, renames: Mapping[JobId, JobId], *, at: Instant | None = None) -> dict[JobId, JobId]:
        if not renames:
            return {}

        async def work(transaction: Transaction) -> tuple[dict[JobId, JobId], set[str]]:
            now = await transaction.now(at)
            return await rename_jobs(transaction, self._project, renames, now), transaction.keys

        done, keys = await self._database.write("rename_jobs", work, merge=_merge_renames)
        await self._admission.follow(keys, at)
        return done


async def lock_jobs(transaction: Transaction, project: str, job_ids: Collection[JobId]) -> dict[JobId, JobSpec]:
    """Those that exist, which nobody else changes until the transaction ends. Those that cannot be read are locked as
    well, and left out: whatever is put in their place is another job."""
    rows = await transaction.rows("lock_jobs", project, sorted(job_ids))
    jobs, _ = sort_out(partial(job_of, project), rows)
    return {job.id: job.spec for job in jobs}


async def put_jobs(
    transaction: Transaction, *, project: str, jobs: dict[JobId, JobSpec], at: Instant | None
) -> dict[JobId, Job]:
    """Create or change jobs; one that is stored just so keeps its revision."""
    known = await lock_jobs(transaction, project, jobs)
    changed = [job_id for job_id, spec in jobs.items() if known.get(job_id) != as_stored_job(spec)]
    if changed:
        now = await transaction.now(at)
        documents = [encode(jobs[job_id]) for job_id in changed]
        await transaction.run("put_jobs", project, now, changed, documents)
    rows = await transaction.rows("get_jobs", project, list(jobs))
    put = {job.id: job for job in (job_of(project, row) for row in rows)}
    transaction.note(EventKind.JOB_CHANGED, about_jobs(put[job_id] for job_id in changed))
    return put


async def delete_jobs(transaction: Transaction, project: str, job_ids: list[JobId], now: Instant) -> dict[JobId, int]:
    """Delete jobs with their schedules, not their runs; those that existed come back, with their last revisions."""
    deleted: dict[JobId, int] = dict(await transaction.rows("delete_jobs", project, job_ids))
    if deleted:
        await transaction.run("raise_revision_floor", max(deleted.values()))
        schedules = await transaction.column("schedules_of_jobs", project, list(deleted))
        await delete_schedules(transaction, project, schedules, now)
    transaction.note(EventKind.JOB_DELETED, deleted_jobs(deleted))
    return deleted


def _merge_renames(
    first: tuple[dict[JobId, JobId], set[str]], second: tuple[dict[JobId, JobId], set[str]]
) -> tuple[dict[JobId, JobId], set[str]]:
    """What the first try did, the second one finds done."""
    return first[0] | second[0], first[1] | second[1]
