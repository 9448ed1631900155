"""The schedule's own row: where it stands, what it waits for, and which rule it follows."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.audit.input import Account
from foliot.domain.audit.tick_check import is_planned
from foliot.domain.instant import MINUTE, Instant
from foliot.domain.schedule.schedule import Pause, Schedule
from foliot.domain.schedule.tick import TickOutcome, TickRecord
from foliot.domain.schedule.timetable import Timetable

_LONGEST_TICK: Final = MINUTE
"""Who is behind is looked at again after one tick of the scheduler, and none is longer than this."""


class Standing:
    """Notes which rows ran, and then looks at the schedule."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._has_run = False
        self._has_last = False

    def note(self, tick: TickRecord) -> None:
        if tick.outcome is TickOutcome.RAN:
            self._has_run = True
            self._has_last |= tick.scheduled_for == self._account.schedule.last_scheduled_at

    def end(self) -> Iterator[Finding]:
        schedule = self._account.schedule
        yield from _check_row(self._account)
        if not self._is_last_known():
            yield _at(Fault.WRONG_LAST, schedule.last_scheduled_at or schedule.settled_until)
        if self._account.deleted_at is None:
            yield from _check_coming(self._account)
        else:
            yield from _check_waking(self._account, following=None)

    def _is_last_known(self) -> bool:
        last = self._account.schedule.last_scheduled_at
        if last is None:
            return not self._has_run
        return last <= self._account.after or self._has_last


def _check_row(account: Account) -> Iterator[Finding]:
    schedule, timetable = account.schedule, account.timetable
    settled_until = schedule.settled_until
    if not _is_ruled(schedule, timetable):
        yield _at(Fault.WRONG_RULE, schedule.revision.opened_at)
    if not _is_pause_known(schedule, timetable):
        yield _at(Fault.WRONG_PAUSE, schedule.paused_at or settled_until)
    if settled_until != schedule.created_at and not is_planned(timetable, settled_until):
        yield _at(Fault.WRONG_WATERMARK, settled_until)
    if schedule.ledger_from is not None and (account.has_older or schedule.ledger_from > settled_until + 1):
        yield _at(Fault.WRONG_START, schedule.ledger_from)


def _check_coming(account: Account) -> Iterator[Finding]:
    schedule = account.schedule
    following = account.timetable.next(schedule.settled_until)
    if schedule.next_run_at != following:
        yield _at(Fault.WRONG_NEXT, schedule.next_run_at or following or schedule.settled_until)
    if schedule.paused_at is None:
        yield from _check_waking(account, following)


def _check_waking(account: Account, following: Instant | None) -> Iterator[Finding]:
    """Whether it wakes for the planned ticks that wait, and for the moment that follows."""
    schedule = account.schedule
    moments = [tick.scheduled_for for tick in account.planned]
    if following is not None:
        moments.append(following)
    if not moments:
        return
    if schedule.wake_at is None or not schedule.enabled:
        yield Finding(Fault.ASLEEP, min(moments), max(moments), len(moments))
    elif _oversleeps(account, following, schedule.wake_at):
        yield Finding(Fault.OVERSLEEPS, min(moments), schedule.wake_at, len(moments))


def _oversleeps(account: Account, following: Instant | None, wake_at: Instant) -> bool:
    wanted = [tick.fire_at for tick in account.planned]
    if following is not None:
        wanted.append(Instant(following - account.timetable.revision_at(following).spec.early))
    if wake_at <= min(wanted):
        return False
    behind_since = account.schedule.behind_since
    if behind_since is not None:
        # The clock may have been set back since.
        return wake_at > max(account.now, behind_since) + _LONGEST_TICK
    # Who was resumed is woken at that moment, however long its next one has been waiting.
    return wake_at > account.schedule.updated_at


def _is_ruled(schedule: Schedule, timetable: Timetable) -> bool:
    """Whether all revisions are there, each where the one before it ended, and the last one is the schedule's own."""
    revisions = timetable.revisions
    return (
        [revision.number for revision in revisions] == list(range(1, len(revisions) + 1))
        and all(one.opened_at <= two.opened_at for one, two in pairwise(revisions))
        and revisions[0].opened_at == schedule.created_at
        and revisions[-1] == schedule.revision
    )


def _is_pause_known(schedule: Schedule, timetable: Timetable) -> bool:
    under_way = [pause for pause in timetable.pauses if pause.until is None]
    return under_way == ([] if schedule.paused_at is None else [Pause(schedule.paused_at, None)])


def _at(fault: Fault, moment: Instant) -> Finding:
    return Finding(fault, moment, moment, 1)
