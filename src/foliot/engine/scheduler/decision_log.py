"""Logs each saved decision about a tick. One that was not saved, because another scheduler was first, is not logged.

tick_ran           a run was created: schedule, job, run
tick_not_run       skipped, missed, coalesced, failed or cancelled: schedule, job, reason, and what it overlaps with
ticks_summarized   counts of the ticks above the rate of `LogRate`; ticks that did not run are logged before others
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

from foliot.domain.ids import RunId, ScheduleUid
from foliot.domain.instant import Instant, to_iso
from foliot.domain.schedule.firing import DueSchedule, Firing
from foliot.domain.schedule.tick import TickOutcome, TickReason, TickRecord
from foliot.engine.log_rate import LogRate
from foliot.errors import StorageError
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)

_MOST_LOOKUPS: Final = 10
"""The highest number of ticks of one save for which the runs that they overlap with are looked up."""


class _Decided(NamedTuple):
    schedule: DueSchedule
    tick: TickRecord

    @property
    def key(self) -> tuple[ScheduleUid, Instant]:
        return self.schedule.uid, self.tick.scheduled_for

    def facts(self) -> dict[str, Any]:
        spec = self.schedule.revisions[-1].spec
        about = {"schedule": self.schedule.id, "job": spec.job_id or spec.workflow_id}
        return {**about, "scheduled_for": to_iso(self.tick.scheduled_for), "reason": self.tick.reason}


class DecisionLog:
    """The log of one scheduler."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._rate = LogRate(clock)

    async def report(
        self, schedules: Sequence[DueSchedule], firings: Sequence[Firing], saved: Collection[ScheduleUid]
    ) -> None:
        if not log.isEnabledFor(logging.INFO):
            return
        uids = set(saved)
        decided = [
            _Decided(schedule, tick)
            for schedule, firing in zip(schedules, firings, strict=True)
            if firing.uid in uids
            for tick in firing.ticks
        ]
        granted = self._rate.take(len(decided))
        if granted < len(decided):
            decided.sort(key=lambda one: one.tick.outcome is TickOutcome.RAN)
        await self._log_each(decided[:granted])
        _log_counts(one.tick for one in decided[granted:])

    async def _log_each(self, decided: Sequence[_Decided]) -> None:
        overlapping = [one for one in decided if one.tick.reason is TickReason.OVERLAP]
        overlaps = {one.key: await self._runs_in_flight(one) for one in overlapping[:_MOST_LOOKUPS]}
        for one in decided:
            tick = one.tick
            if tick.outcome is TickOutcome.RAN:
                log.info("tick_ran", extra={**one.facts(), "run": tick.run_id})
                continue
            level = logging.WARNING if tick.outcome is TickOutcome.FAILED else logging.INFO
            extra = {**one.facts(), "until": to_iso(tick.until), "count": tick.count, "outcome": tick.outcome}
            if runs := overlaps.get(one.key):
                extra["overlaps"] = runs
            log.log(level, "tick_not_run", extra=extra)

    async def _runs_in_flight(self, one: _Decided) -> list[RunId]:
        """Return the runs that a tick overlaps with. The decision is already saved, so errors are ignored."""
        moment = one.tick.scheduled_for
        try:
            found = await self._storage.queries.explained_tick(one.schedule.id, moment, moment)
        except StorageError:
            return []
        return [] if found is None or found.tick is None else [run.id for run in found.tick.in_flight]


def _log_counts(ticks: Iterable[TickRecord]) -> None:
    counts: Counter[tuple[TickOutcome, TickReason]] = Counter()
    for tick in ticks:
        counts[tick.outcome, tick.reason] += tick.count
    if counts:
        named = {f"{outcome}:{reason}": count for (outcome, reason), count in counts.items()}
        log.info("ticks_summarized", extra={"ticks": named})
