"""Cancelling: what has not started ends at once, what runs is asked to end."""

from collections.abc import Collection

from foliot.adapters.storage.shared import event_items as notices
from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.sqlite import admission
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.creation import SQL
from foliot.adapters.storage.sqlite.endings import follow_ends, note_trees
from foliot.adapters.storage.sqlite.events import add_event
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.run import PRIORITY_STEP
from foliot.ports.topic import Topic


def cancel(tx: Transaction, run_ids: Collection[RunId], now: Instant) -> dict[RunId, CancelAnswer]:
    """End or ask; whatever places become free are given on."""
    rows = tx.rows(SQL["cancel_candidates"], (encode_names(run_ids),))
    found = {RunId(run_id): _answer(*states) for run_id, *states, _ in rows}
    attempts = {RunId(run_id): attempt for run_id, *_, attempt in rows}
    unstarted = {run_id: attempts[run_id] for run_id, answer in found.items() if answer is CancelAnswer.CANCELLED}
    keys = _end_unstarted(tx, unstarted, now)
    _ask(tx, [run_id for run_id, answer in found.items() if answer is CancelAnswer.REQUESTED], now)
    admission.admit_keys(tx, keys)
    return {run_id: found.get(run_id, CancelAnswer.NOT_FOUND) for run_id in run_ids}


def _answer(is_over: int, is_under_way: int, is_asked: int) -> CancelAnswer:
    if is_over:
        return CancelAnswer.TERMINAL
    if not is_under_way:
        return CancelAnswer.CANCELLED
    return CancelAnswer.PENDING if is_asked else CancelAnswer.REQUESTED


def cancel_jobs(tx: Transaction, project: str, job_ids: Collection[JobId], now: Instant) -> None:
    """Cancel the runs of these jobs that have not started."""
    rows = tx.rows(SQL["unstarted_runs_of_jobs"], (project, encode_names(job_ids)))
    cancel(tx, [RunId(run_id) for (run_id,) in rows], now)


def _end_unstarted(tx: Transaction, attempts: dict[RunId, int], now: Instant) -> set[str]:
    if not attempts:
        return set()
    keys = take_unstarted(tx, attempts)
    tx.run_many(SQL["cancel_unstarted"], [(now, run_id) for run_id in attempts])
    add_event(tx, now, EventKind.RUNS_ENDED, notices.cancelled(attempts))
    follow_ends(tx, attempts)
    return keys


def take_unstarted(tx: Transaction, run_ids: Collection[RunId]) -> set[str]:
    """Take runs that have not started from where they stand; returns the keys where a place became free."""
    astray = [run_id for run_id in run_ids if not _leave(tx, run_id)]
    if astray:
        # A row that somebody has changed does not say any more where its run stands.
        names = encode_names(astray)
        tx.run(SQL["leave_later_anywhere"], (names,))
        tx.run(SQL["leave_ready_anywhere"], (names,))
    return give_up_places(tx, run_ids)


def give_up_places(tx: Transaction, run_ids: Collection[RunId]) -> set[str]:
    """Runs that stand nowhere any more keep no place either; returns the keys where one became free."""
    keys = admission.keys_of(tx, run_ids)
    tx.run_many(admission.SQL["release_all_places"], [(run_id,) for run_id in run_ids])
    return keys


def _leave(tx: Transaction, run_id: RunId) -> bool:
    """Whether it stood where its row says, or waits for a place."""
    left = tx.run(SQL["leave_later"], (run_id,)) + tx.run(SQL["leave_gated"], (run_id,))
    left += tx.run(SQL["leave_ready"], (run_id, PRIORITY_STEP))
    return left > 0 or tx.value(SQL["waits_for_place"], (run_id,)) is not None


def _ask(tx: Transaction, run_ids: Collection[RunId], now: Instant) -> None:
    if run_ids:
        tx.run_many(SQL["request_cancel"], [(now, run_id) for run_id in run_ids])
        note_trees(tx, [run_id for run_id in run_ids if tx.run(SQL["request_ending"], (now, run_id))])
        add_event(tx, now, EventKind.RUNS_CANCEL_REQUESTED, notices.cancel_requested(run_ids))
        tx.ring(Topic.CANCELS)
