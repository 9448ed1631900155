"""The verbs about jobs."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from foliot.adapters.storage.documents import as_stored_job, encode, encode_names
from foliot.adapters.storage.notices import about_jobs, deleted_jobs
from foliot.adapters.storage.queries import load_queries
from foliot.adapters.storage.rows import job_of
from foliot.adapters.storage.sqlite import cancels, edits
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Session
from foliot.adapters.storage.sqlite.events import add_event
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job import Job, JobSpec

SQL: Final = load_queries(Path(__file__).parent / "sql" / "jobs.sql")


class SqliteJobs:
    """Fills `ports.storage.JobStore`."""

    def __init__(self, access: Access) -> None:
        self._writer, self._reader, _, self._project = access

    async def put(self, jobs: Sequence[tuple[JobId, JobSpec]], *, at: Instant | None = None) -> list[Job]:
        def work(tx: Transaction) -> list[Job]:
            return _put(tx, self._project, jobs, tx.now(at))

        return await self._writer.submit("put_jobs", work)

    async def get(self, job_ids: Collection[JobId]) -> dict[JobId, Job]:
        return await self._reader.read(lambda session: get_jobs(session, self._project, job_ids))

    async def page(self, *, after: JobId | None = None, limit: int = 100) -> list[Job]:
        def look(session: Session) -> list[Job]:
            rows = session.rows(SQL["page_jobs"], (self._project, after or "", limit))
            return [job_of(self._project, row) for row in rows]

        return await self._reader.read(look)

    async def delete(self, job_ids: Collection[JobId], *, at: Instant | None = None) -> list[JobId]:
        def work(tx: Transaction) -> list[JobId]:
            return _delete(tx, self._project, job_ids, tx.now(at))

        return await self._writer.submit("delete_jobs", work)


def get_jobs(session: Session, project: str, job_ids: Collection[JobId]) -> dict[JobId, Job]:
    rows = session.rows(SQL["get_jobs"], (project, encode_names(job_ids)))
    return {job.id: job for job in (job_of(project, row) for row in rows)}


def _put(tx: Transaction, project: str, jobs: Sequence[tuple[JobId, JobSpec]], now: Instant) -> list[Job]:
    known = get_jobs(tx, project, [job_id for job_id, _ in jobs])
    changed: dict[JobId, Job] = {}
    answers = []
    for job_id, given in jobs:
        spec = as_stored_job(given)
        before = known.get(job_id)
        if before is None:
            known[job_id] = Job(id=job_id, project=project, spec=spec, revision=1, created_at=now, updated_at=now)
        elif before.spec != spec:
            known[job_id] = replace(before, spec=spec, revision=before.revision + 1, updated_at=now)
        if known[job_id] is not before:
            changed[job_id] = known[job_id]
        answers.append(known[job_id])
    rows = [
        (project, job.id, encode(job.spec), job.revision, job.created_at, job.updated_at) for job in changed.values()
    ]
    tx.run_many(SQL["put_jobs"], rows)
    add_event(tx, now, EventKind.JOB_CHANGED, about_jobs(changed.values()))
    return answers


def _delete(tx: Transaction, project: str, job_ids: Collection[JobId], now: Instant) -> list[JobId]:
    found: dict[JobId, int] = dict(tx.rows(SQL["delete_jobs"], (project, encode_names(job_ids))))
    edits.delete(tx, edits.schedules_of_jobs(tx, project, found), now)
    cancels.cancel_jobs(tx, project, found, now)
    add_event(tx, now, EventKind.JOB_DELETED, deleted_jobs(found))
    return [job_id for job_id in dict.fromkeys(job_ids) if job_id in found]
