"""Ending runs on request.

A run that has not started stands in one place, and whoever takes it from there owns it. The places are asked in the
order in which runs pass through them (later, gated, holds, ready, leases, trees), each in a statement of its own,
so that a run that moves on under our eyes is met at its next place. One that is handed back by its worker meanwhile is
asked for again.
"""

from collections.abc import Collection
from typing import Final

from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.postgres.endings import follow_ends, note_trees
from foliot.adapters.storage.postgres.impossible import is_possible, possible_ones
from foliot.adapters.storage.shared import event_items as notices
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.run import Status
from foliot.ports.topic import Topic

Answers = dict[RunId, CancelAnswer]

_ROUNDS: Final = 10


async def cancel_runs(transaction: Transaction, run_ids: Collection[RunId], now: Instant) -> Answers:
    answers = {run_id: CancelAnswer.NOT_FOUND for run_id in run_ids if not is_possible(run_id)}
    # Trees are locked before limits, as settling does.
    await transaction.rows("lock_trees", possible_ones(run_ids))
    # Admission moves waiting runs on while it holds their limits: with those locked, nobody is halfway.
    if keys := await transaction.column("held_keys", possible_ones(run_ids)):
        await transaction.rows("lock_limits", sorted(keys))
    for _ in range(_ROUNDS):
        open_ids = [run_id for run_id in run_ids if run_id not in answers]
        if not open_ids:
            break
        answers |= await _end_unstarted(transaction, open_ids, now)
        open_ids = [run_id for run_id in open_ids if run_id not in answers]
        answers |= await _ask_workers(transaction, open_ids, now)
        open_ids = [run_id for run_id in open_ids if run_id not in answers]
        answers |= await _ask_trees(transaction, open_ids, now)
        answers |= await _look_up(transaction, [run_id for run_id in open_ids if run_id not in answers])
    return answers


async def end_unstarted(transaction: Transaction, run_ids: Collection[RunId], now: Instant) -> None:
    """Cancel those that have not started and leave the others alone."""
    if keys := await transaction.column("held_keys", list(run_ids)):
        await transaction.rows("lock_limits", sorted(keys))
    await _end_unstarted(transaction, list(run_ids), now)


async def _end_unstarted(transaction: Transaction, run_ids: list[RunId], now: Instant) -> Answers:
    taken = await _take(transaction, run_ids)
    if not taken:
        return {}
    ended = await transaction.rows("end_cancelled", taken, now)
    transaction.note(EventKind.RUNS_ENDED, notices.cancelled(dict(ended)))
    await follow_ends(transaction, taken)
    return dict.fromkeys(taken, CancelAnswer.CANCELLED)


async def take_unstarted(transaction: Transaction, run_ids: Collection[RunId]) -> list[RunId]:
    """Take those that have not started from where they stand, with all their places: they are the caller's to end."""
    if keys := await transaction.column("held_keys", list(run_ids)):
        await transaction.rows("lock_limits", sorted(keys))
    return await _take(transaction, list(run_ids))


async def _take(transaction: Transaction, run_ids: list[RunId]) -> list[RunId]:
    met: dict[RunId, None] = {}
    for place in ("cancelled_later", "cancelled_gated", "cancelled_waiting", "cancelled_ready"):
        met |= dict.fromkeys(await transaction.column(place, run_ids))
    if met:
        transaction.keys.update(await transaction.column("release_holds", list(met)))
    return list(met)


async def _ask_workers(transaction: Transaction, run_ids: list[RunId], now: Instant) -> Answers:
    if not run_ids:
        return {}
    asked = await transaction.column("request_cancel", run_ids, now)
    if asked:
        transaction.topics.add(Topic.CANCELS)
        transaction.note(EventKind.RUNS_CANCEL_REQUESTED, notices.cancel_requested(asked))
    pending = await transaction.column("leased_runs", [run_id for run_id in run_ids if run_id not in asked])
    return dict.fromkeys(pending, CancelAnswer.PENDING) | dict.fromkeys(asked, CancelAnswer.REQUESTED)


async def _ask_trees(transaction: Transaction, run_ids: list[RunId], now: Instant) -> Answers:
    """A tree has no worker: the settler gets a note about it."""
    if not run_ids:
        return {}
    asked = await transaction.column("request_tree_ends", run_ids, now)
    await note_trees(transaction, asked)
    transaction.note(EventKind.RUNS_CANCEL_REQUESTED, notices.cancel_requested(asked))
    pending = await transaction.column("open_trees", [run_id for run_id in run_ids if run_id not in asked])
    return dict.fromkeys(pending, CancelAnswer.PENDING) | dict.fromkeys(asked, CancelAnswer.REQUESTED)


async def _look_up(transaction: Transaction, run_ids: list[RunId]) -> Answers:
    """Runs that stand nowhere are over, or never were. One that is not over is on its way between two places."""
    if not run_ids:
        return {}
    stored = dict(await transaction.rows("run_statuses", run_ids))
    over = {run_id: CancelAnswer.TERMINAL for run_id, status in stored.items() if status != Status.SCHEDULED}
    return over | {run_id: CancelAnswer.NOT_FOUND for run_id in run_ids if run_id not in stored}
