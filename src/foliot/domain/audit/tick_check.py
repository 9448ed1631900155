"""The check of rows against the timetable.

The expected moments are computed from revisions and pauses and compared with the rows, in one pass in order. A range is
compared by its count and its ends, so that the cost depends on the number of rows, not of moments.
"""

from collections import deque
from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple

from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.instant import LATEST, Instant
from foliot.domain.schedule.schedule import Pause
from foliot.domain.schedule.tick import PlannedTick, TickOutcome, TickReason, TickRecord
from foliot.domain.schedule.timetable import Timetable

_BATCH: Final = 512


class _Entry(NamedTuple):
    first: Instant
    last: Instant
    count: int  # type: ignore[assignment]  # hides tuple.count, which has no use here
    tick: TickRecord | None
    """None: a planned tick."""


def audit(
    timetable: Timetable,
    ticks: Iterable[TickRecord],
    planned: Iterable[PlannedTick],
    *,
    after: Instant,
    until: Instant,
) -> list[Finding]:
    """Return the findings of a comparison of the rows in (after, until] with the planned moments."""
    check = TickCheck(timetable, planned, after=after)
    findings: list[Finding] = []
    for tick in sorted(ticks, key=lambda tick: (tick.scheduled_for, tick.until)):
        findings += check.enter(tick)
    return findings + check.end(until)


class TickCheck:
    """Compares rows one by one. It keeps the last compared moment and the planned ticks after it."""

    def __init__(self, timetable: Timetable, planned: Iterable[PlannedTick], *, after: Instant) -> None:
        self._timetable = timetable
        self._cursor = after
        self._waiting = deque(sorted(tick.scheduled_for for tick in planned))
        self._next_moments = _NextMoments(timetable) if _is_in_order(timetable) else None

    def enter(self, tick: TickRecord) -> list[Finding]:
        """Compare the next row."""
        findings: list[Finding] = []
        while self._waiting and (self._waiting[0], self._waiting[0]) < (tick.scheduled_for, tick.until):
            findings += self._enter_waiting()
        return findings + self._enter(_Entry(tick.scheduled_for, tick.until, tick.count, tick))

    def end(self, until: Instant) -> list[Finding]:
        """Compare the rest, up to and including `until`."""
        findings: list[Finding] = []
        while self._waiting:
            findings += self._enter_waiting()
        return findings + _gap(self._timetable, self._cursor, until)

    def _enter_waiting(self) -> list[Finding]:
        moment = self._waiting.popleft()
        return self._enter(_Entry(moment, moment, 1, None))

    def _enter(self, entry: _Entry) -> list[Finding]:
        first, last, count, tick = entry
        cursor, self._cursor = self._cursor, max(self._cursor, last)
        if (
            first == last
            and count == 1
            and self._next_moments is not None
            and self._next_moments.after(cursor) == first
        ):
            return [] if tick is None else _check_pause(self._timetable, tick)
        findings = _gap(self._timetable, cursor, Instant(first - 1)) + _check_entry(self._timetable, entry)
        return findings if first > cursor else [Finding(Fault.DOUBLED, first, min(last, cursor), count), *findings]


class _NextMoments:
    """The next planned moment after a given one, for calls in order. Moments are computed in batches, whose size
    doubles as long as whole batches are used."""

    def __init__(self, timetable: Timetable) -> None:
        self._timetable = timetable
        self._moments: list[Instant] = []
        self._next = 0
        self._size = 1

    def after(self, moment: Instant) -> Instant | None:
        if not self._moments or self._moments[-1] <= moment:
            is_used_up = bool(self._moments) and self._moments[-1] == moment
            self._size = min(2 * self._size, _BATCH) if is_used_up else 1
            self._moments = self._timetable.following(moment, self._size)
            self._next = 0
        while self._next < len(self._moments) and self._moments[self._next] <= moment:
            self._next += 1
        return self._moments[self._next] if self._moments else None


def _is_in_order(timetable: Timetable) -> bool:
    """Return whether revisions do not overlap. They can only overlap after a manual change in the database."""
    return all(one.opened_at <= two.opened_at for one, two in pairwise(timetable.revisions))


def beyond(first: Instant, last: Instant, count: int, settled_until: Instant) -> list[Finding]:
    """Return a finding if a row is after the watermark. No firing writes such a row: it moves the watermark too."""
    return [Finding(Fault.BEYOND_WATERMARK, first, last, count)] if last > settled_until else []


def is_planned(timetable: Timetable, moment: Instant) -> bool:
    return _count(timetable, Instant(moment - 1), moment) == 1


def _gap(timetable: Timetable, after: Instant, until: Instant) -> list[Finding]:
    missing = _count(timetable, after, until)
    if not missing:
        return []
    created_at = min(revision.opened_at for revision in timetable.revisions)
    return [Finding(Fault.MISSING, Instant(max(after + 1, created_at)), until, missing)]


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
    paused = _count(timetable, Instant(first - 1), last, paused_only=True) if timetable.all_pauses else 0
    if tick.reason is TickReason.PAUSED:
        is_sound = paused == tick.count or _was_paused(timetable, tick)
        return [] if is_sound else [Finding(Fault.PAUSE_MISMATCH, first, last, tick.count - paused)]
    if not paused or _was_earlier(timetable, tick):
        return []
    fault = Fault.RAN_WHILE_PAUSED if tick.outcome is TickOutcome.RAN else Fault.PAUSE_MISMATCH
    return [Finding(fault, first, last, paused)]


def _was_paused(timetable: Timetable, tick: TickRecord) -> bool:
    """Return whether all moments of the row may have been paused before a pause was shortened."""
    pauses = [
        one if one.until is None or one.recorded_until is None else Pause(one.since, max(one.until, one.recorded_until))
        for one in timetable.project_pauses
    ]
    widened = timetable._replace(project_pauses=pauses)
    return _count(widened, Instant(tick.scheduled_for - 1), tick.until, paused_only=True) == tick.count


def _was_earlier(timetable: Timetable, tick: TickRecord) -> bool:
    """Return whether a row in a pause was decided before it began.

    With jitter, a tick may have fired before the pause that its moment is in: then no pause covers both the moment and
    the fire time.
    """
    pauses = [one for one in timetable.all_pauses if one.decided_until is None or one.decided_until < tick.until]
    if tick.count > 1:
        return not any(one.since < tick.until and tick.scheduled_for <= (one.until or LATEST) for one in pauses)
    earlier, later = sorted((tick.scheduled_for, tick.fire_at))
    return not any(one.since < earlier and later <= (one.until or LATEST) for one in pauses)


def _count(timetable: Timetable, after: Instant, until: Instant, *, paused_only: bool = False) -> int:
    """Return the number of planned moments after `after`, up to and including `until`."""
    if until <= after:
        return 0
    return sum(
        stretch.rule.count(stretch.first, Instant(min(stretch.last, until)))
        for stretch in timetable.stretches(after, until)
        if stretch.first <= until and (stretch.is_paused or not paused_only)
    )
