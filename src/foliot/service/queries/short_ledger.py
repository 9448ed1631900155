"""The check of a short ledger whose recent rows and runs are in memory: is it sound?

It finds the same as the check of rows that are read page by page. A ledger that needs more rows is not decided here.
"""

from collections import Counter
from collections.abc import Collection

from foliot.domain.audit import AuditInput, LedgerCheck, Page, RecentRows
from foliot.domain.ids import RunId, first_id_at
from foliot.domain.instant import Instant
from foliot.domain.schedule.tick import TickRecord
from foliot.errors import InvalidInput
from foliot.ports.ticks import ScheduleLedger


def count_if_sound(
    ledger: ScheduleLedger, now: Instant, recent: RecentRows, since: Instant, created_since: Instant
) -> int | None:
    """Return the number of ticks of a sound ledger. None: it may have findings, or other rows are needed to know."""
    begins = ledger.schedule.ledger_from
    after = Instant(max(since, (begins or 0) - 1))
    ticks = [tick for tick in recent.ticks if tick.scheduled_for > after]
    if _has_row_across(recent.ticks, after) or _needs_older_runs(ticks, recent, created_since):
        return None
    has_older = begins is not None and any(since < tick.until < begins for tick in recent.ticks)
    audit = AuditInput(
        ledger.schedule, ledger.deleted_at, ledger.timetable, ledger.planned, after, now, has_older=has_older
    )
    try:
        return _count_if_sound(LedgerCheck(audit, _shared(ticks)), ticks, recent)
    except (InvalidInput, ValueError):
        return None


def _count_if_sound(check: LedgerCheck, ticks: Collection[TickRecord], recent: RecentRows) -> int | None:
    check.read_runs(recent.runs, {tick.scheduled_for: tick for tick in ticks})
    check.read(Page([*ticks], recent.keys, {run.id: run for run in recent.runs}))
    return None if check.findings() else check.ticks


def _has_row_across(ticks: Collection[TickRecord], moment: Instant) -> bool:
    """Return whether a range includes the moment. It is checked as a whole, from its beginning on."""
    return any(tick.scheduled_for <= moment < tick.until for tick in ticks)


def _needs_older_runs(ticks: Collection[TickRecord], recent: RecentRows, created_since: Instant) -> bool:
    """Return whether it depends on older runs if a run was removed by retention, or is missing."""
    stored = {run.id for run in recent.runs}
    are_all_stored = all(tick.run_id is None or tick.run_id in stored for tick in ticks)
    return not are_all_stored and min(stored, default="~") < first_id_at(created_since)


def _shared(ticks: Collection[TickRecord]) -> set[RunId]:
    """Return the runs that more than one row names."""
    named = Counter(tick.run_id for tick in ticks if tick.run_id is not None)
    return {run_id for run_id, count in named.items() if count > 1} if len(named) < named.total() else set()
