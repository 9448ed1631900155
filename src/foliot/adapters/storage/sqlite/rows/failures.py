"""Pauses the schedules of jobs that have failed too often in a row (`pause_after_failures`).

Failures are counted in the kept ends of runs (`endings`), after the last success and the last resume: a few index
look-ups in a history of any length.
"""

from collections.abc import Collection

from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.schedules import named_schedules, pause_stored
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant


def stop_failed_jobs(tx: Transaction, run_ids: Collection[RunId], now: Instant) -> None:
    """Pause the schedules of the jobs of these failed runs, whose ends are stored, if they have failed too often."""
    if not run_ids:
        return
    for project, job_id in tx.rows(SQL["failed_jobs"], (encode_names(run_ids),)):
        job = encode_names([job_id])
        running = tx.column(SQL["running_schedules"], (project, job))
        if running:
            pause_stored(tx, named_schedules(tx, project, running).schedules, now, paused=True)
            tx.run(SQL["stop_jobs"], (project, job, now))
