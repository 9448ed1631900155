"""Cancels many runs at once: those of a job, or all."""

from collections import Counter
from typing import Final

import msgspec

from foliot.domain.ids import JobId
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.run import Run, Status
from foliot.errors import InvalidInput
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage

MOST: Final = 1_000
"""How many runs one call cancels, in one transaction."""
CANCELLABLE: Final = (Status.SCHEDULED, Status.QUEUED, Status.RUNNING)


class CancelledRuns(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the runs that were cancelled together."""

    cancelled: int
    """Those that had not started, and never will."""
    requested: int
    """Those whose workers were asked to end them."""
    is_complete: bool
    """Whether these were all. If not, repeat the request."""


NOTHING_CANCELLED: Final = CancelledRuns(cancelled=0, requested=0, is_complete=True)


async def cancel_all(
    storage: Storage, job_id: JobId | None, status: Status | None, *, is_confirmed: bool
) -> CancelledRuns:
    """Cancel the runs of a job, or of all jobs, that have not ended; with a status, only those that have it now.

    Raise InvalidInput, and change nothing, if there are such runs and the caller has not confirmed it.
    """
    found: list[Run] = []
    for one in CANCELLABLE if status is None else (status,):
        only = RunFilter(job_id=job_id, status=one, limit=MOST + 1, roots=job_id is None)
        found += await storage.queries.page_runs(only)
    is_complete = len(found) <= MOST
    run_ids = [run.id for run in found[:MOST]]
    if run_ids and not is_confirmed:
        count = f"{len(run_ids)}{'' if is_complete else ' or more'} run{'' if len(run_ids) == 1 else 's'}"
        raise InvalidInput(
            f"this cancels {count}", hint='Confirm it with --yes, or "confirm": true by HTTP.', field="confirm"
        )
    answers = Counter((await storage.orders.cancel(run_ids)).values())
    return CancelledRuns(
        cancelled=answers[CancelAnswer.CANCELLED], requested=answers[CancelAnswer.REQUESTED], is_complete=is_complete
    )
