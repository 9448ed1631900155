"""What follows when runs have ended, whatever ended them; and looking back at how the runs of a job ended.

A child leaves a note for its parent (`notes`). The ends of jobs that gates look at are kept in
order of time (`endings`), so that the latest is found by one look, whatever the history.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

from foliot.adapters.storage.postgres.database import Database, Transaction
from foliot.domain.gate.decision import DependencyState, End
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.ports.topic import Topic

LOOK_BACK: Final = 50
"""Among how many of a job's newest runs one is looked for that is expected."""


async def follow_ends(transaction: Transaction, run_ids: Collection[RunId]) -> None:
    """These runs are terminal now: leave notes for their parents, and keep their ends if their jobs are watched."""
    if run_ids:
        await add_notes(transaction, run_ids)
        await transaction.run("keep_endings", list(run_ids))


async def add_notes(transaction: Transaction, run_ids: Collection[RunId]) -> None:
    """Leave notes for the parents of these runs, as far as they have one."""
    if run_ids and await transaction.rows("add_notes", list(run_ids)):
        transaction.topics.add(Topic.NOTES)


async def note_trees(transaction: Transaction, run_ids: Collection[RunId]) -> None:
    """Let these trees be looked at."""
    if run_ids:
        await transaction.run("note_trees", list(run_ids))
        transaction.topics.add(Topic.NOTES)


async def watch(transaction: Transaction, project: str, job_ids: Collection[JobId]) -> None:
    """Begin to keep the ends of these jobs, those that were before included."""
    if await transaction.column("unwatched", project, list(job_ids)):
        await transaction.run("lock_watched")
        new = await transaction.column("unwatched", project, list(job_ids))
        if new:
            await transaction.run("watch", project, new)
            await transaction.run("keep_earlier_endings", project, new)


async def sights(
    database: Database, project: str, job_ids: Collection[JobId], after: Instant, until: Instant
) -> dict[JobId, DependencyState]:
    rows = await database.rows("sights", project, list(job_ids), after, until, LOOK_BACK)
    seen = {
        JobId(job_id): DependencyState(None if end[0] is None else _end_of(end), is_expected)
        for job_id, *end, is_expected in rows
    }
    return {job_id: seen.get(job_id, DependencyState(None, False)) for job_id in job_ids}


async def latest_end(
    database: Database,
    project: str,
    job_id: JobId,
    statuses: Collection[Status],
    reasons: Collection[Reason] | None,
    until: Instant,
) -> End | None:
    """One look for each status, or for each status and reason."""
    who = (project, job_id, [status.value for status in statuses], until)
    if reasons is None:
        rows = await database.rows("latest_of_status", *who)
    else:
        rows = await database.rows("latest_of_reason", *who, [reason.value for reason in reasons])
    return _end_of(rows[0]) if rows else None


def _end_of(row: Sequence[Any]) -> End:
    run_id, status, finished_at = row
    return End(run_id, Status(status), finished_at)
