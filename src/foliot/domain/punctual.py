"""The common case of firing, decided at once: one planned moment is due, it is on time, and nothing stands in its way.

Ten thousand schedules that are due at the same second are nearly all like this. What is decided here is exactly what
the long way (`foliot.domain.firing`) would decide; whatever is not simple is left to it.
"""

from collections.abc import Iterator, Mapping

from foliot.domain.firing import DueSchedule, Firing, Launch, Launcher, Tempo, plan_firing
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.job import Job
from foliot.domain.run import Tick
from foliot.domain.schedule import rule_of
from foliot.domain.tick import TickOutcome, TickReason, TickRecord, tick_key


def decide(
    due: DueSchedule,
    now: Instant,
    *,
    jobs: Mapping[JobId, Job],
    tempo: Tempo,
    launch: Launcher,
    run_ids: Iterator[str],
) -> Firing:
    """Decide about every moment of `due` that is planned up to now, the short way if there is one."""
    punctual = fire_punctual(due, now, jobs=jobs, tempo=tempo, launch=launch, run_ids=run_ids)
    return punctual or plan_firing(due, now, jobs=jobs, tempo=tempo, launch=launch, run_ids=run_ids)


def fire_punctual(
    due: DueSchedule,
    now: Instant,
    *,
    jobs: Mapping[JobId, Job],
    tempo: Tempo,
    launch: Launcher,
    run_ids: Iterator[str],
) -> Firing | None:
    """The firing of a schedule with nothing but one punctual moment. None: it is not that simple."""
    revision = due.revisions[0]
    spec = revision.spec
    job = jobs.get(spec.target)
    if not _is_plain(due) or job is None or not job.spec.enabled:
        return None
    rule, end = rule_of(spec, due.id), spec.end_at or LATEST
    moment = rule.next(Instant(max(due.settled_until, revision.opened_at, (spec.start_at or 0) - 1)))
    if moment is None or moment > min(now, end) or now - moment > tempo.tolerance:
        return None
    following = rule.next(moment)
    if following is not None and following <= min(now, end):
        return None
    run = launch(Launch(RunId(next(run_ids)), Tick(due.uid, due.id, moment, tick_key(due.id, moment)), spec, job, now))
    if run is None:
        return None
    record = TickRecord(moment, moment, 1, TickOutcome.RAN, TickReason.ON_TIME, moment, revision.number, run.id)
    coming = following if following is not None and following <= end else None
    return Firing(
        due.uid,
        due.version,
        moment,
        [record],
        [run],
        next_run_at=coming,
        wake_at=coming,
        last_scheduled_at=moment,
    )


def _is_plain(due: DueSchedule) -> bool:
    """Nothing is under way, paused, planned or overdue, and there is one revision, which fires to the second."""
    if due.in_flight or due.planned or due.pauses or due.behind_since is not None:
        return False
    return len(due.revisions) == 1 and not due.revisions[0].spec.jitter
