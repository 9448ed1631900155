"""The check of the schedule's own row: watermark, next moment, wake time, pause and revisions."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.audit.input import AuditInput
from foliot.domain.audit.tick_check import is_planned
from foliot.domain.instant import MINUTE, Instant
from foliot.domain.schedule.schedule import Pause, Schedule
from foliot.domain.schedule.tick import TickOutcome, TickRecord
from foliot.domain.schedule.timetable import Timetable

_LONGEST_TICK: Final = MINUTE
"""The longest poll interval of a scheduler. A schedule with a backlog is due again after one interval."""


class WatermarkCheck:
    """Records which rows ran, and then checks the schedule's row."""

    def __init__(self, given: AuditInput) -> None:
        self._input = given
        self._has_run = False
        self._has_last = False

    def note(self, tick: TickRecord) -> None:
        if tick.outcome is TickOutcome.RAN:
            self._has_run = True
            self._has_last |= tick.scheduled_for == self._input.schedule.last_scheduled_at

    def end(self) -> Iterator[Finding]:
        schedule = self._input.schedule
        yield from _check_row(self._input)
        if not self._is_last_known():
            yield _at(Fault.WRONG_LAST, schedule.last_scheduled_at or schedule.settled_until)
        if self._input.deleted_at is None:
            yield from _check_coming(self._input)
        else:
            yield from _check_waking(self._input, following=None)

    def _is_last_known(self) -> bool:
        last = self._input.schedule.last_scheduled_at
        if last is None:
            return not self._has_run
        return last <= self._input.after or self._has_last


def _check_row(given: AuditInput) -> Iterator[Finding]:
    schedule, timetable = given.schedule, given.timetable
    settled_until = schedule.settled_until
    if not _is_ruled(schedule, timetable):
        yield _at(Fault.WRONG_RULE, schedule.revision.opened_at)
    if not _is_pause_known(schedule, timetable):
        yield _at(Fault.WRONG_PAUSE, schedule.paused_at or settled_until)
    if settled_until != schedule.created_at and not is_planned(timetable, settled_until):
        yield _at(Fault.WRONG_WATERMARK, settled_until)
    if schedule.ledger_from is not None and (given.has_older or schedule.ledger_from > settled_until + 1):
        yield _at(Fault.WRONG_START, schedule.ledger_from)


def _check_coming(given: AuditInput) -> Iterator[Finding]:
    schedule = given.schedule
    following = given.timetable.next(schedule.settled_until)
    if schedule.next_run_at != following:
        yield _at(Fault.WRONG_NEXT, schedule.next_run_at or following or schedule.settled_until)
    if schedule.paused_at is None:
        yield from _check_waking(given, following)


def _check_waking(given: AuditInput, following: Instant | None) -> Iterator[Finding]:
    """Check that the schedule wakes for its planned ticks and for the next moment."""
    schedule = given.schedule
    moments = [tick.scheduled_for for tick in given.planned]
    if following is not None:
        moments.append(following)
    if not moments:
        return
    if schedule.wake_at is None or not schedule.enabled:
        yield Finding(Fault.ASLEEP, min(moments), max(moments), len(moments))
    elif _oversleeps(given, following, schedule.wake_at):
        yield Finding(Fault.OVERSLEEPS, min(moments), schedule.wake_at, len(moments))


def _oversleeps(given: AuditInput, following: Instant | None, wake_at: Instant) -> bool:
    wanted = [tick.fire_at for tick in given.planned]
    if following is not None:
        wanted.append(Instant(following - given.timetable.revision_at(following).spec.early))
    if wake_at <= min(wanted):
        return False
    behind_since = given.schedule.behind_since
    if behind_since is not None:
        # The clock may have been set back since.
        return wake_at > max(given.now, behind_since) + _LONGEST_TICK
    # A resumed schedule is due when it is resumed, even if its next moment is earlier.
    return wake_at > given.schedule.updated_at


def _is_ruled(schedule: Schedule, timetable: Timetable) -> bool:
    """Return whether all revisions exist, in order, and the last one is that of the schedule's row."""
    revisions = timetable.revisions
    return (
        [revision.number for revision in revisions] == list(range(1, len(revisions) + 1))
        and all(one.opened_at <= two.opened_at for one, two in pairwise(revisions))
        and revisions[0].opened_at == schedule.created_at
        and revisions[-1] == schedule.revision
    )


def _is_pause_known(schedule: Schedule, timetable: Timetable) -> bool:
    current = [pause for pause in timetable.pauses if pause.until is None]
    return current == ([] if schedule.paused_at is None else [Pause(schedule.paused_at, None)])


def _at(fault: Fault, moment: Instant) -> Finding:
    return Finding(fault, moment, moment, 1)
