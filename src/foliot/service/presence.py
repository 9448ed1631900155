"""Whether jobs run now, and waiting until they do not. Only the storage is asked: it does not matter who runs them,
or whether as a step of a workflow.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run import BEGUN, Run
from foliot.errors import NotFound, WaitTimeout
from foliot.ports.clock import Clock
from foliot.ports.runs import RunFilter
from foliot.ports.storage import Storage

LOOK_EVERY: Final = Millis(250)
"""For whoever waits until runs print something or end."""
_MOST: Final = 10_000


class Presence:
    """Asks which runs have begun and are not over."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def is_running(self, job_id: JobId) -> bool:
        """Whether a worker is at a run of the job. One that waits for its turn or its next try does not run."""
        for status in BEGUN:
            if await self._storage.runs.page(RunFilter(job_id=job_id, status=status, limit=1)):
                return True
        return False

    async def over(self, job_id: JobId, *, patience: Millis | None = None) -> list[Run]:
        """Return when the runs of the job that are under way now have ended; they come back, oldest first.

        Runs that begin meanwhile are not waited for. One that is tried again is not over before its last try.
        """
        pages = [await self._storage.runs.page(RunFilter(job_id=job_id, status=one, limit=_MOST)) for one in BEGUN]
        return await self.ended(*sorted(run.id for page in pages for run in page), patience=patience)

    async def ended(self, *run_ids: RunId, patience: Millis | None = None) -> list[Run]:
        """Return when all of these runs have ended. WaitTimeout when one has not and patience is at its end."""
        begun = self._clock.elapsed()
        while True:
            found = await self._storage.runs.get(run_ids)
            gone = [run_id for run_id in run_ids if run_id not in found]
            if gone:
                raise NotFound("run", gone[0])
            pending = [run_id for run_id in run_ids if not found[run_id].status.is_terminal]
            if not pending:
                return [found[run_id] for run_id in run_ids]
            await self._pause(pending, patience, Millis(self._clock.elapsed() - begun))

    async def _pause(self, pending: Sequence[RunId], patience: Millis | None, waited: Millis) -> None:
        if patience is None:
            await self._clock.wait(asyncio.Event(), LOOK_EVERY)
        elif waited < patience:
            await self._clock.wait(asyncio.Event(), Millis(min(LOOK_EVERY, patience - waited)))
        else:
            raise WaitTimeout(pending, patience / SECOND)
