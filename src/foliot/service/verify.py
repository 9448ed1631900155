"""Checks the ledger of every schedule against what was planned."""

from collections.abc import AsyncIterator, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from foliot.domain.audit import Finding, asleep, audit, beyond
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.tick import TickOutcome, TickRecord
from foliot.domain.timetable import Timetable
from foliot.ports.schedules import Ledger
from foliot.ports.storage import Storage

_PAGE = 200
_ROWS = 10_000


class Report(NamedTuple):
    """What `verify` found about one schedule. `ticks` counts moments, ranges included."""

    schedule_id: ScheduleId
    ticks: int
    findings: list[Finding]
    runs_missing: list[RunId]

    @property
    def is_sound(self) -> bool:
        return not self.findings and not self.runs_missing


async def verify(storage: Storage, since: Instant) -> AsyncIterator[Report]:
    """Go through all schedules, those deleted included, and compare their ticks after `since` with their rules."""
    after = None
    while page := await storage.schedules.ledgers(after=after, limit=_PAGE):
        for ledger in page:
            yield await _verify_one(storage, ledger, since)
        after = page[-1].schedule.uid


async def _verify_one(storage: Storage, ledger: Ledger, since: Instant) -> Report:
    schedule = ledger.schedule
    after = Instant(max(since, schedule.ledger_from or 0, ledger.revisions[0].opened_at))
    until = schedule.settled_until
    ticks = await _ticks(storage, ledger, after, until)
    if ticks:
        # A range is checked as a whole, so its first moments are looked at as well.
        after = min(after, Instant(ticks[0].scheduled_for - 1))
    timetable = Timetable(schedule.id, ledger.revisions, ledger.pauses)
    planned = [tick for tick in ledger.planned if tick.scheduled_for > after]
    findings = audit(timetable, ticks, planned, after=after, until=until) + await _beyond(storage, ledger)
    if ledger.deleted_at is None:
        findings += asleep(schedule, timetable, ledger.planned)
    missing = await _runs_missing(storage, ledger, ticks)
    return Report(schedule.id, sum(tick.count for tick in ticks), findings, missing)


async def _ticks(storage: Storage, ledger: Ledger, after: Instant, until: Instant) -> list[TickRecord]:
    """The rows that touch (after, until], each once, in order."""
    read = partial(storage.schedules.ticks, ledger.schedule.uid)
    # Reading on from a moment leaves out the row that begins there, though it may be a range that goes on.
    begun = await read(after=Instant(after - 1), until=after, limit=2)
    rows = {row.scheduled_for: row for row in begun if row.until > after}
    while page := await read(after=after, until=until, limit=_ROWS):
        rows |= {row.scheduled_for: row for row in page}
        after = page[-1].scheduled_for
    return list(rows.values())


async def _beyond(storage: Storage, ledger: Ledger) -> list[Finding]:
    """Rows behind the watermark, as it is after they were read: a scheduler may have moved it on meanwhile."""
    uid, watermark = ledger.schedule.uid, ledger.schedule.settled_until
    ticks = await storage.schedules.ticks(uid, after=watermark, until=LATEST, limit=_ROWS)
    if not beyond(ticks, watermark):
        return []
    now = await storage.schedules.ledgers(ids=[ledger.schedule.id])
    current = [other.schedule.settled_until for other in now if other.schedule.uid == uid]
    return beyond(ticks, max(current, default=watermark))


async def _runs_missing(storage: Storage, ledger: Ledger, ticks: Iterable[TickRecord]) -> list[RunId]:
    """Runs that a tick names and that are gone although retention would have taken an older one first.

    The oldest runs of a job go first, by number and by age: where one is left that was over before the tick fired,
    no later one can have been removed in good order.
    """
    targets = {revision.number: revision.spec.target for revision in ledger.revisions}
    named = {tick.run_id: tick for tick in ticks if tick.outcome is TickOutcome.RAN and tick.run_id is not None}
    finished = await _finished(storage, list(named))
    earliest: dict[JobId | None, Instant] = {}
    missing: list[RunId] = []
    for run_id, tick in sorted(named.items()):
        target = targets.get(tick.revision)
        if run_id not in finished:
            if earliest.get(target, LATEST) <= tick.fire_at:
                missing.append(run_id)
        elif (over_at := finished[run_id]) is not None:
            earliest[target] = min(over_at, earliest.get(target, LATEST))
    return missing


async def _finished(storage: Storage, run_ids: Sequence[RunId]) -> dict[RunId, Instant | None]:
    """Those of the runs that are there, and when they were over."""
    finished: dict[RunId, Instant | None] = {}
    for start in range(0, len(run_ids), _ROWS):
        found = await storage.runs.get(run_ids[start : start + _ROWS])
        finished |= {run_id: run.finished_at for run_id, run in found.items()}
    return finished
