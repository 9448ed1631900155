"""Checks the ledger of every schedule against its planned ticks and against the runs that were created.

Ledgers are read in pages from `since` on, so memory use does not depend on their length. Most are short and sound: they
are read many at once, and those without findings are done. The others are read one by one. Other processes may write
at the same time: a ledger with findings is read a second time, and only findings that both reads have are reported.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from foliot.domain.audit import AuditInput, Fault, Finding, LaunchedRun, LedgerCheck, Page
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import LATEST, Instant, from_datetime
from foliot.domain.run.run import Run
from foliot.domain.schedule.tick import TickRecord
from foliot.errors import FoliotError, InvalidInput, RowUnreadable
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.ports.ticks import ScheduleLedger
from foliot.service.queries.short_ledger import count_if_sound
from foliot.service.queries.unreadable_rows import unreadable_rows
from foliot.service.queries.verified import FindingView, Verified, view_finding

_PAGE: int = 200
_SHORT: int = 100
"""Ledgers with at most so many recent rows are read together, a page at a time."""
_ROWS: int = 1_000
_RUNS: int = 200
_OLDER: Final = 200
"""How many runs older than the checked period are read, to see which ones retention has removed."""
_RUN_KINDS: Final = ("run", "execution")


class Report(NamedTuple):
    """The findings about one schedule, or about another row if `schedule_id` is None. `ticks` counts planned times,
    those in ranges included."""

    schedule_id: ScheduleId | None
    ticks: int
    findings: list[Finding]

    @property
    def is_sound(self) -> bool:
        return not self.findings


class LedgerQueries:
    """Checks the stored rows."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def verify(self, since: Instant) -> AsyncIterator[Report]:
        """Yield a report about each schedule, then one about each unreadable row that belongs to no ledger."""
        async for report in verify(self._storage, since):
            yield report
        async for report in verify_rows(self._storage, since):
            yield report

    async def verified(
        self,
        since: datetime,
        *,
        most: int | None = None,
        progress: Callable[[int, int], None] = lambda schedules, ticks: None,
    ) -> Verified:
        """Check everything and return the result, with at most `most` findings. `progress` is called with the numbers
        of schedules and ticks so far."""
        findings: list[FindingView] = []
        schedules = ticks = unsound = others = faults = 0
        async for report in self.verify(from_datetime(since)):
            is_ledger = report.schedule_id is not None
            schedules += is_ledger
            ticks += report.ticks
            unsound += is_ledger and not report.is_sound
            others += not is_ledger
            faults += len(report.findings)
            left = None if most is None else most - len(findings)
            findings += [view_finding(report.schedule_id, one) for one in report.findings[:left]]
            progress(schedules, ticks)
        return Verified(
            is_sound=not faults,
            schedules=schedules,
            ticks=ticks,
            unsound_schedules=unsound,
            other_rows=others,
            faults=faults,
            findings=findings,
        )


async def verify(storage: Storage, since: Instant) -> AsyncIterator[Report]:
    """Compare the ticks of all schedules after `since` with their rules. Deleted schedules are included."""
    before: ScheduleUid | None = None
    while page := await _page(storage, before, _PAGE):
        if page[-1].uid == before:
            return  # the uid of a corrupt row is not text, and its text form sorts before it
        sound = await _sound(storage, [one for one in page if isinstance(one, _Snapshot)], since)
        for snapshot in page:
            report = sound.get(snapshot.uid) or await _check(storage, snapshot, since)
            if not report.is_sound:
                report = await _recheck(storage, before, snapshot.uid, since, report)
            yield report
            before = snapshot.uid


async def verify_rows(storage: Storage, since: Instant) -> AsyncIterator[Report]:
    """Yield a report about each unreadable row that belongs to no ledger."""
    async for error in unreadable_rows(storage, since):
        yield Report(None, 0, [_unreadable(error, since, since)])


class _Snapshot(NamedTuple):
    """A ledger as it was read, shortly before `now`."""

    ledger: ScheduleLedger
    now: Instant

    @property
    def uid(self) -> ScheduleUid:
        return self.ledger.schedule.uid


class _UnreadableLedger(NamedTuple):
    """A ledger with a row that cannot be read."""

    error: RowUnreadable

    @property
    def uid(self) -> ScheduleUid:
        return ScheduleUid(self.error.uid)


async def _page(storage: Storage, after: ScheduleUid | None, limit: int) -> Sequence[_Snapshot | _UnreadableLedger]:
    """Return the next ledgers. The page is halved until an unreadable ledger is alone on it."""
    try:
        return await _snapshots(storage, after, limit)
    except RowUnreadable as error:
        return [_UnreadableLedger(error)] if limit == 1 else await _page(storage, after, limit // 2)


async def _snapshots(storage: Storage, after: ScheduleUid | None, limit: int) -> list[_Snapshot]:
    page = await storage.queries.ledgers(after=after, limit=limit)
    now = (await storage.ledger.due(0)).now
    return [_Snapshot(ledger, now) for ledger in page]


async def _sound(storage: Storage, page: Sequence[_Snapshot], since: Instant) -> dict[ScheduleUid, Report]:
    """Return the reports about short ledgers without findings: their rows are read together."""
    early = max((revision.spec.early for one in page for revision in one.ledger.revisions), default=0)
    created_since = Instant(since - early)
    names = {one.uid: one.ledger.schedule.id for one in page}
    recent = await storage.queries.recent_rows(names, since=since, created_since=created_since, limit=_SHORT)
    reports: dict[ScheduleUid, Report] = {}
    for ledger, now in page:
        schedule = ledger.schedule
        if schedule.uid in recent and ledger.revisions:
            ticks = count_if_sound(ledger, now, recent[schedule.uid], since, created_since)
            if ticks is not None:
                reports[schedule.uid] = Report(schedule.id, ticks, [])
    return reports


async def _recheck(
    storage: Storage, before: ScheduleUid | None, uid: ScheduleUid, since: Instant, report: Report
) -> Report:
    """Read the ledger again and return the findings that both reads have."""
    page = await _page(storage, before, 1)
    if not page or page[0].uid != uid:
        return report._replace(findings=[])  # it has been removed
    second = await _check(storage, page[0], since)
    known = {(finding.fault, finding.first) for finding in report.findings}
    return second._replace(findings=[found for found in second.findings if (found.fault, found.first) in known])


async def _check(storage: Storage, snapshot: _Snapshot | _UnreadableLedger, since: Instant) -> Report:
    if isinstance(snapshot, _UnreadableLedger):
        return Report(ScheduleId(snapshot.error.schedule_id), 0, [_unreadable(snapshot.error, since, since)])
    schedule = snapshot.ledger.schedule
    if not snapshot.ledger.revisions:
        return Report(schedule.id, 0, [Finding(Fault.WRONG_RULE, schedule.created_at, schedule.settled_until, 1)])
    try:
        check = await _ledger_check(storage, snapshot, since)
        return Report(schedule.id, check.ticks, check.findings())
    except (RowUnreadable, InvalidInput, ValueError) as error:
        return Report(schedule.id, 0, [_unreadable(error, since, schedule.settled_until)])


def _unreadable(error: Exception, first: Instant, last: Instant) -> Finding:
    run_id = RunId(error.name) if isinstance(error, RowUnreadable) and error.kind in _RUN_KINDS else None
    fact = error.message if isinstance(error, FoliotError) else str(error)
    return Finding(Fault.UNREADABLE, first, last, 1, run_id, fact)


async def _ledger_check(storage: Storage, snapshot: _Snapshot, since: Instant) -> LedgerCheck:
    """Return a check that has read the whole ledger and its runs."""
    audit = await _audit_input(storage, snapshot, since)
    uid = audit.schedule.uid
    check = LedgerCheck(audit, await storage.queries.shared_runs(uid, after=audit.after))
    async for runs in _runs(storage, audit):
        launched = [_launched(run) for run in runs]
        check.read_runs(launched, await _rows_of(storage, uid, launched))
    async for ticks in _pages(storage, uid, audit.after):
        check.read(await _page_of(storage, uid, ticks))
    return check


async def _audit_input(storage: Storage, snapshot: _Snapshot, since: Instant) -> AuditInput:
    ledger, now = snapshot
    schedule = ledger.schedule
    after = Instant(max(since, (schedule.ledger_from or 0) - 1))
    if row := await _row_across(storage, schedule.uid, after):
        # A range is checked as a whole, so the part before `since` is included.
        after = Instant(row.scheduled_for - 1)
    has_older = await _has_older(storage, ledger, since)
    return AuditInput(schedule, ledger.deleted_at, ledger.timetable, ledger.planned, after, now, has_older)


async def _row_across(storage: Storage, uid: ScheduleUid, moment: Instant) -> TickRecord | None:
    """Return the row that begins at or before `moment` and ends after it."""
    # A read after `moment` leaves out the row that begins exactly there, which may be a range.
    rows = await storage.queries.ticks(uid, after=Instant(moment - 1), until=moment, limit=2)
    rows += await storage.queries.ticks(uid, after=moment, until=LATEST, limit=1)
    return next((row for row in rows if row.scheduled_for <= moment < row.until), None)


async def _pages(storage: Storage, uid: ScheduleUid, after: Instant) -> AsyncIterator[list[TickRecord]]:
    """Yield the rows that begin after `after`, each once, in order."""
    place = after
    while page := await storage.queries.ticks(uid, after=place, until=LATEST, limit=_ROWS):
        if ticks := [tick for tick in page if tick.scheduled_for > after]:
            yield ticks
        if len(page) < _ROWS:
            break
        place = page[-1].scheduled_for


async def _page_of(storage: Storage, uid: ScheduleUid, ticks: Sequence[TickRecord]) -> Page:
    first, last = ticks[0].scheduled_for, ticks[-1].scheduled_for
    keys = await storage.queries.tick_keys(uid, after=Instant(first - 1), until=last, limit=len(ticks))
    named = [tick.run_id for tick in ticks if tick.run_id is not None]
    runs: dict[RunId, LaunchedRun] = {}
    for start in range(0, len(named), _RUNS):
        found = await storage.queries.get_runs(named[start : start + _RUNS])
        runs |= {run_id: _launched(run) for run_id, run in found.items()}
    return Page(ticks, dict(keys), runs)


async def _has_older(storage: Storage, ledger: ScheduleLedger, since: Instant) -> bool:
    """Return whether a row after `since` ends before the recorded beginning of the ledger."""
    begins = ledger.schedule.ledger_from
    if begins is None:
        return False
    rows = await storage.queries.ticks(ledger.schedule.uid, after=since, until=Instant(begins - 1), limit=1)
    return any(row.until < begins for row in rows)


async def _runs(storage: Storage, audit: AuditInput) -> AsyncIterator[list[Run]]:
    """Yield the runs of the schedule in the checked period, newest first, and up to `_OLDER` older ones."""
    oldest = audit.after - max(revision.spec.early for revision in audit.timetable.revisions)
    older = _OLDER
    only = RunFilter(schedule_id=audit.schedule.id, limit=_RUNS)
    while older > 0 and (page := await storage.queries.page_runs(only)):
        yield _within(page, oldest, older)
        older -= sum(run.created_at < oldest for run in page)
        if len(page) < _RUNS:
            break
        only = only._replace(before=page[-1].id)


def _within(runs: Iterable[Run], oldest: int, older: int) -> list[Run]:
    """Return the runs up to the last of `older` runs that were created before `oldest`."""
    kept: list[Run] = []
    for run in runs:
        older -= run.created_at < oldest
        if older < 0:
            break
        kept.append(run)
    return kept


async def _rows_of(storage: Storage, uid: ScheduleUid, runs: Collection[LaunchedRun]) -> dict[Instant, TickRecord]:
    """Return the rows that begin at the planned times of these runs. Other rows may be among them.

    The planned times are mostly consecutive, so that one read finds the rows of many.
    """
    moments = sorted({run.tick.scheduled_for for run in runs if run.tick is not None and run.tick.uid == uid})
    rows: dict[Instant, TickRecord] = {}
    while moments:
        first, last = Instant(moments[0] - 1), moments[-1]
        page = await storage.queries.ticks(uid, after=first, until=last, limit=len(moments) + 1)
        rows |= {row.scheduled_for: row for row in page}
        if len(page) <= len(moments):
            break
        moments = [moment for moment in moments if moment > page[-1].scheduled_for]
    return rows


def _launched(run: Run) -> LaunchedRun:
    return LaunchedRun(run.id, run.job_id, run.tick, run.finished_at, run.unreadable is None)
