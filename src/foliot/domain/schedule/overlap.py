"""Builds a firing: applies the overlap policy to each offered tick and records the outcome.

offered
    |-- the schedule or job is disabled -----> skipped
    |-- it has succeeded meanwhile ----------> skipped, with `skip_if_successful`
    |-- no run can be made for it -----------> failed
    |-- no run is in flight -----------------> ran
    '-- some are: the overlap policy:
            skip            skipped
            queue           ran, but its run waits for them; if the queue is full, the tick is offered again later
            cancel_running  ran, but its run waits until they are cancelled
            allow           ran
"""

from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job
from foliot.domain.run.run import Tick
from foliot.domain.schedule.firing import DueSchedule, Firing, RoundContext, TickStart
from foliot.domain.schedule.schedule import Overlap, Revision, ScheduleSpec, rule_of
from foliot.domain.schedule.tick import PlannedTick, TickOutcome, TickReason, TickRecord, tick_key
from foliot.domain.schedule.timetable import Stretch


class FiringBuilder:
    """Collects the decisions about one schedule in `firing`."""

    def __init__(self, due: DueSchedule, context: RoundContext) -> None:
        self.firing = Firing(due.uid, due.version, due.settled_until)
        self._due = due
        self._now, self._jobs, settings, self._make_run, self._run_ids = context
        self._max_waiting = settings.max_waiting
        self._in_flight = due.in_flight

    def offer(self, moment: Instant, fire_at: Instant, revision: Revision, reason: TickReason) -> bool:
        """Apply the overlap policy to a tick. False: the queue is full, and the tick waits without a record."""
        spec = revision.spec
        job = self._jobs.get(spec.target)
        if not spec.enabled or (job is not None and not job.spec.enabled):
            self.record(moment, fire_at, revision, (TickOutcome.SKIPPED, TickReason.DISABLED))
        elif spec.skip_if_successful and self._is_done(moment, spec):
            self.record(moment, fire_at, revision, (TickOutcome.SKIPPED, TickReason.SUCCESSFUL))
        elif spec.overlap is Overlap.SKIP and self._in_flight:
            self.record(moment, fire_at, revision, (TickOutcome.SKIPPED, TickReason.OVERLAP))
        elif spec.overlap is Overlap.QUEUE and self._in_flight > self._max_waiting:
            return False
        else:
            self._run(moment, fire_at, revision, reason, job)
        return True

    def _is_done(self, moment: Instant, spec: ScheduleSpec) -> bool:
        """Return whether another run has succeeded since the planned moment before this one."""
        if self._due.succeeded_at is None:
            return False
        before = rule_of(spec, self._due.id).previous(moment)
        return self._due.succeeded_at > max(before or 0, self._due.created_at)

    def _run(self, moment: Instant, fire_at: Instant, revision: Revision, reason: TickReason, job: Job | None) -> None:
        tick = Tick(self._due.uid, self._due.id, moment, tick_key(self._due.id, moment))
        run = self._make_run(TickStart(RunId(next(self._run_ids)), tick, revision.spec, job, self._now))
        if run is None:
            self.record(moment, fire_at, revision, (TickOutcome.FAILED, TickReason.LAUNCH_FAILED))
            return
        if revision.spec.overlap is Overlap.CANCEL_RUNNING and self._in_flight:
            self._supersede()
        if self._in_flight and revision.spec.overlap is not Overlap.ALLOW:
            self.firing.waiting |= {run.id}
        self._in_flight += 1
        self.firing.runs.append(run)
        self.firing.last_scheduled_at = max(self.firing.last_scheduled_at or moment, moment)
        self.record(moment, fire_at, revision, (TickOutcome.RAN, reason), run_id=run.id)

    def _supersede(self) -> None:
        """Keep only the newest tick: cancel the runs in flight and drop the runs made in this pass."""
        self.firing.cancels_running = self._due.in_flight > 0
        made = {run.id for run in self.firing.runs}
        self.firing.ticks = [
            tick._replace(outcome=TickOutcome.CANCELLED, reason=TickReason.SUPERSEDED, run_id=None)
            if tick.run_id in made
            else tick
            for tick in self.firing.ticks
        ]
        self.firing.runs.clear()
        self.firing.waiting = frozenset()
        self._in_flight = self._due.in_flight

    def record(
        self,
        moment: Instant,
        fire_at: Instant,
        revision: Revision,
        ending: tuple[TickOutcome, TickReason],
        *,
        run_id: RunId | None = None,
        into: Instant | None = None,
    ) -> None:
        """Add one row for one moment."""
        outcome, reason = ending
        record = TickRecord(moment, moment, 1, outcome, reason, fire_at, revision.number, run_id, into)
        self.firing.ticks.append(record)
        self._advance_to(moment)

    def record_range(
        self,
        stretch: Stretch,
        first: Instant,
        last: Instant,
        ending: tuple[TickOutcome, TickReason],
        *,
        into: Instant | None = None,
    ) -> None:
        """Add one row for all planned moments in [first, last], if there are any."""
        begin = stretch.rule.next(Instant(first - 1))
        end = stretch.rule.previous(Instant(last + 1))
        if begin is None or end is None or begin > last or end < first:
            return
        outcome, reason = ending
        count = stretch.rule.count(begin, end)
        number = stretch.revision.number
        self.firing.ticks.append(TickRecord(begin, end, count, outcome, reason, begin, number, None, into))
        self._advance_to(end)

    def plan(self, moment: Instant, fire_at: Instant, revision: Revision) -> None:
        """Postpone the decision about a tick until `fire_at`."""
        self.firing.planned = [*self.firing.planned, PlannedTick(moment, fire_at, revision.number)]
        self._advance_to(moment)

    def _advance_to(self, moment: Instant) -> None:
        self.firing.settled_until = max(self.firing.settled_until, moment)
