"""Chooses which history retention removes, one piece per call.

    Round.runs --yields a request--> the adapter queries its database --sends the result--> Round.runs ... returns ids

This module reads nothing itself. It decides which scan runs next, how much room is left in a piece, and when a round is
complete, for the blocking adapter and for the asynchronous one. `removable_before` limits how much of a ledger may be
removed.
"""

from collections.abc import Generator, Mapping, Sequence
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from foliot.adapters.storage.shared.documents import decode_schedule_spec
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant, Millis
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.schedule.schedule import Catchup
from foliot.ports.upkeep import Pruned, Retention

Cursor = Any
"""How far a scan has got, in a form that the adapter chooses. The scan continues after it."""
START: Final = ""
"""The cursor of a scan that has not begun."""
CHUNKS_PER_PIECE: Final = 100


class Scan(Enum):
    """The scans of a round. A round is complete when each scan is."""

    OLD_RUNS = auto()
    """Runs that ended before a moment, except parts of executions that are still open."""
    SURPLUS_RUNS = auto()
    """For each job, ended runs beyond the newest ones; parts as above."""
    SURPLUS_EXECUTIONS = auto()
    """For each workflow, ended executions beyond the newest ones."""
    OLD_EXECUTIONS = auto()
    """Executions that ended before a moment."""
    EXCESS_EXECUTIONS = auto()
    """Ended executions beyond the newest ones of all workflows together."""
    LEDGERS = auto()
    LOGS = auto()
    ITEMS = auto()
    """Items whose run was never created."""


_RUN_SCANS: Final = (
    Scan.OLD_RUNS,
    Scan.SURPLUS_RUNS,
    Scan.SURPLUS_EXECUTIONS,
    Scan.OLD_EXECUTIONS,
    Scan.EXCESS_EXECUTIONS,
)
_BY_COUNT: Final = (Scan.SURPLUS_RUNS, Scan.SURPLUS_EXECUTIONS, Scan.EXCESS_EXECUTIONS)


class ScanRequest(NamedTuple):
    """Continue a scan from a cursor until the room is full."""

    scan: Scan
    bound: int
    """The moment before which a run ended, or how many runs are kept."""
    cursor: Cursor
    room: int


class PartsRequest(NamedTuple):
    """Find ended runs that are parts of these runs."""

    run_ids: Sequence[RunId]
    room: int


class SurplusRequest(NamedTuple):
    """Find ended executions of these workflows beyond the newest ones of each."""

    workflow_ids: Sequence[str]
    keep: int
    room: int


class VisibleRequest(NamedTuple):
    """Find which of these runs are executions that a gate may still read."""

    run_ids: Sequence[RunId]


Request = ScanRequest | PartsRequest | SurplusRequest | VisibleRequest


class ScanResult(NamedTuple):
    run_ids: list[RunId]
    cursor: Cursor | None = None
    """Where the scan continues. None: the scan is complete."""


Requests = Generator[Request, ScanResult, list[RunId]]


class Round:
    """The cursor of each scan. A complete scan is skipped until all scans are complete; then a new round begins.

    A round advances only with committed pieces: a piece works on a copy, which replaces the round after the commit.
    """

    def __init__(self) -> None:
        self._cursors: Mapping[Scan, Cursor] = dict.fromkeys(Scan, START)

    def cursor(self, scan: Scan) -> Cursor | None:
        return self._cursors.get(scan)

    def move(self, scan: Scan, cursor: Cursor | None) -> None:
        cursors = {**self._cursors, scan: cursor}
        self._cursors = {scan: cursor for scan, cursor in cursors.items() if cursor is not None}

    def runs(self, retention: Retention, now: Instant, limit: int) -> Requests:
        """Choose the runs to remove with this piece, each with all its parts."""
        before = self._cursors
        chosen: dict[RunId, None] = {}
        for scan in _RUN_SCANS:
            kept, cursor = _kept(scan, retention), self.cursor(scan)
            if kept is not None and cursor is not None and len(chosen) < limit:
                bound = kept if scan in _BY_COUNT else now - kept
                found = yield ScanRequest(scan, bound, cursor, limit - len(chosen))
                removable = yield from _without_visible(found.run_ids)
                chosen.update(dict.fromkeys(removable))
                # A scan that stays at its cursor would find the executions that gates may read again, without end.
                is_stuck = found.cursor == cursor and len(removable) < len(found.run_ids)
                self.move(scan, None if is_stuck else found.cursor)
        with_parts = yield from _with_parts(list(chosen), limit)
        if len(with_parts) >= limit:
            # Parts may have taken the room of runs that were found: those must be found again.
            self._cursors = before
        return with_parts

    def after(self, pruned: Pruned, retention: Retention, limit: int) -> tuple["Round", Pruned]:
        """Return the round of the next piece, and `pruned` with whether there is more to remove."""
        is_over = pruned.most < limit and all(_kept(scan, retention) is None for scan in self._cursors)
        return Round() if is_over else self, pruned._replace(is_more=not is_over)


def _kept(scan: Scan, retention: Retention) -> int | None:
    """Return the age or the number that this scan keeps. None: everything is kept."""
    match scan:
        case Scan.OLD_RUNS:
            return retention.runs_age
        case Scan.SURPLUS_RUNS:
            return retention.runs_per_job
        case Scan.SURPLUS_EXECUTIONS:
            return retention.executions_per_workflow
        case Scan.OLD_EXECUTIONS:
            return retention.executions_age
        case Scan.EXCESS_EXECUTIONS:
            return retention.executions_total
        case Scan.LEDGERS:
            return retention.ticks_age
        case Scan.LOGS:
            return retention.logs_age
        case Scan.ITEMS:
            return retention.items_age


def surplus_executions(workflow_ids: Sequence[str], retention: Retention, limit: int) -> Requests:
    """Choose the executions to remove after executions of these workflows ended, with all their parts."""
    chosen: dict[RunId, None] = {}
    if retention.executions_per_workflow is not None:
        found = yield SurplusRequest(workflow_ids, retention.executions_per_workflow, limit)
        chosen.update(dict.fromkeys(found.run_ids))
    if retention.executions_total is not None:
        found = yield ScanRequest(Scan.EXCESS_EXECUTIONS, retention.executions_total, START, limit)
        chosen.update(dict.fromkeys(found.run_ids))
    removable = yield from _without_visible(list(chosen))
    return (yield from _with_parts(removable, limit))


def _without_visible(run_ids: list[RunId]) -> Requests:
    """Return the runs that no gate may still read."""
    visible = set((yield VisibleRequest(run_ids)).run_ids) if run_ids else set()
    return [run_id for run_id in run_ids if run_id not in visible]


def _with_parts(run_ids: list[RunId], limit: int) -> Requests:
    """Add all parts of these runs. If they exceed the limit, return only some of them, parts before their parents."""
    parts = (yield PartsRequest(run_ids, limit)).run_ids if run_ids else []
    if not parts:
        return run_ids
    first = yield from _with_parts(list(dict.fromkeys(parts)), limit)
    return first if len(first) >= limit else list(dict.fromkeys([*first, *run_ids]))


# -- items


def unused_items(progress: Round, rows: Sequence[Sequence[Any]], limit: int) -> RunId | None:
    """Return the next run whose items are to be removed, and advance the scan to it. `rows`: runs and whether each
    exists. The scan stays there until all its items are removed."""
    for nth, (run_id, exists) in enumerate(rows):
        if not exists:
            if nth > 0:
                progress.move(Scan.ITEMS, rows[nth - 1][0])
            return RunId(run_id)
    progress.move(Scan.ITEMS, rows[-1][0] if len(rows) == limit else None)
    return None


# -- ledgers


def removable_before(document: str, settled_until: Instant, now: Instant, ticks_age: Millis) -> Instant:
    """Return the moment before which ticks of this schedule may be removed.

    Ticks younger than `ticks_age` and ticks that a catch-up may still need are kept. Nothing after `settled_until` is
    removed.
    """
    return Instant(min(now - max(ticks_age, _longest_catchup(document)), settled_until + 1))


def _longest_catchup(document: str) -> Millis:
    """Return 0 if the document cannot be read: unsettled ticks are kept in any case."""
    try:
        spec = decode_schedule_spec(document)
    except UNREADABLE:
        return Millis(0)
    return Millis(0) if spec.catchup is Catchup.NONE else spec.catchup_max_age or Millis(0)
