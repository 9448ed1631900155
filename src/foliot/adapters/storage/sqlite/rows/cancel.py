"""Cancels runs: those that have not started end immediately, for the others cancellation is requested."""

from collections.abc import Collection

from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.admit import admit_keys, release_places
from foliot.adapters.storage.sqlite.rows.end import follow_ends, note_trees
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.run import PRIORITY_STEP
from foliot.ports.topic import Topic


def cancel_runs(tx: Transaction, run_ids: Collection[RunId], now: Instant) -> dict[RunId, CancelAnswer]:
    """End runs or request their cancellation, and admit other runs to the places that become free."""
    rows = tx.rows(SQL["cancel_candidates"], (encode_names(run_ids),))
    found = {RunId(run_id): _answer(*states) for run_id, *states, _ in rows}
    unstarted = {RunId(run_id): attempt for run_id, *_, attempt in rows if found[run_id] is CancelAnswer.CANCELLED}
    keys = _end(tx, unstarted, now)
    _request(tx, [run_id for run_id, answer in found.items() if answer is CancelAnswer.REQUESTED], now)
    admit_keys(tx, keys)
    return {run_id: found.get(run_id, CancelAnswer.NOT_FOUND) for run_id in run_ids}


def take_unstarted(tx: Transaction, run_ids: Collection[RunId]) -> set[str]:
    """Remove runs that have not started from the tables in which they wait, and release their places. Returns the
    keys of these places."""
    astray = [run_id for run_id in run_ids if not _leave(tx, run_id)]
    if astray:
        # A row that was edited by hand may name the wrong table.
        names = encode_names(astray)
        tx.run(SQL["leave_later_anywhere"], (names,))
        tx.run(SQL["leave_ready_anywhere"], (names,))
    return release_places(tx, run_ids)


def _answer(is_over: int, is_running: int, is_requested: int) -> CancelAnswer:
    if is_over:
        return CancelAnswer.TERMINAL
    if not is_running:
        return CancelAnswer.CANCELLED
    return CancelAnswer.PENDING if is_requested else CancelAnswer.REQUESTED


def _end(tx: Transaction, attempts: dict[RunId, int], now: Instant) -> set[str]:
    if not attempts:
        return set()
    keys = take_unstarted(tx, attempts)
    tx.run_many(SQL["end_cancelled"], [(now, run_id) for run_id in attempts])
    tx.add_event(now, EventKind.RUNS_ENDED, event_items.cancelled(attempts))
    follow_ends(tx, attempts)
    return keys


def _leave(tx: Transaction, run_id: RunId) -> bool:
    """Remove the run from the table in which its row says that it waits. Returns whether it was there, or waits for a
    place in a limit."""
    left = tx.run(SQL["leave_later"], (run_id,)) + tx.run(SQL["leave_gated"], (run_id,))
    left += tx.run(SQL["leave_ready"], (run_id, PRIORITY_STEP))
    return left > 0 or tx.value(SQL["waits_for_place"], (run_id,)) is not None


def _request(tx: Transaction, run_ids: Collection[RunId], now: Instant) -> None:
    if run_ids:
        tx.run_many(SQL["request_cancel"], [(now, run_id) for run_id in run_ids])
        note_trees(tx, [run_id for run_id in run_ids if tx.run(SQL["request_cancel_of_trees"], (now, run_id))])
        tx.add_event(now, EventKind.RUNS_CANCEL_REQUESTED, event_items.cancel_requested(run_ids))
        tx.ring(Topic.CANCELS)
