"""Removes what need not be kept any longer. One node at a time does it: the leader.

A leader that hears nothing stops by its own clock, before another one may begin. The storage refuses a former leader
besides; both, because a refusal is worth nothing while the storage is out of reach.
"""

import asyncio
import logging
from typing import Final

from foliot.domain.instant import DAY, MINUTE, SECOND, Millis
from foliot.engine.deadline import DeadlinePassed, deadline
from foliot.engine.loop import AT_ONCE
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.ports.upkeep import Retention

log = logging.getLogger(__name__)

BATCH: Final = 5_000
"""How much of each kind goes with one piece. What belongs to a run goes with it, however much that is: after a piece
that did not fit into a term the next one has half the size, and after one that did, twice."""
RETENTION: Final = Retention(
    runs_age=Millis(90 * DAY),
    runs_per_job=10_000,
    logs_age=Millis(30 * DAY),
    ticks_age=Millis(400 * DAY),
    events_age=Millis(7 * DAY),
    executions_per_workflow=100,
)
_TERM: Final = Millis(30 * SECOND)
_MARGIN: Final = Millis(5 * SECOND)
_EVERY: Final = Millis(5 * MINUTE)
_RENEW: Final = Millis(10 * SECOND)
_ASK_AGAIN: Final = Millis(2 * SECOND)
"""A leader that stops in good order is replaced as soon as this."""


class Janitor:
    """The duty of forgetting."""

    name = "janitor"

    def __init__(self, storage: Storage, clock: Clock, holder: str, retention: Retention = RETENTION) -> None:
        self._storage = storage
        self._clock = clock
        self._holder = holder
        self._retention = retention
        self._rest = AT_ONCE
        self._limit = BATCH
        self._epoch: int | None = None
        self.wake = asyncio.Event()

    async def round(self) -> Millis | None:
        ends_at = self._clock.elapsed() + _TERM - _MARGIN
        epoch = await self._storage.upkeep.lead(self._holder, _TERM)
        if epoch is not None and epoch != self._epoch:
            log.info("leading", extra={"holder": self._holder, "epoch": epoch})
        self._epoch = epoch
        if epoch is None:
            return _ASK_AGAIN
        self._rest = Millis(max(0, self._rest - _RENEW))
        if self._rest > 0:
            return _RENEW
        try:
            async with deadline(self._clock, Millis(max(ends_at - self._clock.elapsed(), 0))):
                return await self._prune(epoch)
        except DeadlinePassed:
            log.warning("term_ended", extra={"holder": self._holder, "epoch": epoch, "limit": self._limit})
            self._limit = max(1, self._limit // 2)
            return _ASK_AGAIN

    async def leave(self) -> None:
        """Let another node lead at once."""
        await self._storage.upkeep.resign(self._holder)

    async def _prune(self, epoch: int) -> Millis:
        pruned = await self._storage.upkeep.prune(self._retention, epoch=epoch, limit=self._limit)
        if pruned is None:
            return _ASK_AGAIN
        self._limit = min(2 * self._limit, BATCH)
        if pruned.total:
            log.info("pruned", extra=pruned._asdict())
        if pruned.is_more:
            return AT_ONCE
        self._rest = _EVERY
        return _RENEW
