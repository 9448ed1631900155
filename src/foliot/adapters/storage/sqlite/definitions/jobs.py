"""Stores, reads and deletes jobs."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.documents import as_stored_job, counted_as, encode, encode_names, read_number
from foliot.adapters.storage.shared.event_items import about_jobs, deleted_jobs
from foliot.adapters.storage.shared.expected import refuse_changed
from foliot.adapters.storage.shared.row_types import salvage_row
from foliot.adapters.storage.shared.rows import JobRow, job_of, read_rows
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Row, Session
from foliot.adapters.storage.sqlite.definitions.renames import rename_jobs
from foliot.adapters.storage.sqlite.definitions.schedules import delete_schedules
from foliot.adapters.storage.sqlite.rows.schedules import read_schedules
from foliot.adapters.storage.sqlite.rows.watch import watch_jobs
from foliot.domain.access.trail import AuditKind
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant, Millis
from foliot.domain.job.job import Job, JobSpec


class JobDefinitions(PortBase):
    async def put_jobs(
        self,
        jobs: Sequence[tuple[JobId, JobSpec]],
        *,
        expected: Mapping[JobId, int] | None = None,
        at: Instant | None = None,
    ) -> list[Job]:
        return await self._writer.submit(
            "put_jobs", lambda tx: put_jobs(tx, self._project, jobs, tx.now(at), expected=expected)
        )

    async def get_jobs(self, job_ids: Collection[JobId]) -> dict[JobId, Job]:
        def read(session: Session) -> list[Row]:
            return job_rows(session, self._project, job_ids)

        rows = self._reader.peek(read) if len(job_ids) == 1 else await self._reader.read(read)
        return {job.id: job for job in (job_of(self._project, row) for row in rows)}

    async def page_jobs(self, *, after: JobId | None = None, limit: int = 100) -> list[Job]:
        values = (self._project, after or "", limit)
        rows = await self._reader.read(lambda session: session.rows(SQL["page_jobs"], values))
        return [job_of(self._project, row) for row in rows]

    async def pause_job(self, job_id: JobId, *, paused: bool, at: Instant | None = None) -> None:
        def work(tx: Transaction) -> None:
            now = tx.now(at)
            if paused:
                pause_jobs(tx, self._project, [job_id], now)
            elif tx.run(SQL["resume_job"], (self._project, job_id)):
                tx.record(now, changes.paused(AuditKind.JOB, [job_id], is_paused=False))

        await self._writer.submit("pause_job", work)

    async def rename_jobs(self, renames: Mapping[JobId, JobId], *, at: Instant | None = None) -> dict[JobId, JobId]:
        return await self._writer.submit("rename_jobs", lambda tx: rename_jobs(tx, self._project, renames, tx.now(at)))

    async def watch_jobs(self, look_back: Mapping[JobId, Millis]) -> None:
        await self._writer.submit("watch", lambda tx: watch_jobs(tx, self._project, look_back))


def job_rows(session: Session, project: str, job_ids: Collection[JobId]) -> list[Row]:
    return session.rows(SQL["get_jobs"], (project, encode_names(job_ids)))


def put_jobs(
    tx: Transaction,
    project: str,
    jobs: Sequence[tuple[JobId, JobSpec]],
    now: Instant,
    *,
    expected: Mapping[JobId, int] | None = None,
) -> list[Job]:
    """Create or change jobs; an equal definition keeps its revision. For repeated ids the last definition is stored."""
    rows = job_rows(tx, project, [job_id for job_id, _ in jobs])
    readable, _ = read_rows(partial(job_of, project), rows)
    known = {job.id: job for job in readable}
    # An unreadable row equals no definition, and its revision keeps increasing.
    counted: dict[JobId, tuple[int, Instant]] = {row[0]: _stored_revision(tx, row, now) for row in rows}
    former = {job_id: job.spec for job_id, job in known.items()}
    changed: dict[JobId, Job] = {}
    for job_id, given in dict(jobs).items():
        spec = as_stored_job(given)
        if job_id not in known or known[job_id].spec != spec:
            refuse_changed("job", job_id, counted[job_id][0] if job_id in counted else 0, expected)
            last, created_at = counted.get(job_id) or (_revision_floor(tx), now)
            before = known.get(job_id)
            known[job_id] = changed[job_id] = Job(
                id=job_id,
                project=project,
                spec=spec,
                revision=last + 1,
                created_at=created_at,
                updated_at=now,
                leads=before.leads if before else "",
                paused_at=before.paused_at if before else None,
                stopped_at=before.stopped_at if before else None,
            )
    tx.run_many(
        SQL["put_jobs"],
        [
            (
                *(project, job.id, encode(job.spec), job.revision, job.created_at, job.updated_at),
                job.spec.pause_after_failures,
                counted_as(job.spec),
            )
            for job in changed.values()
        ],
    )
    tx.add_event(now, EventKind.JOB_CHANGED, about_jobs(changed.values()))
    tx.record(now, changes.put_jobs(former, {job_id: job.spec for job_id, job in changed.items()}))
    return [known[job_id] for job_id, _ in jobs]


def pause_jobs(tx: Transaction, project: str, job_ids: Collection[JobId], now: Instant) -> None:
    """Pause jobs. One that is paused keeps its time."""
    paused = [job_id for job_id in job_ids if tx.run(SQL["pause_job"], (now, project, job_id))]
    tx.record(now, changes.paused(AuditKind.JOB, paused, is_paused=True))


def _stored_revision(tx: Transaction, row: Row, now: Instant) -> tuple[int, Instant]:
    """Return the last revision of a job and when it was created, as far as they can be read."""
    known, error = salvage_row(JobRow, row, "job", row[0])
    if error is not None:
        return max(known.revision, _revision_floor(tx)), now
    return known.revision, Instant(known.created_at)


def _revision_floor(tx: Transaction) -> int:
    """Return the highest revision of all deleted jobs: a new job with the same id must differ from a cached one."""
    return read_number(tx.value(SQL["revision_floor"]) or 0, "setting", "revision_floor")


def delete_jobs(tx: Transaction, project: str, job_ids: Collection[JobId], now: Instant) -> dict[JobId, int]:
    """Delete jobs with their schedules, not their runs. Returns those that existed, with their last revisions."""
    former, _ = read_rows(partial(job_of, project), job_rows(tx, project, job_ids))
    found: dict[JobId, int] = dict(tx.rows(SQL["delete_jobs"], (project, encode_names(job_ids))))
    specs = {job.id: job.spec for job in former}
    tx.record(now, changes.deleted_jobs({job_id: specs.get(job_id) for job_id in found}))
    if found:
        tx.run(SQL["raise_revision_floor"], (max(found.values()),))
    rows = tx.rows(SQL["schedules_of_jobs"], (project, encode_names(found)))
    delete_schedules(tx, read_schedules(tx, project, rows).schedules, now)
    tx.add_event(now, EventKind.JOB_DELETED, deleted_jobs(found))
    return found
