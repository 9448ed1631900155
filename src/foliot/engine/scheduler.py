"""Turns due schedules into ticks and runs.

Any number of schedulers may do this at once: each reads what is due, decides by itself, and saves by comparing the
version of every schedule. Who comes second changes nothing.
"""

import asyncio
import logging
from collections import Counter
from typing import Final

from foliot.domain.firing import DueSchedule, Firing, Launcher, Tempo, plan_firing
from foliot.domain.ids import IdSource, RunId
from foliot.domain.instant import MINUTE, Instant, Millis, later
from foliot.engine.loop import AT_ONCE
from foliot.ports.storage import DueBatch, Storage, Topic

log = logging.getLogger(__name__)

BATCH: Final = 1_000
_DEFERRAL: Final = MINUTE


class Scheduler:
    """The duty that keeps time."""

    name = "scheduler"

    def __init__(self, storage: Storage, *, ids: IdSource, launcher: Launcher, tempo: Tempo) -> None:
        self._storage = storage
        self._ids = ids
        self._launcher = launcher
        self._tempo = tempo

    @property
    def wake(self) -> asyncio.Event:
        return self._storage.signal(Topic.SCHEDULES)

    async def round(self) -> Millis | None:
        due = await self._storage.schedules.due(BATCH)
        if due.schedules:
            await self._fire(due)
        if len(due.schedules) == BATCH:
            return AT_ONCE
        next_wake = await self._storage.schedules.next_wake()
        return None if next_wake is None else Millis(max(0, next_wake - due.now))

    async def _fire(self, due: DueBatch) -> None:
        firings = [self._decide(schedule, due) for schedule in due.schedules]
        saved = await self._storage.schedules.settle(firings)
        if log.isEnabledFor(logging.INFO):
            _report(firings, len(saved))

    def _decide(self, schedule: DueSchedule, due: DueBatch) -> Firing:
        try:
            return plan_firing(
                schedule,
                due.now,
                jobs=due.jobs,
                tempo=self._tempo,
                launch=self._launcher,
                new_run_id=lambda: RunId(self._ids.make(due.now)),
            )
        except Exception:
            # One schedule whose rule can no longer be read (a zone that is gone, say) must not stop all others.
            log.exception("schedule_not_decidable", extra={"schedule": schedule.id})
            return _deferred(schedule, due.now)


def _deferred(schedule: DueSchedule, now: Instant) -> Firing:
    """Decide nothing about a schedule and come back later: its moments stay unsettled, so none is lost."""
    return Firing(
        schedule.uid,
        schedule.version,
        schedule.settled_until,
        planned=list(schedule.planned),
        behind_since=schedule.behind_since or now,
        next_run_at=now,
        wake_at=later(now, _DEFERRAL),
    )


def _report(firings: list[Firing], saved: int) -> None:
    outcomes = Counter(f"{tick.outcome}:{tick.reason}" for firing in firings for tick in firing.ticks)
    log.info("fired", extra={"due": len(firings), "saved": saved, "ticks": dict(outcomes)})
