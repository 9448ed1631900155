"""Pauses the schedules of jobs that have failed too often in a row (`pause_after_failures`).

Failures are counted in the kept ends of runs (`endings`), after the last success and the last resume: a few index
look-ups in a history of any length.
"""

from collections.abc import Collection

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.rows.schedules import lock_schedules, pause_stored
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant


async def stop_failed_jobs(transaction: Transaction, run_ids: Collection[RunId], now: Instant) -> None:
    """Pause the schedules of the jobs of these failed runs, whose ends are stored, if they have failed too often."""
    if not run_ids:
        return
    for project, job_id in await transaction.rows("failed_jobs", list(run_ids)):
        running = await transaction.column("running_schedules", project, [job_id])
        known = await lock_schedules(transaction, project, running) if running else {}
        if await pause_stored(transaction, known.values(), now, paused=True):
            await transaction.run("stop_jobs", project, [job_id], now)
