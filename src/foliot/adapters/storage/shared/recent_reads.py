"""Reads the recent rows of many ledgers at once, with their runs, for `verify`."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Final

from msgspec import Struct

from foliot.adapters.storage.shared.reads import Query, Read, Rows
from foliot.adapters.storage.shared.row_types import Moment, instant_of, read_row, tick_in
from foliot.adapters.storage.shared.rows import Row, tick_of
from foliot.domain.audit import LaunchedRun, RecentRows
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid, first_id_at
from foliot.domain.instant import Instant
from foliot.errors import RowUnreadable

_RUN_ID: Final = 7
"""The index of the column in a row of the ledger."""


class LaunchedRow(Struct, array_like=True, frozen=True, gc=False):
    id: RunId
    job_id: JobId
    schedule_uid: ScheduleUid | None
    schedule_id: ScheduleId | None
    scheduled_for: Moment | None
    tick_key: str | None
    finished_at: Moment | None


class RecentReads:
    """Reads of one project."""

    def __init__(self, project: str) -> None:
        self._project = project

    def rows(
        self, schedules: Mapping[ScheduleUid, ScheduleId], since: Instant, created_since: Instant, limit: int
    ) -> Read[dict[ScheduleUid, RecentRows]]:
        if not schedules:
            return {}
        uids, names = [*schedules], [*schedules.values()]
        ticks = _by_uid((yield Query("recent_ticks", (uids, since, limit))))
        values = (self._project, uids, names, first_id_at(created_since), limit)
        runs = _by_uid((yield Query("recent_runs", values)))
        short = [uid for uid in uids if max(len(ticks.get(uid, ())), len(runs.get(uid, ()))) <= limit]
        known = {row[0] for rows in runs.values() for row in rows}
        others = {row[_RUN_ID] for uid in short for row in ticks.get(uid, ())} - known - {None}
        named = {row[0]: row for row in ((yield Query("launched_runs", (sorted(others),))) if others else ())}
        found: dict[ScheduleUid, RecentRows] = {}
        for uid in short:
            own = ticks.get(uid, ())
            older = [named[row[_RUN_ID]] for row in own if row[_RUN_ID] in named]
            if (rows := _read(own, [*runs.get(uid, ()), *older])) is not None:
                found[uid] = rows
        return found


def _by_uid(rows: Rows) -> dict[ScheduleUid, Rows]:
    """Return the rows of each schedule, without the uid column."""
    return {uid: [row[1:] for row in group] for uid, group in groupby(rows, key=lambda row: row[0])}


def _read(ticks: Iterable[Row], runs: Iterable[Row]) -> RecentRows | None:
    """Decode the rows of one schedule. None: one of them cannot be read."""
    try:
        records = [tick_of(row[:-1]) for row in ticks]
        launched = {row[0]: _launched(row) for row in runs}
    except (RowUnreadable, ValueError):
        return None
    keys = {Instant(row[0]): row[-1] for row in ticks if row[-1] is not None}
    return RecentRows(records, keys, [launched[run_id] for run_id in sorted(launched, reverse=True)])


def _launched(row: Row) -> LaunchedRun:
    known = read_row(LaunchedRow, row, "run", row[0])
    return LaunchedRun(known.id, known.job_id, tick_in(known), instant_of(known.finished_at))
