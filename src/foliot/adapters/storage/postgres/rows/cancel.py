"""Cancels runs on request.

A run that has not started is in one table, and the transaction that deletes its row there owns the run. The tables are
tried in the order in which runs pass through them (later, gated, holds, ready, leases, trees), each with its own
statement, so that a run that moves meanwhile is found in its next table. A run that its worker gives back meanwhile is
found in the next round.
"""

from collections.abc import Collection
from typing import Final

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.database.values import is_storable, storable_names
from foliot.adapters.storage.postgres.rows.end import follow_ends, note_trees
from foliot.adapters.storage.postgres.rows.place import lock_held_limits
from foliot.adapters.storage.shared import event_items
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.run import Status
from foliot.ports.topic import Topic

Answers = dict[RunId, CancelAnswer]

_ROUNDS: Final = 10


async def cancel_runs(transaction: Transaction, run_ids: Collection[RunId], now: Instant) -> Answers:
    """End runs that have not started, and request cancellation of the others."""
    answers = {run_id: CancelAnswer.NOT_FOUND for run_id in run_ids if not is_storable(run_id)}
    # Trees are locked before limits, as in settling.
    await transaction.rows("lock_trees", storable_names(run_ids))
    await lock_held_limits(transaction, storable_names(run_ids))
    for _ in range(_ROUNDS):
        open_ids = [run_id for run_id in run_ids if run_id not in answers]
        if not open_ids:
            break
        answers |= await _cancel_unstarted(transaction, open_ids, now)
        open_ids = [run_id for run_id in open_ids if run_id not in answers]
        answers |= await _request_of_workers(transaction, open_ids, now)
        open_ids = [run_id for run_id in open_ids if run_id not in answers]
        answers |= await _request_of_trees(transaction, open_ids, now)
        answers |= await _find_ended(transaction, [run_id for run_id in open_ids if run_id not in answers])
    return answers


async def cancel_unstarted(transaction: Transaction, run_ids: Collection[RunId], now: Instant) -> None:
    """Cancel the runs that have not started."""
    await lock_held_limits(transaction, list(run_ids))
    await _cancel_unstarted(transaction, list(run_ids), now)


async def take_unstarted(transaction: Transaction, run_ids: Collection[RunId]) -> list[RunId]:
    """Remove the runs that have not started from the tables in which they wait, and release their places. Returns them:
    the caller must end them."""
    await lock_held_limits(transaction, list(run_ids))
    return await _take(transaction, list(run_ids))


async def _take(transaction: Transaction, run_ids: list[RunId]) -> list[RunId]:
    taken: dict[RunId, None] = {}
    for query in ("leave_later", "leave_gated", "leave_waiting", "leave_ready"):
        taken |= dict.fromkeys(await transaction.column(query, run_ids))
    if taken:
        transaction.keys.update(await transaction.column("release_holds", list(taken)))
    return list(taken)


async def _cancel_unstarted(transaction: Transaction, run_ids: list[RunId], now: Instant) -> Answers:
    taken = await _take(transaction, run_ids)
    if taken:
        ended = await transaction.rows("end_cancelled", taken, now)
        transaction.add_event(EventKind.RUNS_ENDED, event_items.cancelled(dict(ended)))
        await follow_ends(transaction, taken)
    return dict.fromkeys(taken, CancelAnswer.CANCELLED)


async def _request_of_workers(transaction: Transaction, run_ids: list[RunId], now: Instant) -> Answers:
    if not run_ids:
        return {}
    requested = await transaction.column("request_cancel", run_ids, now)
    if requested:
        transaction.topics.add(Topic.CANCELS)
    return await _requested(transaction, run_ids, requested, "leased_runs")


async def _request_of_trees(transaction: Transaction, run_ids: list[RunId], now: Instant) -> Answers:
    """Request cancellation of trees. A tree has no worker: a note makes the coordinator settle it."""
    if not run_ids:
        return {}
    requested = await transaction.column("request_cancel_of_trees", run_ids, now)
    await note_trees(transaction, requested)
    return await _requested(transaction, run_ids, requested, "open_trees")


async def _requested(transaction: Transaction, run_ids: list[RunId], requested: list[RunId], query: str) -> Answers:
    """Return answers for runs whose cancellation was requested just now, or earlier as found by `query`."""
    transaction.add_event(EventKind.RUNS_CANCEL_REQUESTED, event_items.cancel_requested(requested))
    pending = await transaction.column(query, [run_id for run_id in run_ids if run_id not in requested])
    return dict.fromkeys(pending, CancelAnswer.PENDING) | dict.fromkeys(requested, CancelAnswer.REQUESTED)


async def _find_ended(transaction: Transaction, run_ids: list[RunId]) -> Answers:
    """Return answers for runs without a place: ended, or not found. A run that is moving gets no answer."""
    if not run_ids:
        return {}
    stored = dict(await transaction.rows("run_statuses", run_ids))
    ended = {run_id: CancelAnswer.TERMINAL for run_id, status in stored.items() if status != Status.SCHEDULED}
    return ended | {run_id: CancelAnswer.NOT_FOUND for run_id in run_ids if run_id not in stored}
