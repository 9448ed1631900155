"""Frees what vanished workers held.

An expired worker can neither renew nor claim, so its leases can be judged at leisure. Each is settled as a lost
attempt, fenced by its token: should the worker's own finish arrive first, the reaper changes nothing. What the worker
left running on this machine is ended first, so that no new attempt meets an old one.
"""

import asyncio
import logging
from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.domain.lease import Claim, Finish
from foliot.domain.outcome import Lost, Reason
from foliot.domain.run import Ended, Status, settle
from foliot.engine.definitions import Definitions
from foliot.engine.loop import AT_ONCE
from foliot.engine.plans import Plans
from foliot.ports.runner import Sweep
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)

BATCH: Final = 1_000


class Reaper:
    """The duty that notices death."""

    name = "reaper"

    def __init__(self, storage: Storage, plans: Plans, *, sweep: Sweep | None = None, every: Millis = SECOND) -> None:
        self._storage = storage
        self._sweep = sweep
        self._every = every
        self._definitions = Definitions(storage, plans)
        self.wake = asyncio.Event()

    async def round(self) -> Millis | None:
        claims = await self._storage.workers.expired(BATCH)
        if claims:
            await self._free(claims)
        await self._storage.workers.remove_expired()
        return AT_ONCE if len(claims) == BATCH else self._every

    async def _free(self, claims: list[Claim]) -> None:
        await self._definitions.load(claims)
        if self._sweep is not None:
            await self._sweep([(claim.run_id, claim.attempt) for claim in claims])
        stale = await self._storage.runs.finish([self._lost(claim) for claim in claims])
        log.warning("leases_lost", extra={"runs": [claim.run_id for claim in claims], "finished_first": len(stale)})

    def _lost(self, claim: Claim) -> Finish:
        definition = self._definitions.of(claim)
        if definition.error is not None:
            # How often it may be tried is not known, and once may be too often.
            return Finish(claim, Ended(Status.FAILED, Reason.LEASE_LOST, str(definition.error), was_lost=True))
        return Finish(claim, settle(claim, Lost(), definition.options))
