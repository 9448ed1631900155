"""The check of the fields of each row besides its moments.

Outcome and reason must be possible under the policies of the revision. Fire time and key must follow from the id and
the moment. A coalesced tick must name the later tick that it coalesced into.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Final

from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.audit.input import AuditInput
from foliot.domain.audit.tick_check import is_planned
from foliot.domain.instant import Instant
from foliot.domain.schedule.schedule import Catchup, Overlap, ScheduleSpec, ScheduleType, moment_to_fire
from foliot.domain.schedule.tick import REASONS, TickOutcome, TickReason, TickRecord, tick_key
from foliot.domain.schedule.timetable import Timetable

_COUNTED: Final = frozenset({TickOutcome.MISSED, TickOutcome.COALESCED})
"""Outcomes of moments that are counted, not visited one by one: they may be ranges and have no jitter. The same holds
for paused moments."""


class RowCheck:
    """Checks each row alone, and a coalesced row once the row that it names has been read."""

    def __init__(self, given: AuditInput) -> None:
        self._input = given
        self._was_renamed = given.was_renamed
        self._targets: list[tuple[Instant, TickRecord]] = []
        """A heap of coalesced rows whose target has not been read, the earliest target first."""
        self._before: TickRecord | None = None

    def check(self, tick: TickRecord, key: str | None) -> Iterator[Finding]:
        """Yield the findings about a row. `key` is its stored key."""
        yield from self._check_reached(tick.scheduled_for)
        self._before = tick
        for fault in self._faults(tick, key):
            yield _found(fault, tick)
        if (tick.outcome is TickOutcome.COALESCED) != (tick.into is not None):
            yield _found(Fault.LEADS_NOWHERE, tick)
        elif tick.into is not None:
            yield from self._check_target(tick, tick.into)

    def end(self) -> Iterator[Finding]:
        yield from self._check_reached(None)
        for moment, fire_at, number in self._input.planned:
            revision = self._input.timetable.revision_at(moment)
            if number != revision.number:
                yield Finding(Fault.OTHER_REVISION, moment, moment, 1)
            if not _is_timely(self._input.timetable, moment, fire_at, revision.spec):
                yield Finding(Fault.MISTIMED, moment, moment, 1)

    def _faults(self, tick: TickRecord, key: str | None) -> Iterator[Fault]:
        given, moment = self._input, tick.scheduled_for
        revision = given.timetable.revision_at(moment)
        if tick.revision != revision.number or given.timetable.revision_at(tick.until) is not revision:
            yield Fault.OTHER_REVISION
        if not _is_possible(given, tick, revision.spec):
            yield Fault.IMPOSSIBLE
        is_counted = _is_counted(tick) and tick.fire_at == moment
        if not is_counted and not _is_timely(given.timetable, moment, tick.fire_at, revision.spec):
            yield Fault.MISTIMED
        if key is not None and not self._was_renamed and key != tick_key(given.schedule.id, moment):
            yield Fault.WRONG_KEY

    def _check_target(self, tick: TickRecord, into: Instant) -> Iterator[Finding]:
        """Check that a coalesced row names a later planned moment, which is decided or about to be."""
        if into <= tick.until or not is_planned(self._input.timetable, into):
            yield _found(Fault.LEADS_NOWHERE, tick)
        elif into <= self._input.schedule.settled_until:
            heappush(self._targets, (into, tick))
        elif self._input.schedule.behind_since is None:
            yield _found(Fault.LEADS_NOWHERE, tick)

    def _check_reached(self, moment: Instant | None) -> Iterator[Finding]:
        """Check the coalesced rows whose target is before `moment`: their target is the row read before."""
        while self._targets and (moment is None or self._targets[0][0] < moment):
            into, tick = heappop(self._targets)
            if self._before is not None and not _was_offered(self._before, into):
                yield _found(Fault.LEADS_NOWHERE, tick)


def _found(fault: Fault, tick: TickRecord) -> Finding:
    return Finding(fault, tick.scheduled_for, tick.until, tick.count)


def _is_counted(tick: TickRecord) -> bool:
    return tick.outcome in _COUNTED or tick.reason is TickReason.PAUSED


def _is_possible(given: AuditInput, tick: TickRecord, spec: ScheduleSpec) -> bool:
    if tick.reason not in REASONS[tick.outcome] or (tick.count > 1 and not _is_counted(tick)):
        return False
    match tick.reason:
        case TickReason.ON_TIME | TickReason.BOOT:
            return (tick.reason is TickReason.BOOT) is (spec.type is ScheduleType.REBOOT)
        case TickReason.CAUGHT_UP:
            return tick.outcome is TickOutcome.RAN or spec.catchup is Catchup.ONCE
        case TickReason.OVERLAP:
            return spec.overlap is Overlap.SKIP
        case TickReason.SUCCESSFUL:
            return spec.skip_if_successful
        case TickReason.DOWN:
            return spec.catchup is Catchup.NONE
        case TickReason.TOO_OLD:
            return spec.catchup is not Catchup.NONE and spec.catchup_max_age is not None
        case TickReason.SUPERSEDED:
            # The superseding tick may be of a later revision.
            return any(known.spec.overlap is Overlap.CANCEL_RUNNING for known in given.timetable.revisions)
        case TickReason.DELETED:
            return given.deleted_at is not None
        case _:
            return True


def _is_timely(timetable: Timetable, moment: Instant, fire_at: Instant, spec: ScheduleSpec) -> bool:
    """Return whether a fire time follows from the jitter. With `spread` it may be any later moment."""
    expected = moment_to_fire(spec, timetable.schedule_id, moment, timetable.revisions[0].opened_at)
    return fire_at == expected or (spec.catchup is Catchup.SPREAD and fire_at > moment)


def _was_offered(target: TickRecord, moment: Instant) -> bool:
    """Return whether other moments may have coalesced into this one. It may itself have coalesced or been skipped.

    A moment without a row is still planned, or is reported as missing.
    """
    return target.until < moment or (
        target.outcome is not TickOutcome.MISSED and target.reason is not TickReason.PAUSED
    )
