"""Checks the ledger of every schedule against what was planned, and against the runs that were made.

Everything is read in pages, and nothing that is older than asked for. Others may be at work meanwhile: what seems wrong
is looked at a second time, and only what is still wrong then is told.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from functools import partial
from typing import NamedTuple

from foliot.domain.audit import Account, Fault, Finding, Launched, judge
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import LATEST, Instant
from foliot.domain.run import Run
from foliot.domain.tick import TickRecord
from foliot.domain.timetable import Timetable
from foliot.errors import FoliotError, InvalidInput, RowUnreadable
from foliot.ports.runs import RunFilter
from foliot.ports.schedules import Ledger
from foliot.ports.storage import Storage
from foliot.service.unreadable import unreadable_rows

_PAGE = 200
_ROWS = 10_000
_RUNS = 200
_OF_RUNS = ("run", "execution")


class Report(NamedTuple):
    """What `verify` found about one schedule. `ticks` counts moments, ranges included.

    No schedule: it is about a row of something else.
    """

    schedule_id: ScheduleId | None
    ticks: int
    findings: list[Finding]

    @property
    def is_sound(self) -> bool:
        return not self.findings


async def verify(storage: Storage, since: Instant) -> AsyncIterator[Report]:
    """Go through all schedules, those deleted included, and compare their ticks after `since` with their rules."""
    before: ScheduleUid | None = None
    while page := await _page(storage, before, _PAGE):
        if page[-1].uid == before:
            return  # a uid that is not text is found again behind itself
        for sight in page:
            report = await _look(storage, sight, since)
            if not report.is_sound:
                report = await _look_again(storage, before, sight.uid, since, report)
            yield report
            before = sight.uid


async def verify_rows(storage: Storage, since: Instant) -> AsyncIterator[Report]:
    """A report about each row that cannot be read and belongs to no schedule."""
    async for error in unreadable_rows(storage):
        yield Report(None, 0, [_unreadable(error, since, since)])


class _Sight(NamedTuple):
    """A ledger as it was, shortly before `now`."""

    ledger: Ledger
    now: Instant

    @property
    def uid(self) -> ScheduleUid:
        return self.ledger.schedule.uid


class _Blur(NamedTuple):
    """A ledger of which a row cannot be read."""

    error: RowUnreadable

    @property
    def uid(self) -> ScheduleUid:
        return ScheduleUid(self.error.uid)


async def _page(storage: Storage, after: ScheduleUid | None, limit: int) -> Sequence[_Sight | _Blur]:
    """The next ledgers. One that cannot be read makes the page shorter, and in the end a page of its own."""
    try:
        return await _ledgers(storage, after, limit)
    except RowUnreadable as error:
        return [_Blur(error)] if limit == 1 else await _page(storage, after, limit // 2)


async def _ledgers(storage: Storage, after: ScheduleUid | None, limit: int) -> list[_Sight]:
    page = await storage.schedules.ledgers(after=after, limit=limit)
    now = (await storage.schedules.due(0)).now
    return [_Sight(ledger, now) for ledger in page]


async def _look_again(
    storage: Storage, before: ScheduleUid | None, uid: ScheduleUid, since: Instant, report: Report
) -> Report:
    """What a second look, with everything read anew, finds as well."""
    again = await _page(storage, before, 1)
    if not again or again[0].uid != uid:
        return report._replace(findings=[])  # it has been removed
    second = await _look(storage, again[0], since)
    known = {(finding.fault, finding.first) for finding in report.findings}
    return second._replace(findings=[found for found in second.findings if (found.fault, found.first) in known])


async def _look(storage: Storage, sight: _Sight | _Blur, since: Instant) -> Report:
    if isinstance(sight, _Blur):
        return Report(ScheduleId(sight.error.schedule_id), 0, [_unreadable(sight.error, since, since)])
    schedule = sight.ledger.schedule
    if not sight.ledger.revisions:
        return Report(schedule.id, 0, [Finding(Fault.WRONG_RULE, schedule.created_at, schedule.settled_until, 1)])
    try:
        account = await _account(storage, sight, since)
        return Report(schedule.id, sum(tick.count for tick in account.settled), judge(account))
    except (RowUnreadable, InvalidInput, ValueError) as error:
        return Report(schedule.id, 0, [_unreadable(error, since, schedule.settled_until)])


def _unreadable(error: Exception, first: Instant, last: Instant) -> Finding:
    run_id = RunId(error.name) if isinstance(error, RowUnreadable) and error.kind in _OF_RUNS else None
    fact = error.message if isinstance(error, FoliotError) else str(error)
    return Finding(Fault.UNREADABLE, first, last, 1, run_id, fact)


async def _account(storage: Storage, sight: _Sight, since: Instant) -> Account:
    ledger, now = sight
    schedule, deleted_at, revisions, pauses, planned = ledger
    after = Instant(max(since, (schedule.ledger_from or 0) - 1))
    ticks = await _ticks(storage, schedule.uid, after)
    if ticks:
        # A range is checked as a whole, so its first moments are looked at as well.
        after = min(after, Instant(ticks[0].scheduled_for - 1))
    return Account(
        schedule,
        deleted_at,
        Timetable(schedule.id, revisions, pauses),
        planned,
        ticks,
        keys=await _keys(storage, schedule.uid, after),
        runs=await _runs(storage, ledger, ticks, after),
        after=after,
        now=now,
        has_older=await _has_older(storage, ledger, since),
    )


async def _ticks(storage: Storage, uid: ScheduleUid, after: Instant) -> list[TickRecord]:
    """The rows that reach beyond `after`, each once, in order."""
    read = partial(storage.schedules.ticks, uid)
    # Reading on from a moment leaves out the row that begins there, though it may be a range that goes on.
    begun = await read(after=Instant(after - 1), until=after, limit=2)
    rows = {row.scheduled_for: row for row in begun if row.until > after}
    page = await read(after=after, until=LATEST, limit=_ROWS)
    rows |= {row.scheduled_for: row for row in page}
    while len(page) == _ROWS:
        page = await read(after=page[-1].scheduled_for, until=LATEST, limit=_ROWS)
        rows |= {row.scheduled_for: row for row in page}
    return list(rows.values())


async def _keys(storage: Storage, uid: ScheduleUid, after: Instant) -> dict[Instant, str]:
    read = partial(storage.schedules.tick_keys, uid, until=LATEST, limit=_ROWS)
    page = await read(after=after)
    keys = dict(page)
    while len(page) == _ROWS:
        page = await read(after=page[-1][0])
        keys |= page
    return keys


async def _has_older(storage: Storage, ledger: Ledger, since: Instant) -> bool:
    """Whether there is a row, not older than asked for, that ends before the ledger is said to begin."""
    begins = ledger.schedule.ledger_from
    if begins is None:
        return False
    rows = await storage.schedules.ticks(ledger.schedule.uid, after=since, until=Instant(begins - 1), limit=1)
    return any(row.until < begins for row in rows)


async def _runs(
    storage: Storage, ledger: Ledger, ticks: Collection[TickRecord], after: Instant
) -> dict[RunId, Launched]:
    """The runs of the schedule, newest first, back to one that is older than `after`; and all that ticks name."""
    runs: dict[RunId, Launched] = {}
    early = max(revision.spec.early for revision in ledger.revisions)
    only = RunFilter(schedule_id=ledger.schedule.id, limit=_RUNS)
    while page := await storage.runs.page(only):
        runs |= _launched(page)
        if len(page) < _RUNS or page[-1].created_at < after - early:
            break
        only = only._replace(before=page[-1].id)
    others = [tick.run_id for tick in ticks if tick.run_id is not None and tick.run_id not in runs]
    for start in range(0, len(others), _RUNS):
        runs |= _launched((await storage.runs.get(others[start : start + _RUNS])).values())
    return runs


def _launched(runs: Collection[Run]) -> dict[RunId, Launched]:
    return {run.id: Launched(run.id, run.job_id, run.tick, run.finished_at) for run in runs}
