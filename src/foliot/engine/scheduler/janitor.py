"""Removes rows that retention no longer keeps. Only one node at a time prunes: the leader.

A leader that gets no response stops by its own clock, before another one may begin. The storage also refuses a former
leader. Both are needed: a refusal does not reach a leader that is cut off from the storage.
"""

import asyncio
import logging
from typing import Final

from foliot.domain.instant import DAY, MINUTE, SECOND, Millis
from foliot.engine.deadline import DeadlinePassed, deadline
from foliot.engine.loop import IMMEDIATELY
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.ports.upkeep import Retention

log = logging.getLogger(__name__)

BATCH: Final = 5_000
"""How many rows of each kind one prune removes at most. Rows that belong to a run are removed with it, however many
there are. So the limit is halved after a prune that did not end within the term, and doubled after one that did."""
RETENTION: Final = Retention(
    runs_age=Millis(90 * DAY),
    runs_per_job=10_000,
    logs_age=Millis(30 * DAY),
    ticks_age=Millis(400 * DAY),
    events_age=Millis(7 * DAY),
    executions_per_workflow=100,
    audit_age=Millis(400 * DAY),
)
_TERM: Final = Millis(30 * SECOND)
_MARGIN: Final = Millis(5 * SECOND)
_EVERY: Final = Millis(5 * MINUTE)
_RENEW: Final = Millis(10 * SECOND)
_RETRY: Final = Millis(2 * SECOND)
"""How often another node tries to become the leader, and so how soon it replaces one that resigned."""


class Janitor:
    """The duty that prunes."""

    name = "janitor"

    def __init__(self, storage: Storage, clock: Clock, holder: str, retention: Retention = RETENTION) -> None:
        self._storage = storage
        self._clock = clock
        self._holder = holder
        self._retention = retention
        self._until_prune = IMMEDIATELY
        self._limit = BATCH
        self._epoch: int | None = None
        self.wake = asyncio.Event()

    async def round(self) -> Millis | None:
        ends_at = self._clock.elapsed() + _TERM - _MARGIN
        epoch = await self._storage.upkeep.lead(self._holder, _TERM)
        if epoch is not None and epoch != self._epoch:
            log.info("leader_elected", extra={"holder": self._holder, "epoch": epoch})
        self._epoch = epoch
        if epoch is None:
            return _RETRY
        self._until_prune = Millis(max(0, self._until_prune - _RENEW))
        if self._until_prune > 0:
            return _RENEW
        try:
            async with deadline(self._clock, Millis(max(ends_at - self._clock.elapsed(), 0))):
                return await self._prune(epoch)
        except DeadlinePassed:
            log.warning("prune_timed_out", extra={"holder": self._holder, "epoch": epoch, "limit": self._limit})
            self._limit = max(1, self._limit // 2)
            return _RETRY

    async def resign(self) -> None:
        """Give up leadership, so that another node can lead before the term ends."""
        await self._storage.upkeep.resign(self._holder)

    async def _prune(self, epoch: int) -> Millis:
        pruned = await self._storage.upkeep.prune(self._retention, epoch=epoch, limit=self._limit)
        if pruned is None:
            return _RETRY
        self._limit = min(2 * self._limit, BATCH)
        if pruned.total:
            log.info("rows_pruned", extra=pruned._asdict())
        if pruned.is_more:
            return IMMEDIATELY
        self._until_prune = _EVERY
        return _RENEW
