"""Decides what becomes of all due moments of a schedule, in one pure function.

    planned moments up to now
        |-- paused ---------------------> one skipped range
        |-- late, beyond the grace -----> the catch-up policy:
        |       none     one missed range
        |       once     the newest is offered, the others coalesce into it
        |       all      each is offered, up to a cap per pass
        |       spread   each is planned anew, spaced across the look-ahead, up to a cap at a time
        |-- due ------------------------> offered
        '-- jittered into the future ---> planned, to be decided at its own moment
    offered: the overlap policy decides, see `overlap`

A pass that reaches a cap stops: the watermark stays where it is and no moment is dropped. `behind_since` keeps the time
at which the backlog was found, so that the time spent catching up does not count as lateness and no catch-up policy
drops a tick because of it. The ledger still records the actual delay: a tick is on time only if it ran within the
tolerance.
"""

from collections.abc import Sequence
from typing import Final

from foliot.domain.instant import Instant, later
from foliot.domain.schedule.firing import DueSchedule, Firing, RoundContext
from foliot.domain.schedule.overlap import FiringBuilder
from foliot.domain.schedule.schedule import Catchup, Revision, ScheduleSpec, ScheduleType, moment_to_fire
from foliot.domain.schedule.tick import PlannedTick, TickOutcome, TickReason
from foliot.domain.schedule.timetable import Stretch, Timetable

_MISSED_DOWN: Final = (TickOutcome.MISSED, TickReason.DOWN)
_MISSED_OLD: Final = (TickOutcome.MISSED, TickReason.TOO_OLD)
_PAUSED: Final = (TickOutcome.SKIPPED, TickReason.PAUSED)
_COALESCED: Final = (TickOutcome.COALESCED, TickReason.CAUGHT_UP)


def plan_firing(due: DueSchedule, context: RoundContext) -> Firing:
    """Return the decision about every moment of `due` that is planned up to now."""
    return CatchupWalk(due, context).decide()


class CatchupWalk:
    """One walk over the moments of a schedule up to now."""

    def __init__(self, due: DueSchedule, context: RoundContext) -> None:
        self._due = due
        self._now, self._settings = context.now, context.settings
        self._timetable = Timetable(due.id, due.revisions, due.pauses, () if due.boot is None else (due.boot,))
        self._offers_left = self._settings.max_catchup_per_tick
        self._reference = min(due.behind_since or self._now, self._now)
        self._builder = FiringBuilder(due, context)

    def decide(self) -> Firing:
        is_complete = not self._due.planned or self._decide_planned()
        stretches = self._timetable.stretches(self._due.settled_until, self._now)
        return self._close(is_complete and all(self._walk(stretch) for stretch in stretches))

    # -- ticks planned in an earlier pass

    def _decide_planned(self) -> bool:
        """Decide about planned ticks whose fire time has come. False: some must wait because the queue is full."""
        due = sorted(tick for tick in self._due.planned if tick.fire_at <= self._now)
        self._builder.firing.planned = [tick for tick in self._due.planned if tick.fire_at > self._now]
        newest = max((tick.scheduled_for for tick in due if self._will_offer_planned(tick)), default=None)
        undecided = [tick for tick in due if not self._decide_due(tick, newest)]
        self._builder.firing.planned = [*self._builder.firing.planned, *undecided]
        return not undecided

    def _decide_due(self, tick: PlannedTick, newest: Instant | None) -> bool:
        moment, fire_at, number = tick
        revision = self._revision(number)
        if self._timetable.is_paused_at(moment):
            self._builder.record(moment, fire_at, revision, _PAUSED)
            return True
        if self._is_late(fire_at):
            return self._decide_late(moment, fire_at, revision, newest)
        # Only `spread` delays a tick by more than its jitter.
        is_spread = fire_at - moment > revision.spec.jitter
        reason = TickReason.CAUGHT_UP if is_spread else self._reason(fire_at, revision.spec)
        return self._builder.offer(moment, fire_at, revision, reason)

    def _will_offer_planned(self, tick: PlannedTick) -> bool:
        is_paused = self._timetable.is_paused_at(tick.scheduled_for)
        return not is_paused and self._will_offer(tick.fire_at, self._revision(tick.revision).spec)

    def _revision(self, number: int) -> Revision:
        return next((known for known in self._due.revisions if known.number == number), self._due.revisions[0])

    # -- moments that no pass has seen yet

    def _walk(self, stretch: Stretch) -> bool:
        """Decide about the moments of a stretch. False: a cap was reached, and the pass ends here."""
        if stretch.is_paused:
            self._builder.record_range(stretch, stretch.first, stretch.last, _PAUSED)
            return True
        first = stretch.rule.next(Instant(stretch.first - 1))
        if first is None or first > stretch.last:
            return True
        # Moments up to here are late even with the largest jitter: they are counted, not visited one by one.
        surely_late = self._reference - self._settings.tolerance - stretch.spec.jitter - 1
        late_until = Instant(min(surely_late, stretch.last))
        if first > late_until:
            return self._walk_recent(stretch, first)
        return self._walk_late(stretch, late_until) and self._walk_recent(stretch, Instant(late_until + 1))

    def _walk_late(self, stretch: Stretch, until: Instant) -> bool:
        match stretch.spec.catchup:
            case Catchup.NONE:
                self._builder.record_range(stretch, stretch.first, until, _MISSED_DOWN)
                return True
            case Catchup.ONCE:
                return self._coalesce(stretch, until)
            case Catchup.ALL | Catchup.SPREAD:
                first = self._drop_too_old(stretch, until)
                return self._catch_up(stretch, first, until)

    def _drop_too_old(self, stretch: Stretch, until: Instant) -> Instant:
        """Record moments older than the catch-up age as missed, and return the start of the others."""
        if stretch.spec.catchup_max_age is None:
            return stretch.first
        youngest_dropped = Instant(min(until, self._reference - stretch.spec.catchup_max_age - 1))
        self._builder.record_range(stretch, stretch.first, youngest_dropped, _MISSED_OLD)
        return Instant(max(stretch.first, youngest_dropped + 1))

    def _coalesce(self, stretch: Stretch, until: Instant) -> bool:
        first = self._drop_too_old(stretch, until)
        newest = stretch.rule.previous(Instant(until + 1))
        if newest is None or newest < first:
            return True
        # If a younger tick runs in this pass, these moments coalesce into it, also across edits and pauses: one run.
        younger = self._newest_offered(until)
        if younger is not None:
            self._builder.record_range(stretch, first, until, _COALESCED, into=younger)
            return True
        self._builder.record_range(stretch, first, Instant(newest - 1), _COALESCED, into=newest)
        return self._builder.offer(newest, self._fire_at(newest, stretch.spec), stretch.revision, TickReason.CAUGHT_UP)

    def _newest_offered(self, after: Instant) -> Instant | None:
        """Return the newest moment after `after` that this pass will offer, or None."""
        for stretch in reversed([*self._timetable.stretches(after, self._now)]):
            newest = self._newest_in(stretch)
            if newest is None or stretch.is_paused:
                continue
            if self._will_offer(self._fire_at(newest, stretch.spec), stretch.spec):
                return newest
        return None

    def _newest_in(self, stretch: Stretch) -> Instant | None:
        """Return the newest due moment of a stretch, or None. Jitter may delay the last few."""
        moment = stretch.rule.previous(Instant(stretch.last + 1))
        while moment is not None and moment >= stretch.first:
            if self._fire_at(moment, stretch.spec) <= self._now:
                return moment
            moment = stretch.rule.previous(moment)
        return None

    def _will_offer(self, fire_at: Instant, spec: ScheduleSpec) -> bool:
        if not self._is_late(fire_at):
            return True
        return spec.catchup is not Catchup.NONE and not self._is_too_old(fire_at, spec)

    def _newest_due(self, moments: Sequence[Instant], spec: ScheduleSpec) -> Instant | None:
        return next((moment for moment in reversed(moments) if self._fire_at(moment, spec) <= self._now), None)

    def _catch_up(self, stretch: Stretch, first: Instant, until: Instant) -> bool:
        if stretch.spec.catchup is Catchup.SPREAD and self._has_spread_ticks():
            # The next ones follow when these have fired: they must not overtake them.
            return False
        moments = stretch.rule.between(first, until, self._offers_left + 1)
        is_complete = len(moments) <= self._offers_left
        offered = moments[: self._offers_left]
        for index, moment in enumerate(offered):
            delay = self._settings.lookahead * index // len(offered) if stretch.spec.catchup is Catchup.SPREAD else 0
            if delay:
                self._builder.plan(moment, later(self._now, delay), stretch.revision)
                continue
            fire_at = self._fire_at(moment, stretch.spec)
            if not self._builder.offer(moment, fire_at, stretch.revision, TickReason.CAUGHT_UP):
                return False
        self._offers_left -= len(offered)
        return is_complete

    def _has_spread_ticks(self) -> bool:
        """Return whether ticks that an earlier pass has spread wait for their time."""
        return any(
            tick.fire_at - tick.scheduled_for > self._revision(tick.revision).spec.jitter
            for tick in self._builder.firing.planned
        )

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
            self._builder.plan(moment, fire_at, revision)
            return True
        if self._is_late(fire_at):
            return self._decide_late(moment, fire_at, revision, newest)
        return self._builder.offer(moment, fire_at, revision, self._reason(fire_at, revision.spec))

    def _decide_late(self, moment: Instant, fire_at: Instant, revision: Revision, newest: Instant | None) -> bool:
        """Decide about one late tick. `newest` is the moment that it may coalesce into."""
        spec = revision.spec
        if spec.catchup is Catchup.NONE:
            self._builder.record(moment, fire_at, revision, _MISSED_DOWN)
        elif self._is_too_old(fire_at, spec):
            self._builder.record(moment, fire_at, revision, _MISSED_OLD)
        elif spec.catchup is Catchup.ONCE and newest is not None and newest != moment:
            self._builder.record(moment, fire_at, revision, _COALESCED, into=newest)
        else:
            return self._builder.offer(moment, fire_at, revision, TickReason.CAUGHT_UP)
        return True

    # -- moments and their age

    def _fire_at(self, moment: Instant, spec: ScheduleSpec) -> Instant:
        return moment_to_fire(spec, self._due.id, moment, self._due.created_at)

    def _is_late(self, fire_at: Instant) -> bool:
        return self._reference - fire_at > self._settings.tolerance

    def _is_too_old(self, fire_at: Instant, spec: ScheduleSpec) -> bool:
        return spec.catchup_max_age is not None and self._reference - fire_at > spec.catchup_max_age

    def _reason(self, fire_at: Instant, spec: ScheduleSpec) -> TickReason:
        """Return why a tick runs that is not late. A tick delayed by a backlog runs, but is not on time."""
        if spec.type is ScheduleType.REBOOT:
            return TickReason.BOOT
        return TickReason.CAUGHT_UP if self._now - fire_at > self._settings.tolerance else TickReason.ON_TIME

    # -- the end of the pass

    def _close(self, is_complete: bool) -> Firing:
        firing = self._builder.firing
        firing.next_run_at = self._timetable.next(firing.settled_until)
        if not is_complete:
            firing.behind_since = self._reference
            firing.wake_at = later(self._now, self._settings.poll)
        elif firing.next_run_at is not None:
            firing.wake_at = self._wake_for(firing.next_run_at)
        for tick in firing.planned:
            if tick.fire_at > self._now:
                firing.wake_at = min(tick.fire_at, firing.wake_at or tick.fire_at)
        return firing

    def _wake_for(self, moment: Instant) -> Instant:
        return Instant(moment - self._timetable.revision_at(moment).spec.early)
