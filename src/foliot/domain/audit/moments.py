"""The rows against the timetable.

The expected moments are computed anew from revisions and pauses and compared with the rows, one walk in order. A
range row is compared by its count and its ends, so that checking costs as little as the ledger is long.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.instant import LATEST, Instant
from foliot.domain.tick import PlannedTick, TickOutcome, TickReason, TickRecord
from foliot.domain.timetable import Timetable


class _Entry(NamedTuple):
    first: Instant
    last: Instant
    count: int  # type: ignore[assignment]  # nobody counts the fields of a row
    tick: TickRecord | None
    """None for one that is planned."""


def audit(
    timetable: Timetable,
    ticks: Iterable[TickRecord],
    planned: Iterable[PlannedTick],
    *,
    after: Instant,
    until: Instant,
) -> list[Finding]:
    """Compare the rows in (after, until] with what was planned there."""
    findings: list[Finding] = []
    cursor = after
    for entry in _entries(ticks, planned):
        if entry.first <= cursor:
            findings.append(Finding(Fault.DOUBLED, entry.first, min(entry.last, cursor), entry.count))
        findings += _gap(timetable, cursor, Instant(entry.first - 1))
        findings += _check_entry(timetable, entry)
        cursor = max(cursor, entry.last)
    return findings + _gap(timetable, cursor, until)


def beyond(ticks: Iterable[TickRecord], planned: Iterable[PlannedTick], settled_until: Instant) -> Iterator[Finding]:
    """Rows that no firing can have written, for whoever writes one moves the watermark with it."""
    for entry in _entries(ticks, planned):
        if entry.last > settled_until:
            yield Finding(Fault.BEYOND_WATERMARK, entry.first, entry.last, entry.count)


def is_planned(timetable: Timetable, moment: Instant) -> bool:
    return _count(timetable, Instant(moment - 1), moment) == 1


def _entries(ticks: Iterable[TickRecord], planned: Iterable[PlannedTick]) -> Sequence[_Entry]:
    settled = [_Entry(tick.scheduled_for, tick.until, tick.count, tick) for tick in ticks]
    waiting = [_Entry(tick.scheduled_for, tick.scheduled_for, 1, None) for tick in planned]
    return sorted(settled + waiting, key=lambda entry: (entry.first, entry.last))


def _gap(timetable: Timetable, after: Instant, until: Instant) -> list[Finding]:
    missing = _count(timetable, after, until)
    return [Finding(Fault.MISSING, Instant(after + 1), until, missing)] if missing else []


def _check_entry(timetable: Timetable, entry: _Entry) -> list[Finding]:
    first, last, count, tick = entry
    expected = _count(timetable, Instant(first - 1), last)
    if expected != count:
        return [Finding(Fault.MISCOUNTED if expected else Fault.INVENTED, first, last, count - expected)]
    if last > first and not (is_planned(timetable, first) and is_planned(timetable, last)):
        return [Finding(Fault.INVENTED, first, last, count)]
    return [] if tick is None else _check_pause(timetable, tick)


def _check_pause(timetable: Timetable, tick: TickRecord) -> list[Finding]:
    first, last = tick.scheduled_for, tick.until
    paused = _count(timetable, Instant(first - 1), last, paused_only=True) if timetable.pauses else 0
    if tick.reason is TickReason.PAUSED:
        return [Finding(Fault.PAUSE_MISMATCH, first, last, tick.count - paused)] if paused < tick.count else []
    if not paused or _was_earlier(timetable, tick):
        return []
    fault = Fault.RAN_WHILE_PAUSED if tick.outcome is TickOutcome.RAN else Fault.PAUSE_MISMATCH
    return [Finding(fault, first, last, paused)]


def _was_earlier(timetable: Timetable, tick: TickRecord) -> bool:
    """Whether no pause holds both, moment and start: jitter may have let a tick run before the pause it lies in."""
    earlier, later = sorted((tick.scheduled_for, tick.fire_at))
    return tick.count == 1 and not any(
        pause.since < earlier and later <= (pause.until or LATEST) for pause in timetable.pauses
    )


def _count(timetable: Timetable, after: Instant, until: Instant, *, paused_only: bool = False) -> int:
    """How many moments are planned after `after`, up to and with `until`."""
    if until <= after:
        return 0
    return sum(
        stretch.rule.count(stretch.first, Instant(min(stretch.last, until)))
        for stretch in timetable.stretches(after, until)
        if stretch.first <= until and (stretch.is_paused or not paused_only)
    )
