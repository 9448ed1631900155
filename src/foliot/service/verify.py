"""Checks the ledger of every schedule against what was planned."""

from collections.abc import AsyncIterator, Iterable
from typing import NamedTuple

from foliot.domain.audit import Finding, audit
from foliot.domain.ids import RunId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.tick import TickOutcome, TickRecord
from foliot.domain.timetable import Timetable
from foliot.ports.storage import Ledger, Storage

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
    after = max(since, schedule.ledger_from or 0, ledger.revisions[0].opened_at)
    until = schedule.settled_until
    ticks = [tick async for tick in _ticks(storage, ledger, Instant(after), until)]
    timetable = Timetable(schedule.id, ledger.revisions, ledger.pauses)
    planned = [tick for tick in ledger.planned if tick.scheduled_for > after]
    findings = audit(timetable, ticks, planned, after=Instant(after), until=until)
    return Report(schedule.id, sum(tick.count for tick in ticks), findings, await _runs_missing(storage, ticks))


async def _ticks(storage: Storage, ledger: Ledger, after: Instant, until: Instant) -> AsyncIterator[TickRecord]:
    uid = ledger.schedule.uid
    while rows := await storage.schedules.ticks(uid, after=after, until=until, limit=_ROWS):
        for row in rows:
            yield row
        if len(rows) < _ROWS:
            return
        after = rows[-1].scheduled_for


async def _runs_missing(storage: Storage, ticks: Iterable[TickRecord]) -> list[RunId]:
    """Runs that a tick names and that are not there."""
    named = [tick.run_id for tick in ticks if tick.outcome is TickOutcome.RAN and tick.run_id is not None]
    missing: list[RunId] = []
    for start in range(0, len(named), _ROWS):
        part = named[start : start + _ROWS]
        found = await storage.runs.get(part)
        missing += [run_id for run_id in part if run_id not in found]
    return missing
