"""Frees the leases of expired workers.

A worker expires when it has not renewed for the length of its lease, or at once when its process on this machine has
ended, so that no run waits after a crash and a restart. An expired worker can neither renew nor claim. Each of its
leases is finished as a lost attempt, fenced by its token: if the worker's own finish arrives first, the reaper changes
nothing. Processes that the worker left on this machine are ended first, so that no new attempt runs at the same time as
an old one.

Runs that the application's executor has (`domain.run.report`) end here too, if their cancellation was requested or no
report of their end arrived in time: no worker watches them.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lease import APP_EXECUTOR, ExpiredLease, Finish
from foliot.domain.run.outcome import Cancelled, Lost, Outcome, TimedOut
from foliot.engine.loop import IMMEDIATELY
from foliot.ports.processes import Processes
from foliot.ports.runner import Sweep
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)

BATCH: Final = 1_000


class Reaper:
    """The duty that frees the leases of expired workers."""

    name = "reaper"

    def __init__(
        self,
        storage: Storage,
        *,
        sweep: Sweep | None = None,
        processes: Processes | None = None,
        every: Millis = SECOND,
    ) -> None:
        self._storage = storage
        self._sweep = sweep
        self._processes = processes
        self._every = every
        self.wake = asyncio.Event()

    async def round(self) -> Millis | None:
        if self._processes is not None:
            await self._expire_gone(self._processes)
        leases = await self._storage.upkeep.expired_leases(BATCH)
        if leases:
            await self._free(leases)
        await self._storage.upkeep.remove_expired_workers()
        return IMMEDIATELY if len(leases) == BATCH else self._every

    async def _expire_gone(self, processes: Processes) -> None:
        """Make workers of this machine expire whose processes have ended."""
        known = await self._storage.upkeep.worker_processes()
        gone = [worker_id for worker_id, process in known if processes.is_gone(process)]
        if gone:
            log.warning("worker_processes_gone", extra={"workers": gone})
            await self._storage.upkeep.expire_workers(gone)

    async def _free(self, leases: Sequence[ExpiredLease]) -> None:
        lost = [lease for lease in leases if lease.worker_id != APP_EXECUTOR]
        if self._sweep is not None and lost:
            await self._sweep([(lease.run_id, lease.attempt) for lease in lost])
        finishes = [Finish(lease.run_id, lease.worker_id, lease.token, _outcome(lease)) for lease in leases]
        stale = set(await self._storage.work.finish(finishes))
        freed = [lease.run_id for lease in lost if lease.token not in stale]
        if freed:
            log.warning("leases_reaped", extra={"runs": freed})
        ended = [lease.run_id for lease in leases if lease not in lost and lease.token not in stale]
        if ended:
            log.warning("launches_ended", extra={"runs": ended, "reason": "no report arrived, or they were cancelled"})


def _outcome(lease: ExpiredLease) -> Outcome:
    if lease.worker_id != APP_EXECUTOR:
        return Lost()
    return Cancelled() if lease.is_cancelled else TimedOut("the executor did not report the end in time")
