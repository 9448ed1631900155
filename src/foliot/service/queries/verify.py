"""Checks the ledger of every schedule against what was planned, and against the runs that were made.

Everything is read in pages, which are judged and let go, and nothing that is older than asked for: how much memory it
takes does not depend on how long a ledger is. Others may be at work meanwhile: what seems wrong is looked at a second
time, and only what is still wrong then is told.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from typing import Final, NamedTuple

from foliot.domain.audit import AuditInput, Fault, Finding, LaunchedRun, LedgerCheck, Page
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import LATEST, Instant
from foliot.domain.run.run import Run
from foliot.domain.schedule.tick import TickRecord
from foliot.domain.schedule.timetable import Timetable
from foliot.errors import FoliotError, InvalidInput, RowUnreadable
from foliot.ports.runs import RunFilter
from foliot.ports.schedules import Ledger
from foliot.ports.storage import Storage
from foliot.service.queries.unreadable_rows import unreadable_rows

_PAGE: int = 200
_ROWS: int = 1_000
_RUNS: int = 200
_OLDER: Final = 200
"""So many runs from before the time that is looked at tell what retention has left."""
_OF_RUNS: Final = ("run", "execution")


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


class LedgerQueries:
    """Checks what is stored."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def verify(self, since: Instant) -> AsyncIterator[Report]:
        """A report about each schedule, then one about each row that belongs to no ledger and cannot be read."""
        async for report in verify(self._storage, since):
            yield report
        async for report in verify_rows(self._storage, since):
            yield report


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
    """A report about each row that cannot be read and belongs to no ledger."""
    async for error in unreadable_rows(storage, since):
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
        judge = await _judge(storage, sight, since)
        return Report(schedule.id, judge.ticks, judge.findings())
    except (RowUnreadable, InvalidInput, ValueError) as error:
        return Report(schedule.id, 0, [_unreadable(error, since, schedule.settled_until)])


def _unreadable(error: Exception, first: Instant, last: Instant) -> Finding:
    run_id = RunId(error.name) if isinstance(error, RowUnreadable) and error.kind in _OF_RUNS else None
    fact = error.message if isinstance(error, FoliotError) else str(error)
    return Finding(Fault.UNREADABLE, first, last, 1, run_id, fact)


async def _judge(storage: Storage, sight: _Sight, since: Instant) -> LedgerCheck:
    """One that has seen everything."""
    account = await _account(storage, sight, since)
    uid = account.schedule.uid
    judge = LedgerCheck(account, await storage.schedules.shared_runs(uid, after=account.after))
    async for runs in _runs(storage, account):
        launched = [_launched(run) for run in runs]
        judge.read_runs(launched, await _rows_of(storage, uid, launched))
    async for ticks in _pages(storage, uid, account.after):
        judge.read(await _page_of(storage, uid, ticks))
    return judge


async def _account(storage: Storage, sight: _Sight, since: Instant) -> AuditInput:
    ledger, now = sight
    schedule, deleted_at, revisions, pauses, planned = ledger
    after = Instant(max(since, (schedule.ledger_from or 0) - 1))
    if begun := await _begun(storage, schedule.uid, after):
        # A range is checked as a whole, so its first moments are looked at as well.
        after = Instant(begun.scheduled_for - 1)
    timetable = Timetable(schedule.id, revisions, pauses)
    has_older = await _has_older(storage, ledger, since)
    return AuditInput(schedule, deleted_at, timetable, planned, after, now, has_older)


async def _begun(storage: Storage, uid: ScheduleUid, moment: Instant) -> TickRecord | None:
    """The row that began by that moment and goes on behind it."""
    # Reading on from a moment leaves out the row that begins there, though it may be a range that goes on.
    rows = await storage.schedules.ticks(uid, after=Instant(moment - 1), until=moment, limit=2)
    rows += await storage.schedules.ticks(uid, after=moment, until=LATEST, limit=1)
    return next((row for row in rows if row.scheduled_for <= moment < row.until), None)


async def _pages(storage: Storage, uid: ScheduleUid, after: Instant) -> AsyncIterator[list[TickRecord]]:
    """The rows that begin behind `after`, each once, in order."""
    place = after
    while page := await storage.schedules.ticks(uid, after=place, until=LATEST, limit=_ROWS):
        if ticks := [tick for tick in page if tick.scheduled_for > after]:
            yield ticks
        if len(page) < _ROWS:
            break
        place = page[-1].scheduled_for


async def _page_of(storage: Storage, uid: ScheduleUid, ticks: Sequence[TickRecord]) -> Page:
    first, last = ticks[0].scheduled_for, ticks[-1].scheduled_for
    keys = await storage.schedules.tick_keys(uid, after=Instant(first - 1), until=last, limit=len(ticks))
    named = [tick.run_id for tick in ticks if tick.run_id is not None]
    runs: dict[RunId, LaunchedRun] = {}
    for start in range(0, len(named), _RUNS):
        found = await storage.runs.get(named[start : start + _RUNS])
        runs |= {run_id: _launched(run) for run_id, run in found.items()}
    return Page(ticks, dict(keys), runs)


async def _has_older(storage: Storage, ledger: Ledger, since: Instant) -> bool:
    """Whether there is a row, not older than asked for, that ends before the ledger is said to begin."""
    begins = ledger.schedule.ledger_from
    if begins is None:
        return False
    rows = await storage.schedules.ticks(ledger.schedule.uid, after=since, until=Instant(begins - 1), limit=1)
    return any(row.until < begins for row in rows)


async def _runs(storage: Storage, account: AuditInput) -> AsyncIterator[list[Run]]:
    """The runs of the schedule, newest first, and a few that are older than what is looked at."""
    oldest = account.after - max(revision.spec.early for revision in account.timetable.revisions)
    older = _OLDER
    only = RunFilter(schedule_id=account.schedule.id, limit=_RUNS)
    while older > 0 and (page := await storage.runs.page(only)):
        yield _within(page, oldest, older)
        older -= sum(run.created_at < oldest for run in page)
        if len(page) < _RUNS:
            break
        only = only._replace(before=page[-1].id)


def _within(runs: Iterable[Run], oldest: int, older: int) -> list[Run]:
    """Those up to the last of so many that are older."""
    kept: list[Run] = []
    for run in runs:
        older -= run.created_at < oldest
        if older < 0:
            break
        kept.append(run)
    return kept


async def _rows_of(storage: Storage, uid: ScheduleUid, runs: Collection[LaunchedRun]) -> dict[Instant, TickRecord]:
    """The rows that begin at the moments of these runs; others may be among them.

    The moments mostly follow each other, so that one look finds the rows of many.
    """
    moments = sorted({run.tick.scheduled_for for run in runs if run.tick is not None and run.tick.uid == uid})
    rows: dict[Instant, TickRecord] = {}
    while moments:
        first, last = Instant(moments[0] - 1), moments[-1]
        page = await storage.schedules.ticks(uid, after=first, until=last, limit=len(moments) + 1)
        rows |= {row.scheduled_for: row for row in page}
        if len(page) <= len(moments):
            break
        moments = [moment for moment in moments if moment > page[-1].scheduled_for]
    return rows


def _launched(run: Run) -> LaunchedRun:
    return LaunchedRun(run.id, run.job_id, run.tick, run.finished_at, run.unreadable is None)
