"""The verbs about jobs."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from foliot.adapters.storage.shared.documents import as_stored_job, encode, encode_names, read_number
from foliot.adapters.storage.shared.event_items import about_jobs, deleted_jobs
from foliot.adapters.storage.shared.row_types import sight
from foliot.adapters.storage.shared.rows import JobRow, job_of, sort_out
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite import cancels, edits
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Row, Session
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.sqlite.renames import rename_jobs
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job, JobSpec

SQL: Final = load_queries(Path(__file__).parent / "sql" / "jobs.sql")


class SqliteJobs:
    """Fills `ports.jobs.JobStore`."""

    def __init__(self, access: Access) -> None:
        self._writer, self._reader, _, self._project = access
        self._looked_up: dict[JobId, Job | None] = {}

    async def put(self, jobs: Sequence[tuple[JobId, JobSpec]], *, at: Instant | None = None) -> list[Job]:
        def work(tx: Transaction) -> list[Job]:
            return put_jobs(tx, self._project, jobs, tx.now(at))

        return await self._writer.submit("put_jobs", work)

    async def get(self, job_ids: Collection[JobId]) -> dict[JobId, Job]:
        if len(job_ids) == 1:
            return self._get_one(*job_ids)
        return await self._reader.read(lambda session: get_jobs(session, self._project, job_ids))

    def _get_one(self, job_id: JobId) -> dict[JobId, Job]:
        """Look here and now, for whoever enqueues asks for one job, each time.

        All who ask in one turn of the event loop share one look. What anybody has been told is saved was saved in an
        earlier turn, so it is seen.
        """
        if job_id not in self._looked_up:
            if not self._looked_up:
                asyncio.get_running_loop().call_soon(self._looked_up.clear)
            row = self._reader.peek(SQL["get_job"], (self._project, job_id))
            self._looked_up[job_id] = None if row is None else job_of(self._project, row)
        job = self._looked_up[job_id]
        return {} if job is None else {job_id: job}

    async def page(self, *, after: JobId | None = None, limit: int = 100) -> list[Job]:
        def look(session: Session) -> list[Job]:
            rows = session.rows(SQL["page_jobs"], (self._project, after or "", limit))
            return [job_of(self._project, row) for row in rows]

        return await self._reader.read(look)

    async def delete(self, job_ids: Collection[JobId], *, at: Instant | None = None) -> list[JobId]:
        def work(tx: Transaction) -> list[JobId]:
            found = delete_jobs(tx, self._project, job_ids, tx.now(at))
            cancels.cancel_jobs(tx, self._project, found, tx.now(at))
            return [job_id for job_id in dict.fromkeys(job_ids) if job_id in found]

        return await self._writer.submit("delete_jobs", work)

    async def rename(self, renames: Mapping[JobId, JobId], *, at: Instant | None = None) -> dict[JobId, JobId]:
        def work(tx: Transaction) -> dict[JobId, JobId]:
            return rename_jobs(tx, self._project, renames, tx.now(at))

        return await self._writer.submit("rename_jobs", work)


def get_jobs(session: Session, project: str, job_ids: Collection[JobId]) -> dict[JobId, Job]:
    return {job.id: job for job in (job_of(project, row) for row in job_rows(session, project, job_ids))}


def known_specs(session: Session, project: str, job_ids: Collection[JobId]) -> dict[JobId, JobSpec]:
    """Those that can be read: whatever is put in the place of the others is another job."""
    jobs, _ = sort_out(partial(job_of, project), job_rows(session, project, job_ids))
    return {job.id: job.spec for job in jobs}


def job_rows(session: Session, project: str, job_ids: Collection[JobId]) -> list[Row]:
    return session.rows(SQL["get_jobs"], (project, encode_names(job_ids)))


def put_jobs(tx: Transaction, project: str, jobs: Sequence[tuple[JobId, JobSpec]], now: Instant) -> list[Job]:
    """Create or change jobs; one that is stored just so keeps its revision. Of two for one job the last counts."""
    rows = job_rows(tx, project, [job_id for job_id, _ in jobs])
    readable, _ = sort_out(partial(job_of, project), rows)
    known = {job.id: job for job in readable}
    # What cannot be read is another job in any case, and goes on counting its revisions.
    counted: dict[JobId, tuple[int, Instant]] = {row[0]: _counted(tx, row, now) for row in rows}
    changed: dict[JobId, Job] = {}
    for job_id, given in dict(jobs).items():
        spec = as_stored_job(given)
        if job_id not in known or known[job_id].spec != spec:
            last, created_at = counted.get(job_id) or (_revision_floor(tx), now)
            known[job_id] = changed[job_id] = Job(
                id=job_id, project=project, spec=spec, revision=last + 1, created_at=created_at, updated_at=now
            )
    _save(tx, changed.values())
    add_event(tx, now, EventKind.JOB_CHANGED, about_jobs(changed.values()))
    return [known[job_id] for job_id, _ in jobs]


def _counted(tx: Transaction, row: Row, now: Instant) -> tuple[int, Instant]:
    """The last revision of a job and when it was created, as far as they can be read."""
    known, error = sight(JobRow, row, "job", row[0])
    if error is not None:
        return max(known.revision, _revision_floor(tx)), now
    return known.revision, Instant(known.created_at)


def _revision_floor(tx: Transaction) -> int:
    """The highest of any job that is gone: whoever remembers one of the same id sees that a new one is another."""
    return read_number(tx.value(SQL["revision_floor"]) or 0, "setting", "revision_floor")


def _save(tx: Transaction, jobs: Iterable[Job]) -> None:
    rows = [(job.project, job.id, encode(job.spec), job.revision, job.created_at, job.updated_at) for job in jobs]
    tx.run_many(SQL["put_jobs"], rows)


def delete_jobs(tx: Transaction, project: str, job_ids: Collection[JobId], now: Instant) -> dict[JobId, int]:
    """Delete jobs with their schedules, not their runs; those that existed come back, with their last revisions."""
    found: dict[JobId, int] = dict(tx.rows(SQL["delete_jobs"], (project, encode_names(job_ids))))
    if found:
        tx.run(SQL["raise_revision_floor"], (max(found.values()),))
    edits.delete(tx, edits.schedules_of_jobs(tx, project, found), now)
    add_event(tx, now, EventKind.JOB_DELETED, deleted_jobs(found))
    return found
