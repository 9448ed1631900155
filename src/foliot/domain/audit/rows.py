"""What each row says beside its moments.

Outcome and reason must be such as the policies of the ruling revision give; jitter and key follow from name and moment;
a coalesced tick names the later one that was to run for it.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Final

from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.audit.input import Account
from foliot.domain.audit.tick_check import is_planned
from foliot.domain.instant import Instant
from foliot.domain.schedule.schedule import Catchup, Overlap, ScheduleSpec, moment_to_fire
from foliot.domain.schedule.tick import REASONS, TickOutcome, TickReason, TickRecord, tick_key
from foliot.domain.schedule.timetable import Timetable

_COUNTED: Final = frozenset({TickOutcome.MISSED, TickOutcome.COALESCED})
"""Outcomes of moments that were counted and not visited: they may be ranges, and have no jitter. So may pauses."""


class Rows:
    """Looks at each row by itself, and at a coalesced one when the row is there that it leads to."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._was_renamed = account.was_renamed
        self._leading: list[tuple[Instant, TickRecord]] = []
        """A heap of rows whose target is still to come, the earliest target first."""
        self._before: TickRecord | None = None

    def check(self, tick: TickRecord, key: str | None) -> Iterator[Finding]:
        """`key` is the one that is stored with it."""
        yield from self._arrive(tick.scheduled_for)
        self._before = tick
        for fault in self._faults(tick, key):
            yield _found(fault, tick)
        if (tick.outcome is TickOutcome.COALESCED) != (tick.into is not None):
            yield _found(Fault.LEADS_NOWHERE, tick)
        elif tick.into is not None:
            yield from self._lead(tick, tick.into)

    def end(self) -> Iterator[Finding]:
        yield from self._arrive(None)
        for moment, given, number in self._account.planned:
            revision = self._account.timetable.revision_at(moment)
            if number != revision.number:
                yield Finding(Fault.OTHER_REVISION, moment, moment, 1)
            if not _is_timely(self._account.timetable, moment, given, revision.spec):
                yield Finding(Fault.MISTIMED, moment, moment, 1)

    def _faults(self, tick: TickRecord, key: str | None) -> Iterator[Fault]:
        account, moment = self._account, tick.scheduled_for
        revision = account.timetable.revision_at(moment)
        if tick.revision != revision.number or account.timetable.revision_at(tick.until) is not revision:
            yield Fault.OTHER_REVISION
        if not _is_possible(account, tick, revision.spec):
            yield Fault.IMPOSSIBLE
        is_counted = _is_counted(tick) and tick.fire_at == moment
        if not is_counted and not _is_timely(account.timetable, moment, tick.fire_at, revision.spec):
            yield Fault.MISTIMED
        if key is not None and not self._was_renamed and key != tick_key(account.schedule.id, moment):
            yield Fault.WRONG_KEY

    def _lead(self, tick: TickRecord, into: Instant) -> Iterator[Finding]:
        """A later tick was to run in its stead: a planned moment, decided already or the next to be."""
        if into <= tick.until or not is_planned(self._account.timetable, into):
            yield _found(Fault.LEADS_NOWHERE, tick)
        elif into <= self._account.schedule.settled_until:
            heappush(self._leading, (into, tick))
        elif self._account.schedule.behind_since is None:
            yield _found(Fault.LEADS_NOWHERE, tick)

    def _arrive(self, moment: Instant | None) -> Iterator[Finding]:
        """The row that was read before is the target of all who lead to a moment before this one."""
        while self._leading and (moment is None or self._leading[0][0] < moment):
            into, tick = heappop(self._leading)
            if self._before is not None and not _was_offered(self._before, into):
                yield _found(Fault.LEADS_NOWHERE, tick)


def _found(fault: Fault, tick: TickRecord) -> Finding:
    return Finding(fault, tick.scheduled_for, tick.until, tick.count)


def _is_counted(tick: TickRecord) -> bool:
    return tick.outcome in _COUNTED or tick.reason is TickReason.PAUSED


def _is_possible(account: Account, tick: TickRecord, spec: ScheduleSpec) -> bool:
    if tick.reason not in REASONS[tick.outcome] or (tick.count > 1 and not _is_counted(tick)):
        return False
    match tick.reason:
        case TickReason.CAUGHT_UP:
            return tick.outcome is TickOutcome.RAN or spec.catchup is Catchup.ONCE
        case TickReason.OVERLAP:
            return spec.overlap is Overlap.SKIP
        case TickReason.DOWN:
            return spec.catchup is Catchup.NONE
        case TickReason.TOO_OLD:
            return spec.catchup is not Catchup.NONE and spec.catchup_max_age is not None
        case TickReason.SUPERSEDED:
            # By a tick of a later revision perhaps.
            return any(known.spec.overlap is Overlap.CANCEL_RUNNING for known in account.timetable.revisions)
        case TickReason.DELETED:
            return account.deleted_at is not None
        case _:
            return True


def _is_timely(timetable: Timetable, moment: Instant, given: Instant, spec: ScheduleSpec) -> bool:
    """Whether that is where jitter puts it. `spread` may plan a tick for any later moment."""
    expected = moment_to_fire(spec, timetable.schedule_id, moment, timetable.revisions[0].opened_at)
    return given == expected or (spec.catchup is Catchup.SPREAD and given > moment)


def _was_offered(target: TickRecord, moment: Instant) -> bool:
    """Whether that moment may have run for others. It may have coalesced again, or been skipped since.

    One that has no row is planned still, or is found where rows are missing.
    """
    return target.until < moment or (
        target.outcome is not TickOutcome.MISSED and target.reason is not TickReason.PAUSED
    )
