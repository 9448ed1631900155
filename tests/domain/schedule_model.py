"""A model of a schedule in memory, which saves the decisions of the domain as a storage would."""

from collections.abc import Iterable
from itertools import count

from msgspec.structs import replace

from foliot.domain.audit import Finding, audit
from foliot.domain.ids import ScheduleUid
from foliot.domain.instant import SECOND, Instant, later
from foliot.domain.job.job import DEFAULT_PROJECT
from foliot.domain.schedule import edit
from foliot.domain.schedule.catchup import plan_firing
from foliot.domain.schedule.firing import DueSchedule, Firing, RoundContext, SchedulerSettings
from foliot.domain.schedule.schedule import Pause, Revision, ScheduleSpec
from foliot.domain.schedule.tick import PlannedTick, TickRecord
from foliot.domain.schedule.tick_run import make_run
from foliot.domain.schedule.timetable import Timetable
from foliot.testing.builders import NIGHTLY, REPORT, a_job
from foliot.testing.clock import START


class ScheduleModel:
    def __init__(self, spec: ScheduleSpec, scheduler: SchedulerSettings | None = None) -> None:
        self.now = START
        self.scheduler = scheduler or SchedulerSettings()
        self.schedule = edit.create(ScheduleUid("uid"), NIGHTLY, DEFAULT_PROJECT, spec, START)
        self.revisions: list[Revision] = [self.schedule.revision]
        self.pauses: list[Pause] = []
        self.planned: list[PlannedTick] = []
        self.ticks: list[TickRecord] = []
        self.in_flight = 0
        self._run_ids = (f"run-{number}" for number in count(1))

    @property
    def timetable(self) -> Timetable:
        return Timetable(NIGHTLY, self.revisions, self.pauses)

    @property
    def is_due(self) -> bool:
        return self.schedule.wake_at is not None and self.schedule.wake_at <= self.now

    @property
    def is_at_rest(self) -> bool:
        """Whether every moment up to now is decided or planned."""
        next_run_at = self.schedule.next_run_at
        return not self.is_due and (next_run_at is None or next_run_at > self.now)

    def advance(self, span: int) -> None:
        self.now = later(self.now, span)

    def wake(self, lateness: int) -> Firing | None:
        """Advance the clock until the schedule is due, and a little further."""
        if self.schedule.wake_at is not None:
            self.now = max(self.now, later(self.schedule.wake_at, lateness))
        return self.fire()

    def edit(self, spec: ScheduleSpec) -> None:
        if edit.is_same_rule(self.schedule, spec):
            return
        self.schedule = edit.edit(self.schedule, spec, self.revisions, self.now)
        self.revisions.append(self.schedule.revision)

    def pause(self) -> None:
        if self.schedule.paused_at is None:
            self.schedule = edit.pause(self.schedule, self.now)
            assert self.schedule.paused_at is not None
            # Like in the storages: one for each start.
            self.pauses = [pause for pause in self.pauses if pause.since != self.schedule.paused_at]
            self.pauses.append(Pause(self.schedule.paused_at, None))

    def resume(self) -> None:
        if self.schedule.paused_at is not None:
            self.schedule = edit.resume(self.schedule, self.now)
            self.pauses[-1] = self.pauses[-1]._replace(until=max(self.now, self.pauses[-1].since))

    def fire(self) -> Firing | None:
        """Run one round of the scheduler, if the schedule is due."""
        if not self.is_due:
            return None
        due = DueSchedule(
            uid=self.schedule.uid,
            id=NIGHTLY,
            version=self.schedule.version,
            created_at=self.schedule.created_at,
            revisions=tuple(self.revisions),
            settled_until=self.schedule.settled_until,
            in_flight=self.in_flight,
            pauses=tuple(self.pauses),
            planned=tuple(self.planned),
            behind_since=self.schedule.behind_since,
        )
        jobs = {REPORT: a_job()}
        firing = plan_firing(due, RoundContext(self.now, jobs, self.scheduler, make_run, self._run_ids))
        self._save(firing)
        return firing

    def _save(self, firing: Firing) -> None:
        self.in_flight += len(firing.runs)
        self.ticks += firing.ticks
        self.planned = list(firing.planned)
        self.schedule = replace(
            self.schedule,
            version=self.schedule.version + 1,
            settled_until=firing.settled_until,
            next_run_at=firing.next_run_at,
            wake_at=firing.wake_at,
            behind_since=firing.behind_since,
        )

    def findings(self, until: Instant | None = None) -> list[Finding]:
        return audit(
            self.timetable,
            self.ticks,
            self.planned,
            after=self.schedule.created_at,
            until=until or self.schedule.settled_until,
        )

    def planned_by_hand(self, until: Instant) -> list[Instant]:
        """Return the planned moments by a test of every second against its revision. Only for intervals."""
        return [
            moment
            for moment in map(Instant, range(START + SECOND, until + 1, SECOND))
            if _falls(self._ruling(moment), moment)
        ]

    def _ruling(self, moment: Instant) -> Revision:
        return [revision for revision in self.revisions if revision.opened_at < moment][-1]

    def accounted_for(self) -> Iterable[Instant]:
        """Return every moment that has a row or is planned, with ranges expanded to their moments."""
        yield from (tick.scheduled_for for tick in self.planned)
        specs = {revision.number: revision.spec for revision in self.revisions}
        for tick in self.ticks:
            step = int(specs[tick.revision].expr) * SECOND
            yield from (Instant(moment) for moment in range(tick.scheduled_for, tick.until + 1, step))


def _falls(revision: Revision, moment: Instant) -> bool:
    spec = revision.spec
    anchor = spec.anchor or START
    in_window = (spec.start_at or 0) <= moment and (spec.end_at is None or moment <= spec.end_at)
    return in_window and moment >= anchor and (moment - anchor) % (int(spec.expr) * SECOND) == 0
