"""Saving what was decided about due schedules: ticks, runs and watermark in one transaction."""

from collections.abc import Iterable, Sequence

from foliot.adapters.storage.shared import event_items as notices
from foliot.adapters.storage.shared.documents import decode_schedule_spec, encode_names
from foliot.adapters.storage.shared.ledger import is_punctual
from foliot.adapters.storage.sqlite import admission, cancels, creation, edits
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.sqlite.punctual import save_punctual
from foliot.adapters.storage.sqlite.ticks import SQL
from foliot.adapters.storage.sqlite.trouble import UNSTORABLE
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.run.limits import overlap_key
from foliot.domain.schedule.firing import Firing


class _OutOfDate(Exception):
    """A schedule is not as it was when its firing was decided."""


def settle(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> list[ScheduleUid]:
    """Save each firing whose schedule is as it was when the firing was decided; the others change nothing."""
    saved = firings
    if not _saves(tx, project, saved, now):
        saved = _current(tx, firings)
        if not _saves(tx, project, saved, now):
            # A tick that is in the ledger already, or a run that cannot be stored: only its own firing is refused.
            saved = [firing for firing in saved if _saves(tx, project, [firing], now)]
    add_event(tx, now, EventKind.TICKS_SETTLED, notices.settled(saved))
    return [firing.uid for firing in saved]


def _current(tx: Transaction, firings: Sequence[Firing]) -> list[Firing]:
    """Those whose schedule has the version they were decided for. Of two for one schedule the first counts."""
    uids = encode_names({firing.uid for firing in firings})
    versions: dict[ScheduleUid, int] = dict(tx.rows(SQL["versions"], (uids,)))
    current = []
    for firing in firings:
        if versions.get(firing.uid) == firing.version:
            current.append(firing)
            del versions[firing.uid]  # a second firing in one batch was decided before the first
    return current


def _saves(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> bool:
    """Save all of them, or none."""
    try:
        with tx.savepoint():
            _save(tx, project, firings, now)
    except (_OutOfDate, *UNSTORABLE):
        return False
    return True


def _save(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> None:
    _advance(tx, firings)
    are_punctual = all(is_punctual(firing) and firing.runs[0].due_at <= now for firing in firings)
    save = save_punctual if are_punctual else save_any
    save(tx, project, firings, now)


def save_any(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> None:
    """Save ticks and runs of whatever was decided. The schedules are moved on already."""
    _cancel_running(tx, [firing for firing in firings if firing.cancels_running], now)
    _replace_planned(tx, firings)
    _add_ticks(tx, firings, now)
    _create_runs(tx, project, [firing for firing in firings if firing.runs], now)


def _advance(tx: Transaction, firings: Sequence[Firing]) -> None:
    """Move the schedules on. This is the comparison: a row is found only in the version that was decided about."""
    spent = _exhausted(tx, [firing for firing in firings if firing.next_run_at is None])
    rows = [
        (
            firing.uid,
            firing.version,
            firing.settled_until,
            firing.next_run_at,
            firing.wake_at,
            firing.last_scheduled_at,
            firing.behind_since,
            firing.uid in spent,
        )
        for firing in firings
    ]
    if tx.run_many(SQL["advance"], rows) != len(rows):
        raise _OutOfDate


def _exhausted(tx: Transaction, firings: Sequence[Firing]) -> set[ScheduleUid]:
    if not firings:
        return set()
    rows = tx.rows(SQL["specs"], (encode_names(firing.uid for firing in firings),))
    kinds = {uid: decode_schedule_spec(spec).type for uid, spec in rows}
    return {firing.uid for firing in firings if firing.uid in kinds and firing.is_exhausted(kinds[firing.uid])}


def _replace_planned(tx: Transaction, firings: Sequence[Firing]) -> None:
    edits.clear_planned(tx, [firing.uid for firing in firings])
    planned = [(firing.uid, *tick) for firing in firings for tick in firing.planned]
    tx.run_many(SQL["add_planned"], planned)


def _add_ticks(tx: Transaction, firings: Sequence[Firing], now: Instant) -> None:
    """The key of a tick that runs is known from its run; making the others takes the name of the schedule."""
    keys: dict[RunId | None, str] = {
        run.id: run.tick.key for firing in firings for run in firing.runs if run.tick is not None
    }
    quiet = {firing.uid for firing in firings if len(firing.ticks) != len(firing.runs)}
    names: dict[ScheduleUid, ScheduleId] = dict(tx.rows(SQL["names"], (encode_names(quiet),))) if quiet else {}
    rows = [
        (firing.uid, *tick, keys.get(tick.run_id) or tick.key(names[firing.uid]), now)
        for firing in firings
        for tick in firing.ticks
    ]
    tx.run_many(SQL["add_ticks"], rows)


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
