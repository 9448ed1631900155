"""Turns due schedules into ticks and runs.

Any number of schedulers may run concurrently: each reads the due schedules, decides independently, and saves by
compare-and-set on the version of every schedule. The second one to save changes nothing.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from foliot.domain.ids import IdSource, ScheduleUid
from foliot.domain.instant import MINUTE, Instant, Millis, later
from foliot.domain.schedule.boot import fire_after_boot
from foliot.domain.schedule.fast_path import FastPath
from foliot.domain.schedule.firing import DueSchedule, Firing, MakeRun, RoundContext, SchedulerSettings
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.scheduler.decision_log import DecisionLog
from foliot.ports.clock import Clock
from foliot.ports.ledger import DueBatch, Unreadable
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic

log = logging.getLogger(__name__)

BATCH: Final = 5_000
PART: Final = 1_000
"""How many schedules are decided and saved in one transaction."""
_FIRST_PART: Final = 200
"""The first part is small, so that the first runs start early."""
_SAVING: Final = 2
"""How many parts are saved at the same time."""
_DEFERRAL: Final = MINUTE


class Scheduler:
    """The duty that fires due schedules."""

    name = "scheduler"

    def __init__(
        self, storage: Storage, clock: Clock, *, ids: IdSource, make_run: MakeRun, settings: SchedulerSettings
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids
        self._make_run = make_run
        self._settings = settings
        self._decisions = DecisionLog(storage, clock)
        self._unreadable: dict[ScheduleUid, str] = {}
        """The due schedules that cannot be read, with their errors. They stay unchanged: a process of a newer version
        may be able to read them."""
        self._decided_boot: str | None = None
        """The boot of this host after which every schedule with the rule `@reboot` was decided."""
        self._undecidable: set[ScheduleUid] = set()
        """Schedules with the rule `@reboot` whose decision failed. The next process tries again."""

    @property
    def wake(self) -> asyncio.Event:
        return self._storage.signal(Topic.SCHEDULES)

    async def round(self) -> Millis | None:
        if self._decided_boot != self._clock.boot_id:
            await self._fire_after_boot()
        started = self._clock.elapsed()
        wanted = BATCH + len(self._unreadable)
        due = await self._storage.ledger.due(wanted)
        self._note_unreadable(due.unreadable)
        if due.schedules and not await self._fire(due):
            # Other schedulers were faster, or the storage refuses these firings: an immediate round would not help.
            return self._settings.poll
        if due.size == wanted:
            return IMMEDIATELY
        next_wake = await self._storage.ledger.next_wake(besides=self._unreadable)
        if next_wake is None:
            return self._settings.poll
        now = due.now + self._clock.elapsed() - started
        return Millis(max(0, min(next_wake - now, self._settings.poll)))

    def _note_unreadable(self, unreadable: Sequence[Unreadable]) -> None:
        """Skip unreadable schedules in the next rounds until they are repaired. Each error is logged once, since it may
        persist for days."""
        before, self._unreadable = self._unreadable, {one.uid: one.error.message for one in unreadable}
        _report_unreadable([one for one in unreadable if before.get(one.uid) != one.error.message])

    async def _fire_after_boot(self) -> None:
        """Fire the schedules with the rule `@reboot` that no scheduler on this host has fired since it booted."""
        boot_id, booted_at = self._clock.boot_id, Instant(self._clock.now() - self._clock.elapsed())
        due = await self._storage.ledger.due_after_boot(boot_id, booted_at, PART)
        schedules = [one for one in due.schedules if one.uid not in self._undecidable]
        if not schedules:
            self._decided_boot = boot_id
            _report_unreadable(due.unreadable)
            return
        context = self._context(due)
        decided = [(one, firing) for one in schedules if (firing := self._decide_boot(one, boot_id, context))]
        if decided:
            await self._save([one for one, _ in decided], [firing for _, firing in decided], due.pause_version)

    def _decide_boot(self, schedule: DueSchedule, boot_id: str, context: RoundContext) -> Firing | None:
        try:
            return fire_after_boot(schedule, boot_id, context)
        except Exception:
            log.exception("schedule_decision_failed", extra={"schedule": schedule.id})
            self._undecidable.add(schedule.uid)
            return None

    def _context(self, due: DueBatch) -> RoundContext:
        return RoundContext(due.now, due.jobs, self._settings, self._make_run, self._ids.stream(due.now))

    async def _fire(self, due: DueBatch) -> int:
        """Decide about all due schedules and return how many decisions were saved.

        While one part is being saved, the next is decided: the database and this process work in parallel. Only a few
        parts wait to be saved, so that workers claim the runs of the first ones meanwhile.
        """
        fast_path = FastPath(self._context(due), due.schedules)
        saving: list[asyncio.Task[int]] = []
        try:
            for part in _parts(due.schedules):
                firings = [_decide(schedule, fast_path, due.now) for schedule in part]
                unsaved = [task for task in saving if not task.done()]
                if len(unsaved) >= _SAVING:
                    await asyncio.wait(unsaved, return_when=asyncio.FIRST_COMPLETED)
                saving.append(asyncio.create_task(self._save(part, firings, due.pause_version)))
                await asyncio.sleep(0)  # lets the task send its part before the next one is decided
            return sum(await asyncio.gather(*saving))
        finally:
            for task in saving:
                task.cancel()  # the round was stopped, or another part has failed

    async def _save(self, schedules: Sequence[DueSchedule], firings: list[Firing], pause_version: int) -> int:
        saved = await self._storage.ledger.commit_firings(firings, pause_version=pause_version)
        await self._decisions.report(schedules, firings, saved)
        return len(saved)


def _parts(schedules: Sequence[DueSchedule]) -> Iterator[Sequence[DueSchedule]]:
    yield schedules[:_FIRST_PART]
    for start in range(_FIRST_PART, len(schedules), PART):
        yield schedules[start : start + PART]


def _report_unreadable(unreadable: Iterable[Unreadable]) -> None:
    for one in unreadable:
        log.error("schedule_unreadable", extra={"schedule": one.id, "error": one.error.message})


def _decide(schedule: DueSchedule, fast_path: FastPath, now: Instant) -> Firing:
    try:
        return fast_path.decide(schedule)
    except Exception:
        # A schedule whose rule can no longer be evaluated (its time zone was removed, for example) must not stop the
        # others.
        log.exception("schedule_decision_failed", extra={"schedule": schedule.id})
        return _deferred(schedule, now)


def _deferred(schedule: DueSchedule, now: Instant) -> Firing:
    """Return a firing that decides nothing and wakes the schedule later. Its ticks stay undecided, so none is lost."""
    return Firing(
        schedule.uid,
        schedule.version,
        schedule.settled_until,
        planned=list(schedule.planned),
        behind_since=schedule.behind_since or now,
        next_run_at=now,
        wake_at=later(now, _DEFERRAL),
    )
