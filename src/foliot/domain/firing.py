"""What becomes of a schedule's due moments, decided all at once by one pure function.

    planned moments up to now
        |-- paused ---------------------> one skipped range
        |-- late, beyond the grace -----> the catch-up policy:
        |       none     one missed range
        |       once     the newest is offered, the others coalesce into it
        |       all      each is offered, up to a cap per pass
        |       spread   each is planned anew, spaced across the look-ahead
        |-- due ------------------------> offered
        '-- jittered into the future ---> planned, to be decided at its own moment
    offered: the overlap policy decides   ran | skipped | waits behind the run in flight

A pass that reaches a cap stops: the watermark stays, nothing is dropped, and `behind_since` remembers when the
backlog was found, so that the time spent catching up never counts as lateness: no catch-up policy gives such a tick
up. The ledger says what happened all the same: it is on time only if it ran within the tolerance.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from msgspec import Struct

from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import MINUTE, SECOND, Instant, Millis, later
from foliot.domain.job import Job
from foliot.domain.run import NewRun, Tick
from foliot.domain.schedule import Catchup, Overlap, Pause, Revision, ScheduleSpec, ScheduleType, moment_to_fire
from foliot.domain.tick import PlannedTick, TickOutcome, TickReason, TickRecord, tick_key
from foliot.domain.timetable import Stretch, Timetable


class Tempo(Struct, frozen=True, kw_only=True):
    """The scheduler's own settings, with the defaults of the specification."""

    tick: Millis = SECOND
    lookahead: Millis = MINUTE
    grace: Millis = Millis(5 * SECOND)
    max_catchup_per_tick: int = 100
    max_waiting: int = 1_000

    @property
    def tolerance(self) -> Millis:
        """A tick younger than this is on time: at least two polls, or the polling itself would miss ticks."""
        return max(self.grace, Millis(2 * self.tick))


class DueSchedule(NamedTuple):
    """A schedule that asks for a decision, with everything the decision depends on."""

    uid: ScheduleUid
    id: ScheduleId
    version: int
    created_at: Instant
    revisions: tuple[Revision, ...]
    settled_until: Instant
    in_flight: int = 0
    pauses: tuple[Pause, ...] = ()
    planned: tuple[PlannedTick, ...] = ()
    behind_since: Instant | None = None


@dataclass(slots=True)
class Firing:
    """The decision about one schedule, to be saved as a whole if its `version` has not moved."""

    uid: ScheduleUid
    version: int
    settled_until: Instant
    ticks: list[TickRecord] = field(default_factory=list)
    runs: list[NewRun] = field(default_factory=list)
    """Made for ticks. A run whose id is in `waiting` waits for those in flight, the others start at once."""
    waiting: frozenset[RunId] = frozenset()
    planned: Sequence[PlannedTick] = ()
    """All planned ticks that remain; whatever else was planned has been decided."""
    cancels_running: bool = False
    behind_since: Instant | None = None
    next_run_at: Instant | None = None
    wake_at: Instant | None = None
    last_scheduled_at: Instant | None = None

    def is_exhausted(self, kind: ScheduleType) -> bool:
        """Whether the schedule will never fire again: it is kept, disabled, until retention removes it."""
        return self.next_run_at is None and not self.planned and kind is not ScheduleType.MANUAL


class Launch(NamedTuple):
    """What a launcher is told about the tick it is to start a run for."""

    run_id: RunId
    tick: Tick
    spec: ScheduleSpec
    job: Job | None
    now: Instant


Launcher = Callable[[Launch], NewRun | None]
"""Turns a tick into a run to be created with it; None when there is nothing to launch."""


class Circumstances(NamedTuple):
    """What a decision depends on beside the schedule: the same for all that are decided in one round."""

    now: Instant
    jobs: Mapping[JobId, Job]
    tempo: Tempo
    launch: Launcher
    run_ids: Iterator[str]


_MISSED_DOWN: Final = (TickOutcome.MISSED, TickReason.DOWN)
_MISSED_OLD: Final = (TickOutcome.MISSED, TickReason.TOO_OLD)
_PAUSED: Final = (TickOutcome.SKIPPED, TickReason.PAUSED)
_COALESCED: Final = (TickOutcome.COALESCED, TickReason.CAUGHT_UP)


def plan_firing(due: DueSchedule, circumstances: Circumstances) -> Firing:
    """Decide about every moment of `due` that is planned up to now."""
    return _Pass(due, circumstances).decide()


class _Pass:
    """One decision in the making."""

    def __init__(self, due: DueSchedule, circumstances: Circumstances) -> None:
        self._due = due
        self._now, self._jobs, self._tempo, self._launch, self._run_ids = circumstances
        self._timetable = Timetable(due.id, due.revisions, due.pauses)
        self._in_flight = due.in_flight
        self._offers_left = self._tempo.max_catchup_per_tick
        self._reference = min(due.behind_since or self._now, self._now)
        self._firing = Firing(due.uid, due.version, due.settled_until)

    def decide(self) -> Firing:
        is_complete = not self._due.planned or self._settle_planned()
        stretches = self._timetable.stretches(self._due.settled_until, self._now)
        return self._close(is_complete and all(self._walk(stretch) for stretch in stretches))

    # -- ticks planned in an earlier pass

    def _settle_planned(self) -> bool:
        """Decide about planned ticks whose moment has come. False: some must wait for a full queue."""
        ripe = sorted(tick for tick in self._due.planned if tick.fire_at <= self._now)
        self._firing.planned = [tick for tick in self._due.planned if tick.fire_at > self._now]
        newest = max((tick.scheduled_for for tick in ripe if self._will_offer_planned(tick)), default=None)
        stuck = [tick for tick in ripe if not self._settle_ripe(tick, newest)]
        self._firing.planned = [*self._firing.planned, *stuck]
        return not stuck

    def _settle_ripe(self, tick: PlannedTick, newest: Instant | None) -> bool:
        moment, fire_at, number = tick
        revision = self._revision(number)
        if self._timetable.is_paused_at(moment):
            self._record(moment, revision, fire_at, _PAUSED)
            return True
        if self._is_late(fire_at):
            return self._settle_late(moment, fire_at, revision, newest if newest != moment else None)
        # Only `spread` plans a tick further away than its jitter.
        is_spread = fire_at - moment > revision.spec.jitter
        return self._offer(moment, fire_at, revision, TickReason.CAUGHT_UP if is_spread else self._reason(fire_at))

    def _will_offer_planned(self, tick: PlannedTick) -> bool:
        is_paused = self._timetable.is_paused_at(tick.scheduled_for)
        return not is_paused and self._will_offer(tick.fire_at, self._revision(tick.revision).spec)

    def _revision(self, number: int) -> Revision:
        return next((known for known in self._due.revisions if known.number == number), self._due.revisions[0])

    # -- moments not considered before

    def _walk(self, stretch: Stretch) -> bool:
        """Consider a stretch. False: a cap was reached, and the pass ends here."""
        if stretch.is_paused:
            self._record_range(stretch, stretch.first, stretch.last, _PAUSED)
            return True
        first = stretch.rule.next(Instant(stretch.first - 1))
        if first is None or first > stretch.last:
            return True
        # Whatever the jitter, moments up to here are late: they can be counted instead of visited.
        surely_late = self._reference - self._tempo.tolerance - stretch.spec.jitter - 1
        late_until = Instant(min(surely_late, stretch.last))
        if first > late_until:
            return self._walk_recent(stretch, first)
        return self._walk_late(stretch, late_until) and self._walk_recent(stretch, Instant(late_until + 1))

    def _walk_late(self, stretch: Stretch, until: Instant) -> bool:
        match stretch.spec.catchup:
            case Catchup.NONE:
                self._record_range(stretch, stretch.first, until, _MISSED_DOWN)
                return True
            case Catchup.ONCE:
                return self._coalesce(stretch, until)
            case Catchup.ALL | Catchup.SPREAD:
                first = self._drop_too_old(stretch, until)
                return self._catch_up(stretch, first, until)

    def _drop_too_old(self, stretch: Stretch, until: Instant) -> Instant:
        """Record what is beyond the catch-up age as missed; return where the rest begins."""
        if stretch.spec.catchup_max_age is None:
            return stretch.first
        youngest_dropped = Instant(min(until, self._reference - stretch.spec.catchup_max_age - 1))
        self._record_range(stretch, stretch.first, youngest_dropped, _MISSED_OLD)
        return Instant(max(stretch.first, youngest_dropped + 1))

    def _coalesce(self, stretch: Stretch, until: Instant) -> bool:
        first = self._drop_too_old(stretch, until)
        newest = stretch.rule.previous(Instant(until + 1))
        if newest is None or newest < first:
            return True
        # A younger tick that will run now runs for these as well, whatever edits and pauses lie between: one run.
        younger = self._newest_offered(until)
        if younger is not None:
            self._record_range(stretch, first, until, _COALESCED, into=younger)
            return True
        self._record_range(stretch, first, Instant(newest - 1), _COALESCED, into=newest)
        return self._offer(newest, self._fire_at(newest, stretch.spec), stretch.revision, TickReason.CAUGHT_UP)

    def _newest_offered(self, after: Instant) -> Instant | None:
        """The newest moment after `after` that this pass is going to offer."""
        for stretch in reversed([*self._timetable.stretches(after, self._now)]):
            newest = self._newest_in(stretch)
            if newest is None or stretch.is_paused:
                continue
            if self._will_offer(self._fire_at(newest, stretch.spec), stretch.spec):
                return newest
        return None

    def _newest_in(self, stretch: Stretch) -> Instant | None:
        """The newest moment of a stretch that is due. Jitter may keep the last few back."""
        moment = stretch.rule.previous(Instant(stretch.last + 1))
        while moment is not None and moment >= stretch.first:
            if self._fire_at(moment, stretch.spec) <= self._now:
                return moment
            moment = stretch.rule.previous(moment)
        return None

    def _will_offer(self, fire_at: Instant, spec: ScheduleSpec) -> bool:
        if not self._is_late(fire_at):
            return True
        is_too_old = spec.catchup_max_age is not None and self._reference - fire_at > spec.catchup_max_age
        return spec.catchup is not Catchup.NONE and not is_too_old

    def _newest_due(self, moments: Sequence[Instant], spec: ScheduleSpec) -> Instant | None:
        return next((moment for moment in reversed(moments) if self._fire_at(moment, spec) <= self._now), None)

    def _catch_up(self, stretch: Stretch, first: Instant, until: Instant) -> bool:
        moments = stretch.rule.between(first, until, self._offers_left + 1)
        is_complete = len(moments) <= self._offers_left
        offered = moments[: self._offers_left]
        for index, moment in enumerate(offered):
            delay = self._tempo.lookahead * index // len(offered) if stretch.spec.catchup is Catchup.SPREAD else 0
            if delay:
                self._plan(moment, later(self._now, delay), stretch.revision)
            elif not self._offer(moment, self._fire_at(moment, stretch.spec), stretch.revision, TickReason.CAUGHT_UP):
                return False
        self._offers_left -= len(offered)
        return is_complete

    def _walk_recent(self, stretch: Stretch, first: Instant) -> bool:
        moments = stretch.rule.between(first, stretch.last, self._offers_left + 1)
        newest = self._newest_due(moments, stretch.spec) if stretch.spec.jitter else None
        for moment in moments[: self._offers_left]:
            fire_at = self._fire_at(moment, stretch.spec)
            if not self._consider(moment, fire_at, stretch.revision, newest):
                return False
        is_complete = len(moments) <= self._offers_left
        self._offers_left -= min(len(moments), self._offers_left)
        return is_complete

    def _consider(self, moment: Instant, fire_at: Instant, revision: Revision, newest: Instant | None) -> bool:
        if fire_at > self._now:
            self._plan(moment, fire_at, revision)
            return True
        if self._is_late(fire_at):
            return self._settle_late(moment, fire_at, revision, newest if newest != moment else None)
        return self._offer(moment, fire_at, revision, self._reason(fire_at))

    def _settle_late(self, moment: Instant, fire_at: Instant, revision: Revision, newest: Instant | None) -> bool:
        """Decide about one late tick; `newest` is the later tick that would run for it too."""
        spec = revision.spec
        age = self._reference - fire_at
        if spec.catchup is Catchup.NONE:
            self._record(moment, revision, fire_at, _MISSED_DOWN)
        elif spec.catchup_max_age is not None and age > spec.catchup_max_age:
            self._record(moment, revision, fire_at, _MISSED_OLD)
        elif spec.catchup is Catchup.ONCE and newest is not None:
            self._record(moment, revision, fire_at, _COALESCED, into=newest)
        else:
            return self._offer(moment, fire_at, revision, TickReason.CAUGHT_UP)
        return True

    # -- overlap

    def _offer(self, moment: Instant, fire_at: Instant, revision: Revision, reason: TickReason) -> bool:
        """Let the overlap policy decide about a tick. False: its queue is full, the tick must wait unrecorded."""
        spec = revision.spec
        job = self._jobs.get(spec.target)
        if job is not None and not job.spec.enabled:
            self._record(moment, revision, fire_at, (TickOutcome.SKIPPED, TickReason.DISABLED))
        elif spec.overlap is Overlap.SKIP and self._in_flight:
            self._record(moment, revision, fire_at, (TickOutcome.SKIPPED, TickReason.OVERLAP))
        elif spec.overlap is Overlap.QUEUE and self._in_flight > self._tempo.max_waiting:
            return False
        else:
            self._run(moment, fire_at, revision, reason, job)
        return True

    def _run(self, moment: Instant, fire_at: Instant, revision: Revision, reason: TickReason, job: Job | None) -> None:
        tick = Tick(self._due.uid, self._due.id, moment, tick_key(self._due.id, moment))
        run = self._launch(Launch(RunId(next(self._run_ids)), tick, revision.spec, job, self._now))
        if run is None:
            self._record(moment, revision, fire_at, (TickOutcome.FAILED, TickReason.LAUNCH_FAILED))
            return
        if revision.spec.overlap is Overlap.CANCEL_RUNNING and self._in_flight:
            self._supersede()
        if self._in_flight and revision.spec.overlap is not Overlap.ALLOW:
            self._firing.waiting |= {run.id}
        self._in_flight += 1
        self._firing.runs.append(run)
        self._firing.last_scheduled_at = max(self._firing.last_scheduled_at or moment, moment)
        self._record(moment, revision, fire_at, (TickOutcome.RAN, reason), run_id=run.id)

    def _supersede(self) -> None:
        """Only the newest tick is worth running: those in flight are cancelled, those of this pass never start."""
        self._firing.cancels_running = self._due.in_flight > 0
        made = {run.id for run in self._firing.runs}
        self._firing.ticks = [
            tick._replace(outcome=TickOutcome.CANCELLED, reason=TickReason.SUPERSEDED, run_id=None)
            if tick.run_id in made
            else tick
            for tick in self._firing.ticks
        ]
        self._firing.runs.clear()
        self._firing.waiting = frozenset()
        self._in_flight = self._due.in_flight

    # -- writing it down

    def _record(
        self,
        moment: Instant,
        revision: Revision,
        fire_at: Instant,
        ending: tuple[TickOutcome, TickReason],
        *,
        run_id: RunId | None = None,
        into: Instant | None = None,
    ) -> None:
        outcome, reason = ending
        record = TickRecord(moment, moment, 1, outcome, reason, fire_at, revision.number, run_id, into)
        self._firing.ticks.append(record)
        self._pass_by(moment)

    def _record_range(
        self,
        stretch: Stretch,
        first: Instant,
        last: Instant,
        ending: tuple[TickOutcome, TickReason],
        *,
        into: Instant | None = None,
    ) -> None:
        """Write one row for all planned moments in [first, last], if there are any."""
        begin = stretch.rule.next(Instant(first - 1))
        end = stretch.rule.previous(Instant(last + 1))
        if begin is None or end is None or begin > last or end < first:
            return
        outcome, reason = ending
        count = stretch.rule.count(begin, end)
        number = stretch.revision.number
        self._firing.ticks.append(TickRecord(begin, end, count, outcome, reason, begin, number, None, into))
        self._pass_by(end)

    def _plan(self, moment: Instant, fire_at: Instant, revision: Revision) -> None:
        self._firing.planned = [*self._firing.planned, PlannedTick(moment, fire_at, revision.number)]
        self._pass_by(moment)

    def _pass_by(self, moment: Instant) -> None:
        self._firing.settled_until = max(self._firing.settled_until, moment)

    def _fire_at(self, moment: Instant, spec: ScheduleSpec) -> Instant:
        return moment_to_fire(spec, self._due.id, moment, self._due.created_at)

    def _is_late(self, fire_at: Instant) -> bool:
        return self._reference - fire_at > self._tempo.tolerance

    def _reason(self, fire_at: Instant) -> TickReason:
        """Why a tick that is not late runs. One that stood behind a backlog is not given up, yet is not on time."""
        return TickReason.CAUGHT_UP if self._now - fire_at > self._tempo.tolerance else TickReason.ON_TIME

    def _close(self, is_complete: bool) -> Firing:
        firing = self._firing
        firing.next_run_at = self._timetable.next(firing.settled_until)
        if not is_complete:
            firing.behind_since = self._reference
            firing.wake_at = later(self._now, self._tempo.tick)
        elif firing.next_run_at is not None:
            firing.wake_at = self._wake_for(firing.next_run_at)
        for tick in firing.planned:
            if tick.fire_at > self._now:
                firing.wake_at = min(tick.fire_at, firing.wake_at or tick.fire_at)
        return firing

    def _wake_for(self, moment: Instant) -> Instant:
        return Instant(moment - self._timetable.revision_at(moment).spec.early)
