"""What each row says beside its moments.

Outcome and reason must be such as the policies of the ruling revision give; jitter and key follow from name and moment;
a coalesced tick names the later one that was to run for it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from foliot.domain.audit.account import Account
from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.audit.moments import is_planned
from foliot.domain.instant import Instant
from foliot.domain.schedule import Catchup, Overlap, ScheduleSpec, moment_to_fire
from foliot.domain.tick import REASONS, TickOutcome, TickReason, TickRecord, tick_key
from foliot.domain.timetable import Timetable

_COUNTED: Final = frozenset({TickOutcome.MISSED, TickOutcome.COALESCED})
"""Outcomes of moments that were counted and not visited: they may be ranges, and have no jitter. So may pauses."""


def check_rows(account: Account) -> Iterator[Finding]:
    starts = [tick.scheduled_for for tick in account.ticks]
    for tick in account.ticks:
        for fault in _faults(account, tick, starts):
            yield Finding(fault, tick.scheduled_for, tick.until, tick.count)
    for planned in account.planned:
        moment, given, number = planned
        revision = account.timetable.revision_at(moment)
        if number != revision.number:
            yield Finding(Fault.OTHER_REVISION, moment, moment, 1)
        if not _is_timely(account.timetable, moment, given, revision.spec):
            yield Finding(Fault.MISTIMED, moment, moment, 1)


def _faults(account: Account, tick: TickRecord, starts: Sequence[Instant]) -> Iterator[Fault]:
    moment = tick.scheduled_for
    revision = account.timetable.revision_at(moment)
    if tick.revision != revision.number or account.timetable.revision_at(tick.until) is not revision:
        yield Fault.OTHER_REVISION
    if not _is_possible(account, tick, revision.spec):
        yield Fault.IMPOSSIBLE
    is_counted = _is_counted(tick) and tick.fire_at == moment
    if not is_counted and not _is_timely(account.timetable, moment, tick.fire_at, revision.spec):
        yield Fault.MISTIMED
    if not account.was_renamed and account.keys.get(moment) not in (None, tick_key(account.schedule.id, moment)):
        yield Fault.WRONG_KEY
    if (tick.outcome is TickOutcome.COALESCED) != (tick.into is not None) or not _leads_on(account, tick, starts):
        yield Fault.LEADS_NOWHERE


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


def _leads_on(account: Account, tick: TickRecord, starts: Sequence[Instant]) -> bool:
    """Whether a later tick was offered in its stead. That one may have coalesced again, or been skipped since."""
    into = tick.into
    if into is None:
        return True
    if into <= tick.until or not is_planned(account.timetable, into):
        return False
    if into > account.schedule.settled_until:
        return account.schedule.behind_since is not None
    target = account.ticks[bisect_right(starts, into) - 1]
    # One that has no row is planned still, or is found where rows are missing.
    return target.until < into or (target.outcome is not TickOutcome.MISSED and target.reason is not TickReason.PAUSED)
