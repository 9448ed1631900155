"""Saving what was decided about due schedules: ticks, runs and watermark in one transaction."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from foliot.adapters.storage import notices
from foliot.adapters.storage.documents import decode_schedule_spec, encode_names
from foliot.adapters.storage.sqlite import admission, cancels, creation, edits
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.sqlite.ticks import SQL, tick_rows
from foliot.adapters.storage.sqlite.trouble import UNSTORABLE
from foliot.domain.events import EventKind
from foliot.domain.firing import Firing
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.limits import overlap_key


class _Current(NamedTuple):
    """A schedule's row as it is under the write lock."""

    rowid: int
    uid: ScheduleUid
    id: ScheduleId
    version: int
    has_planned: bool


_Saved = Sequence[tuple[Firing, _Current]]


def settle(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> list[ScheduleUid]:
    """Save each firing whose schedule is as it was when the firing was decided; the others change nothing."""
    valid = _compare(tx, firings)
    try:
        with tx.savepoint():
            _save(tx, project, valid, now)
    except UNSTORABLE:
        # A tick that is in the ledger already, or a run that cannot be stored: only its own firing is refused.
        valid = [one for one in valid if _save_alone(tx, project, one, now)]
    add_event(tx, now, EventKind.TICKS_SETTLED, notices.settled(firing for firing, _ in valid))
    return [firing.uid for firing, _ in valid]


def _compare(tx: Transaction, firings: Sequence[Firing]) -> list[tuple[Firing, _Current]]:
    rows = tx.rows(SQL["versions"], (encode_names({firing.uid for firing in firings}),))
    current = {row.uid: row for row in map(_Current._make, rows)}
    valid = []
    for firing in firings:
        row = current.get(firing.uid)
        if row is not None and row.version == firing.version:
            valid.append((firing, row))
            del current[firing.uid]  # a second firing in one batch was decided before the first
    return valid


def _save_alone(tx: Transaction, project: str, one: tuple[Firing, _Current], now: Instant) -> bool:
    try:
        with tx.savepoint():
            _save(tx, project, [one], now)
    except UNSTORABLE:
        return False
    return True


def _save(tx: Transaction, project: str, firings: _Saved, now: Instant) -> None:
    _cancel_running(tx, [firing for firing, _ in firings if firing.cancels_running], now)
    _advance(tx, firings)
    _replace_planned(tx, firings)
    _add_ticks(tx, firings, now)
    _create_runs(tx, project, [firing for firing, _ in firings if firing.runs], now)


def _add_ticks(tx: Transaction, firings: _Saved, now: Instant) -> None:
    keys: dict[RunId | None, str] = {
        run.id: run.tick.key for firing, _ in firings for run in firing.runs if run.tick is not None
    }
    rows = [row for firing, current in firings for row in tick_rows(firing.uid, current.id, firing.ticks, now, keys)]
    tx.run_many(SQL["add_ticks"], rows)


def _advance(tx: Transaction, firings: _Saved) -> None:
    spent = _exhausted(tx, [firing for firing, _ in firings if firing.next_run_at is None])
    rows = [
        (
            firing.settled_until,
            firing.next_run_at,
            firing.wake_at,
            firing.last_scheduled_at,
            firing.behind_since,
            firing.uid in spent,
            current.rowid,
        )
        for firing, current in firings
    ]
    tx.run_many(SQL["advance"], rows)


def _exhausted(tx: Transaction, firings: Sequence[Firing]) -> set[ScheduleUid]:
    if not firings:
        return set()
    rows = tx.rows(SQL["specs"], (encode_names(firing.uid for firing in firings),))
    kinds = {uid: decode_schedule_spec(spec).type for uid, spec in rows}
    return {firing.uid for firing in firings if firing.is_exhausted(kinds[firing.uid])}


def _replace_planned(tx: Transaction, firings: _Saved) -> None:
    tx.run_many(edits.SQL["clear_planned"], [(row.uid,) for _, row in firings if row.has_planned])
    planned = [(firing.uid, *tick) for firing, _ in firings for tick in firing.planned]
    tx.run_many(SQL["add_planned"], planned)


def _cancel_running(tx: Transaction, firings: Iterable[Firing], now: Instant) -> None:
    """The newest tick is the only one worth running: everything of its schedule that is under way ends."""
    for firing in firings:
        rows = tx.rows(SQL["runs_in_flight"], (overlap_key(firing.uid),))
        cancels.cancel(tx, [RunId(run_id) for (run_id,) in rows], now)


def _create_runs(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> None:
    runs = [run for firing in firings for run in firing.runs]
    waiting: set[RunId] = set().union(*(firing.waiting for firing in firings))
    entries = creation.insert(tx, project, runs, now, waiting)
    holds = [
        (overlap_key(run.tick.uid), run.id not in waiting, run.tick.scheduled_for, run.id)
        for run in runs
        if run.tick is not None
    ]
    tx.run_many(admission.SQL["hold_overlap_key"], holds)
    keys = creation.place(tx, entries, now)
    # What was in flight when the firing was decided may be over by now.
    overlaps = {overlap_key(firing.uid) for firing in firings if firing.waiting}
    admission.admit_keys(tx, keys | overlaps)
