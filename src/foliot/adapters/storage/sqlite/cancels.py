"""Cancelling: what has not started ends at once, what runs is asked to end."""

from collections.abc import Collection
from typing import Final

from foliot.adapters.storage import notices
from foliot.adapters.storage.documents import encode_names
from foliot.adapters.storage.sqlite import admission
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.creation import SQL
from foliot.adapters.storage.sqlite.endings import follow_ends, note_roots
from foliot.adapters.storage.sqlite.events import add_event
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.lease import CancelAnswer
from foliot.domain.run import PRIORITY_STEP
from foliot.ports.storage import Topic

_ANSWERS: Final = {
    # is over, is under way, cancel was asked for
    (0, 0, 0): CancelAnswer.CANCELLED,
    (0, 1, 0): CancelAnswer.REQUESTED,
    (0, 1, 1): CancelAnswer.PENDING,
    (1, 0, 0): CancelAnswer.TERMINAL,
}


def cancel(tx: Transaction, run_ids: Collection[RunId], now: Instant) -> dict[RunId, CancelAnswer]:
    """End or ask; whatever places become free are given on."""
    rows = tx.rows(SQL["cancel_candidates"], (encode_names(run_ids),))
    found = {RunId(run_id): _ANSWERS[tuple(states)] for run_id, *states, _ in rows}
    attempts = {RunId(run_id): attempt for run_id, *_, attempt in rows}
    unstarted = {run_id: attempts[run_id] for run_id, answer in found.items() if answer is CancelAnswer.CANCELLED}
    keys = _end_unstarted(tx, unstarted, now)
    _ask(tx, [run_id for run_id, answer in found.items() if answer is CancelAnswer.REQUESTED], now)
    admission.admit_keys(tx, keys)
    return {run_id: found.get(run_id, CancelAnswer.NOT_FOUND) for run_id in run_ids}


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
    keys = admission.keys_of(tx, run_ids)
    ids = [(run_id,) for run_id in run_ids]
    tx.run_many(SQL["leave_later"], ids)
    tx.run_many(SQL["leave_gated"], ids)
    tx.run_many(SQL["leave_ready"], [(run_id, PRIORITY_STEP) for run_id in run_ids])
    tx.run_many(admission.SQL["release_all_places"], ids)
    return keys


def _ask(tx: Transaction, run_ids: Collection[RunId], now: Instant) -> None:
    if run_ids:
        tx.run_many(SQL["request_cancel"], [(now, run_id) for run_id in run_ids])
        note_roots(tx, [run_id for run_id in run_ids if tx.run(SQL["request_ending"], (now, run_id))])
        add_event(tx, now, EventKind.RUNS_CANCEL_REQUESTED, notices.cancel_requested(run_ids))
        tx.ring(Topic.CANCELS)
