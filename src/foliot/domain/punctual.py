"""The common case of firing, decided at once: one planned moment is due, it is on time, and nothing stands in its way.

Ten thousand schedules that are due at the same second are nearly all like this. What is decided here is exactly what
the long way (`foliot.domain.planning`) would decide; whatever is not simple is left to it.
"""

from typing import Final

from foliot.domain.firing import Circumstances, DueSchedule, Firing, Launch
from foliot.domain.ids import RunId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.planning import plan_firing
from foliot.domain.run import Tick
from foliot.domain.schedule import rule_of
from foliot.domain.tick import TickOutcome, TickReason, TickRecord, tick_key

_RAN: Final = TickOutcome.RAN
_ON_TIME: Final = TickReason.ON_TIME


def decide(due: DueSchedule, circumstances: Circumstances) -> Firing:
    """Decide about every moment of `due` that is planned up to now, the short way if there is one."""
    return fire_punctual(due, circumstances) or plan_firing(due, circumstances)


def fire_punctual(due: DueSchedule, circumstances: Circumstances) -> Firing | None:
    """The firing of a schedule with nothing but one punctual moment. None: it is not that simple."""
    now, jobs, tempo, launch, run_ids = circumstances
    number, opened_at, spec = due.revisions[0]
    job = jobs.get(spec.target)
    if not _is_plain(due) or spec.jitter or job is None or not job.spec.enabled:
        return None
    rule, end = rule_of(spec, due.id), spec.end_at or LATEST
    last = min(now, end)
    moment = rule.next(max(due.settled_until, opened_at, Instant((spec.start_at or 0) - 1)))
    if moment is None or moment > last or now - moment > tempo.tolerance:
        return None
    following = rule.next(moment)
    if following is not None and following <= last:
        return None
    tick = Tick(due.uid, due.id, moment, tick_key(due.id, moment))
    run = launch(Launch(RunId(next(run_ids)), tick, spec, job, now))
    if run is None:
        return None
    record = TickRecord(moment, moment, 1, _RAN, _ON_TIME, moment, number, run.id)
    coming = following if following is not None and following <= end else None
    return Firing(
        due.uid, due.version, moment, [record], [run], next_run_at=coming, wake_at=coming, last_scheduled_at=moment
    )


def _is_plain(due: DueSchedule) -> bool:
    """Nothing is under way, paused, planned or overdue, and there is one revision."""
    return not (due.in_flight or due.planned or due.pauses or due.behind_since is not None or len(due.revisions) > 1)
