"""A fast path for the common case of firing: one planned moment is due, on time, and nothing blocks it.

Of ten thousand schedules that are due in the same second, nearly all are like this. The fast path decides exactly as
the full decision (`foliot.domain.schedule.catchup`) does, and leaves every other case to it.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from foliot.domain.ids import RunId, ScheduleId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.job.job import Job
from foliot.domain.run.run import Tick
from foliot.domain.schedule.catchup import plan_firing
from foliot.domain.schedule.firing import DueSchedule, Firing, RoundContext, TickStart
from foliot.domain.schedule.memoize import memoize_by_spec
from foliot.domain.schedule.rule import Rule
from foliot.domain.schedule.schedule import ScheduleSpec, rule_of
from foliot.domain.schedule.tick import TickOutcome, TickReason, TickRecord, tick_key

_RAN: Final = TickOutcome.RAN
_ON_TIME: Final = TickReason.ON_TIME


class _Case(NamedTuple):
    """What all schedules with one specification have in common in one round."""

    job: Job
    rule: Rule
    before: Instant
    """No moment is planned up to and including this one."""
    end: Instant
    """No moment is planned after this one."""
    oldest: Instant
    """Moments before this one are late."""


class FastPath:
    """Decides about the schedules of one round, by the fast path where possible."""

    def __init__(self, context: RoundContext, schedules: Iterable[DueSchedule]) -> None:
        self._context = context
        self._case = memoize_by_spec(self._find_case, (due.revisions[0].spec for due in schedules))

    def decide(self, due: DueSchedule) -> Firing:
        """Return the decision about every moment of `due` that is planned up to now."""
        return self.fire(due) or plan_firing(due, self._context)

    def fire(self, due: DueSchedule) -> Firing | None:
        """Return the firing of a schedule whose only due moment is on time. None: the full decision is needed."""
        if not _is_plain(due):
            return None
        number, opened_at, spec = due.revisions[0]
        case = self._case(spec, due.id)
        if case is None:
            return None
        job, rule, before, end, oldest = case
        now, _, _, make_run, run_ids = self._context
        moment = rule.next(max(due.settled_until, opened_at, before))
        if moment is None or not oldest <= moment <= now or moment > end:
            return None
        following = rule.next(moment)
        coming = following if following is not None and following <= end else None
        if coming is not None and coming <= now:
            return None
        tick = Tick(due.uid, due.id, moment, tick_key(due.id, moment))
        run = make_run(TickStart(RunId(next(run_ids)), tick, spec, job, now))
        if run is None:
            return None
        record = TickRecord(moment, moment, 1, _RAN, _ON_TIME, moment, number, run.id)
        return Firing(
            due.uid, due.version, moment, [record], [run], next_run_at=coming, wake_at=coming, last_scheduled_at=moment
        )

    def _find_case(self, spec: ScheduleSpec, schedule_id: ScheduleId) -> _Case | None:
        """Return what schedules with this specification have in common. None: the full decision is needed."""
        now, jobs, settings, _, _ = self._context
        job = jobs.get(spec.target)
        needs_full_decision = spec.jitter or spec.skip_if_successful or not spec.enabled
        if needs_full_decision or job is None or not job.spec.enabled:
            return None
        before, end, oldest = (
            Instant((spec.start_at or 0) - 1),
            spec.end_at or LATEST,
            Instant(now - settings.tolerance),
        )
        return _Case(job, rule_of(spec, schedule_id), before, end, oldest)


def _is_plain(due: DueSchedule) -> bool:
    """Return whether the schedule has one revision and no runs in flight, pauses, planned ticks or backlog."""
    return not (due.in_flight or due.planned or due.pauses or due.behind_since is not None or len(due.revisions) > 1)
