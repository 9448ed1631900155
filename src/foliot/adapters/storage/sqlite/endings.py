"""What follows when runs have ended, whatever ended them; and looking back at how the runs of a job ended.

A run that is a part of another one leaves a note for it (`notes`). The ends of jobs that gates look at are kept in
order of time (`endings`), so that the latest is found by one look, whatever the history.
"""

from collections.abc import Collection, Sequence
from itertools import product
from pathlib import Path
from typing import Final

from foliot.adapters.storage.documents import encode_names
from foliot.adapters.storage.finish_plan import Lease
from foliot.adapters.storage.queries import load_queries
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Row, Session
from foliot.domain.gate.decision import DependencyState, End
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.ports.topic import Topic

SQL: Final = load_queries(Path(__file__).parent / "sql" / "endings.sql")
_LOOK_BACK: Final = 50
"""Among how many of a job's newest runs one is looked for that is expected."""


def follow_ends(tx: Transaction, run_ids: Collection[RunId]) -> None:
    """These runs are terminal now: leave notes for their parents, and keep the ends that gates look at."""
    ids = encode_names(run_ids)
    if tx.run(SQL["add_notes"], (ids,)):
        tx.ring(Topic.NOTES)
    tx.run(SQL["keep_endings"], (ids,))


def follow_finished(tx: Transaction, leases: Sequence[Lease]) -> None:
    """The same for ended attempts: usually no run has a parent and no gate looks at anything, and nothing is
    written."""
    if leases and (not all(lease.run.parent_id is None for lease in leases) or tx.rows(SQL["is_watching"])):
        follow_ends(tx, [lease.run_id for lease in leases])


def note_trees(tx: Transaction, run_ids: Collection[RunId]) -> None:
    """Let these trees be looked at."""
    if run_ids:
        tx.run_many(SQL["note_trees"], [(run_id,) for run_id in run_ids])
        tx.ring(Topic.NOTES)


def watch(tx: Transaction, project: str, job_ids: Collection[JobId]) -> None:
    """Begin to keep the ends of these jobs, those that were before included."""
    for (job_id,) in tx.rows(SQL["unwatched"], (project, encode_names(job_ids))):
        tx.run(SQL["watch"], (project, job_id))
        tx.run(SQL["keep_earlier_endings"], (project, job_id))


def sights(
    session: Session, project: str, job_ids: Collection[JobId], after: Instant, until: Instant
) -> dict[JobId, DependencyState]:
    return {job_id: _dependency_state(session, project, job_id, after, until) for job_id in job_ids}


def _dependency_state(session: Session, project: str, job_id: JobId, after: Instant, until: Instant) -> DependencyState:
    end = session.row(SQL["latest_ending"], (project, job_id, after, until))
    is_expected = session.value(SQL["is_expected"], (project, job_id, until, _LOOK_BACK))
    return DependencyState(None if end is None else _end_of(end), bool(is_expected))


def latest_end(
    session: Session,
    project: str,
    job_id: JobId,
    statuses: Collection[Status],
    reasons: Collection[Reason] | None,
    until: Instant,
) -> End | None:
    """One look for each status, or for each status and reason."""
    who = (project, job_id)
    sql = SQL["latest_of_status" if reasons is None else "latest_of_reason"]
    asked = product(statuses) if reasons is None else product(statuses, reasons)
    found = [_end_of(row) for what in asked for row in session.rows(sql, (*who, *what, until))]
    return max(found, key=lambda end: (end.finished_at, end.run_id), default=None)


def read_decisions(session: Session, run_ids: Collection[RunId]) -> dict[RunId, bytes]:
    return dict(session.rows(SQL["decisions"], (encode_names(run_ids),)))


def _end_of(row: Row) -> End:
    run_id, status, finished_at = row
    return End(run_id, Status(status), finished_at)
