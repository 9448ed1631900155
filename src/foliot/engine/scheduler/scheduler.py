"""Turns due schedules into ticks and runs.

Any number of schedulers may do this at once: each reads what is due, decides by itself, and saves by comparing the
version of every schedule. Who comes second changes nothing.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Final

from foliot.domain.ids import IdSource, ScheduleUid
from foliot.domain.instant import MINUTE, Instant, Millis, later, to_iso
from foliot.domain.schedule.fast_path import FastPath
from foliot.domain.schedule.firing import DueSchedule, Firing, Launcher, RoundContext, SchedulerSettings
from foliot.domain.schedule.tick import TickOutcome, TickRecord
from foliot.engine.loop import AT_ONCE
from foliot.ports.clock import Clock
from foliot.ports.ledger import DueBatch, Unreadable
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic

log = logging.getLogger(__name__)

BATCH: Final = 5_000
PART: Final = 1_000
_DEFERRAL: Final = MINUTE
_REPORTED: Final = 100


class Scheduler:
    """The duty that keeps time."""

    name = "scheduler"

    def __init__(
        self, storage: Storage, clock: Clock, *, ids: IdSource, launcher: Launcher, settings: SchedulerSettings
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids
        self._launcher = launcher
        self._settings = settings
        self._apart: dict[ScheduleUid, str] = {}
        """Schedules that ask and cannot be read, with what is wrong. They stay as they are: others may know more."""

    @property
    def wake(self) -> asyncio.Event:
        return self._storage.signal(Topic.SCHEDULES)

    async def round(self) -> Millis | None:
        started = self._clock.elapsed()
        wanted = BATCH + len(self._apart)
        due = await self._storage.ledger.due(wanted)
        self._set_apart(due.unreadable)
        if due.schedules and not await self._fire(due):
            # Others were faster, or the storage refuses these: either way nothing is gained by hurrying.
            return self._settings.tick
        if due.size == wanted:
            return AT_ONCE
        next_wake = await self._storage.ledger.next_wake(besides=self._apart)
        if next_wake is None:
            return self._settings.tick
        now = due.now + self._clock.elapsed() - started
        return Millis(max(0, min(next_wake - now, self._settings.tick)))

    def _set_apart(self, unreadable: Sequence[Unreadable]) -> None:
        """Leave schedules alone that cannot be read, until somebody mends them. Each is told of once, until it is
        another trouble: it may be there for days."""
        before, self._apart = self._apart, {one.uid: one.error.message for one in unreadable}
        for one in unreadable:
            if before.get(one.uid) != one.error.message:
                log.error("schedule_unreadable", extra={"schedule": one.id, "error": one.error.message})

    async def _fire(self, due: DueBatch) -> int:
        """Decide about all that is due; how many decisions were saved.

        While one part is being saved, the next is decided: the database and this process work side by side.
        """
        context = RoundContext(due.now, due.jobs, self._settings, self._launcher, self._ids.stream(due.now))
        punctual = FastPath(context, due.schedules)
        saving: list[asyncio.Task[int]] = []
        for start in range(0, len(due.schedules), PART):
            part = due.schedules[start : start + PART]
            firings = [_decide(schedule, punctual, due.now) for schedule in part]
            saving.append(asyncio.create_task(self._save(part, firings)))
            await asyncio.sleep(0)
        return sum(await asyncio.gather(*saving))

    async def _save(self, schedules: Sequence[DueSchedule], firings: list[Firing]) -> int:
        saved = await self._storage.ledger.commit_firings(firings)
        if log.isEnabledFor(logging.INFO):
            _report(schedules, firings, len(saved))
        return len(saved)


def _decide(schedule: DueSchedule, punctual: FastPath, now: Instant) -> Firing:
    try:
        return punctual.decide(schedule)
    except Exception:
        # One schedule whose rule can no longer be read (a zone that is gone, say) must not stop all others.
        log.exception("schedule_not_decidable", extra={"schedule": schedule.id})
        return _deferred(schedule, now)


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


def _report(schedules: Sequence[DueSchedule], firings: list[Firing], saved: int) -> None:
    """One line for the round, and one for each tick that did not run: those are what people ask about."""
    outcomes = Counter((tick.outcome, tick.reason) for firing in firings for tick in firing.ticks)
    ticks = {f"{outcome}:{reason}": count for (outcome, reason), count in outcomes.items()}
    log.info("fired", extra={"due": len(firings), "saved": saved, "ticks": ticks})
    quiet = (
        (schedule.id, tick)
        for schedule, firing in zip(schedules, firings, strict=True)
        for tick in firing.ticks
        if tick.outcome is not TickOutcome.RAN
    )
    for schedule_id, tick in islice(quiet, _REPORTED):
        log.info("tick_did_not_run", extra={"schedule": schedule_id, **_facts(tick)})


def _facts(tick: TickRecord) -> dict[str, object]:
    return {
        "scheduled_for": to_iso(tick.scheduled_for),
        "until": to_iso(tick.until),
        "count": tick.count,
        "outcome": tick.outcome,
        "reason": tick.reason,
    }
