"""Reads of the newest rows of the ledgers.

    one schedule      the rows by index, up to the limit
    several           first the newest row of each, then the rows of those schedules that can be on the page

Rows with the outcome `ran` are the rule and are found by their times. All others have an index by outcome, so that the
last missed tick of a year is found at once.
"""

from collections.abc import Mapping
from typing import Final

from foliot.adapters.storage.shared.reads import Query, Read
from foliot.adapters.storage.shared.rows import ledger_row_of
from foliot.adapters.storage.shared.run_reads import RunReads
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.run.run import Run, Status
from foliot.domain.schedule.tick import TickOutcome
from foliot.ports.pages import RunFilter
from foliot.ports.ticks import LedgerRow, ListedTick, TickFilter, TickPage

_ANY: Final = ""
_SCHEDULES: Final = 1_000
_FAILED: Final = (Status.FAILED, Status.TIMEOUT)
_FAILED_RUNS: Final = 500
"""Among so many of the newest failed runs of each status, those of the page are looked for."""

Names = Mapping[ScheduleUid, ScheduleId]
Found = dict[tuple[ScheduleUid, int], LedgerRow]


class TickReads:
    """Reads of one project."""

    def __init__(self, project: str, runs: RunReads) -> None:
        self._project = project
        self._runs = runs

    def page(self, only: TickFilter) -> Read[TickPage | None]:
        names = yield from self._schedules(only.name)
        return None if names is None else (yield from self._page(names, only))

    def newest(self, names: Names, limit: int) -> Read[TickPage]:
        """Return the newest rows of these schedules."""
        return (yield from self._page(names, TickFilter(limit=limit)))

    def _page(self, names: Names, only: TickFilter) -> Read[TickPage]:
        found: Found = {}
        if only.has_failed_run:
            found |= yield from self._of_failed_runs(names, only)
        for outcome in only.outcomes or (() if only.has_failed_run else (_ANY,)):
            found |= yield from self._of_outcome(names, outcome, only)
        newest = sorted(found, key=lambda key: (-key[1], names[key[0]]))[: only.limit]
        ticks = [ListedTick(names[uid], found[uid, planned]) for uid, planned in newest]
        run_ids = [tick.row.record.run_id for tick in ticks if tick.row.record.run_id is not None]
        return TickPage(ticks, (yield from self._runs.get(run_ids)).runs)

    def _schedules(self, name: str | None) -> Read[dict[ScheduleUid, ScheduleId] | None]:
        """Return the schedules of a job or workflow, else the schedule with that name; all, without a name."""
        if name is None:
            rows = yield Query("living_schedules", (self._project,))
            return {row[0]: row[1] for row in rows}
        if not (yield Query("get_jobs", (self._project, [name]))):
            rows = yield Query("get_schedules", (self._project, [name]))
            return {row[0]: row[1] for row in rows} or None
        found: dict[ScheduleUid, ScheduleId] = {}
        after = ""
        while rows := (yield Query("list_schedules_of_job", (self._project, name, after, _SCHEDULES))):
            found |= {row[0]: row[1] for row in rows}
            after = rows[-1][1]
        return found

    def _of_outcome(self, names: Names, outcome: str, only: TickFilter) -> Read[Found]:
        search = "search_ticks" if outcome in (_ANY, TickOutcome.RAN) else "search_outcome"
        found: Found = {}
        uids, since = yield from self._candidates(names, outcome, only)
        for uid in uids:
            rows = yield Query(search, (uid, outcome, since, only.until, only.limit))
            found |= {(uid, row[0]): ledger_row_of(row) for row in rows}
        return found

    def _candidates(self, names: Names, outcome: str, only: TickFilter) -> Read[tuple[list[ScheduleUid], Instant]]:
        """Return the schedules whose rows can be on the page, at most as many as it has rows, and since when."""
        if len(names) <= 1:
            return list(names), only.since
        query = "newest_ticks" if outcome in (_ANY, TickOutcome.RAN) else "newest_outcomes"
        rows = yield Query(query, (list(names), outcome, only.until))
        newest = sorted(rows, key=lambda row: row[1], reverse=True)[: only.limit]
        # If the newest rows alone fill the page, no row before the last of them is on it.
        since = max(only.since, newest[-1][1]) if len(newest) == only.limit else only.since
        return [uid for uid, _ in newest], since

    def _of_failed_runs(self, names: Names, only: TickFilter) -> Read[Found]:
        runs: list[Run] = []
        for status in _FAILED:
            # The runs of one schedule have an index of their own.
            schedule_id = next(iter(names.values())) if len(names) == 1 else None
            runs += yield from self._runs.page(RunFilter(schedule_id=schedule_id, status=status, limit=_FAILED_RUNS))
        ticks = [run.tick for run in runs if run.tick is not None]
        keys = [(one.uid, one.scheduled_for) for one in ticks if one.uid in names]
        wanted = [(uid, planned) for uid, planned in keys if only.since <= planned <= only.until]
        values = ([uid for uid, _ in wanted], [planned for _, planned in wanted])
        rows = (yield Query("ticks_at", values)) if wanted else ()
        return {(row[0], row[1]): ledger_row_of(row[1:]) for row in rows}
