"""Does the ledger say exactly what the timetable planned?

The expected moments are computed anew from revisions and pauses and compared with the rows, one walk in order. A
range row is compared by its count, so that checking costs as little as the ledger is long. What the rows say beside
their moments must fit too: each run belongs to one tick, and who ran for a coalesced tick was planned after it.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.ids import RunId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.schedule import Schedule
from foliot.domain.tick import PlannedTick, TickOutcome, TickRecord
from foliot.domain.timetable import Timetable


class Fault(StrEnum):
    MISSING = "missing"
    """Planned moments that have no row."""
    INVENTED = "invented"
    """A row for moments that were never planned."""
    DOUBLED = "doubled"
    """Two rows for one moment."""
    MISCOUNTED = "miscounted"
    """A range whose count differs from the moments it covers."""
    RAN_WHILE_PAUSED = "ran_while_paused"
    SHARED_RUN = "shared_run"
    """Two ticks that name one run."""
    LEADS_NOWHERE = "leads_nowhere"
    """A coalesced tick that names no later planned moment as the one that ran for it."""
    BEYOND_WATERMARK = "beyond_watermark"
    """A row for moments that the schedule says are not decided yet."""
    ASLEEP = "asleep"
    """Moments to come, and nothing that would wake the scheduler for them."""


class Finding(NamedTuple):
    fault: Fault
    first: Instant
    last: Instant
    count: int  # type: ignore[assignment]  # nobody counts the fields of a row


class _Entry(NamedTuple):
    first: Instant
    last: Instant
    count: int  # type: ignore[assignment]  # nobody counts the fields of a row
    ran_at: Instant | None
    """When its run was to start; None for a tick that did not run."""


def audit(
    timetable: Timetable,
    ticks: Iterable[TickRecord],
    planned: Iterable[PlannedTick],
    *,
    after: Instant,
    until: Instant,
) -> list[Finding]:
    """Compare the rows in (after, until] with what was planned there."""
    rows = list(ticks)
    findings = [*_shared_runs(rows), *_leading_nowhere(timetable, rows)]
    cursor = after
    for entry in _entries(rows, planned):
        if entry.first <= cursor:
            findings.append(Finding(Fault.DOUBLED, entry.first, min(entry.last, cursor), entry.count))
        findings += _gap(timetable, cursor, Instant(entry.first - 1))
        findings += _check_entry(timetable, entry)
        cursor = max(cursor, entry.last)
    return findings + _gap(timetable, cursor, until)


def beyond(ticks: Iterable[TickRecord], settled_until: Instant) -> list[Finding]:
    """Rows that no firing can have written, for whoever writes one moves the watermark with it."""
    return [
        Finding(Fault.BEYOND_WATERMARK, tick.scheduled_for, tick.until, tick.count)
        for tick in ticks
        if tick.until > settled_until
    ]


def asleep(schedule: Schedule, timetable: Timetable, planned: Sequence[PlannedTick]) -> list[Finding]:
    """Whether a schedule that people expect to fire will never be looked at."""
    if not schedule.enabled or schedule.paused_at is not None or schedule.wake_at is not None:
        return []
    coming = [tick.scheduled_for for tick in planned]
    following = timetable.next(schedule.settled_until)
    moments = coming if following is None else [*coming, following]
    return [Finding(Fault.ASLEEP, min(moments), max(moments), len(moments))] if moments else []


def _shared_runs(ticks: Iterable[TickRecord]) -> list[Finding]:
    owners: dict[RunId, TickRecord] = {}
    return [
        Finding(Fault.SHARED_RUN, owners[tick.run_id].scheduled_for, tick.scheduled_for, 2)
        for tick in ticks
        if tick.run_id is not None and owners.setdefault(tick.run_id, tick) is not tick
    ]


def _leading_nowhere(timetable: Timetable, ticks: Iterable[TickRecord]) -> list[Finding]:
    return [
        Finding(Fault.LEADS_NOWHERE, tick.scheduled_for, tick.until, tick.count)
        for tick in ticks
        if tick.outcome is TickOutcome.COALESCED and not _leads_on(timetable, tick)
    ]


def _leads_on(timetable: Timetable, tick: TickRecord) -> bool:
    """Whether there is such a later moment. That it has a row of its own is seen where rows are missing."""
    into = tick.into
    return into is not None and into > tick.until and _count(timetable, Instant(into - 1), into) == 1


def _entries(ticks: Iterable[TickRecord], planned: Iterable[PlannedTick]) -> Sequence[_Entry]:
    settled = [_Entry(tick.scheduled_for, tick.until, tick.count, _ran_at(tick)) for tick in ticks]
    waiting = [_Entry(tick.scheduled_for, tick.scheduled_for, 1, None) for tick in planned]
    return sorted(settled + waiting, key=lambda entry: (entry.first, entry.last))


def _ran_at(tick: TickRecord) -> Instant | None:
    return tick.fire_at if tick.outcome is TickOutcome.RAN else None


def _gap(timetable: Timetable, after: Instant, until: Instant) -> list[Finding]:
    missing = _count(timetable, after, until)
    return [Finding(Fault.MISSING, Instant(after + 1), until, missing)] if missing else []


def _check_entry(timetable: Timetable, entry: _Entry) -> list[Finding]:
    expected = _count(timetable, Instant(entry.first - 1), entry.last)
    if expected != entry.count:
        fault = Fault.MISCOUNTED if expected else Fault.INVENTED
        return [Finding(fault, entry.first, entry.last, entry.count - expected)]
    if _ran_while_paused(timetable, entry):
        return [Finding(Fault.RAN_WHILE_PAUSED, entry.first, entry.last, entry.count)]
    return []


def _ran_while_paused(timetable: Timetable, entry: _Entry) -> bool:
    """Whether one pause holds both, moment and start: jitter may have let a tick run before the pause it lies in."""
    if entry.ran_at is None:
        return False
    earlier, later = sorted((entry.first, entry.ran_at))
    return any(pause.since < earlier and later <= (pause.until or LATEST) for pause in timetable.pauses)


def _count(timetable: Timetable, after: Instant, until: Instant) -> int:
    """How many moments are planned after `after`, up to and with `until`."""
    if until <= after:
        return 0
    return sum(
        stretch.rule.count(stretch.first, Instant(min(stretch.last, until)))
        for stretch in timetable.stretches(after, until)
        if stretch.first <= until
    )
