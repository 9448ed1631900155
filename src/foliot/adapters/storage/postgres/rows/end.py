"""Ends runs without a lease, and saves the consequences of ended runs.

A child adds a note for its parent (`notes`). The ends of watched jobs are kept in order of time (`endings`), so that
one index look-up finds the latest one in a history of any length.
"""

from collections.abc import Collection, Mapping

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.shared.documents import storable
from foliot.adapters.storage.shared.event_items import ended_by_hand
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Ended
from foliot.ports.topic import Topic


async def end_unleased(
    transaction: Transaction, endings: Mapping[RunId, Ended], now: Instant, *, query: str = "end_unstarted"
) -> None:
    """End runs without a lease, which the caller has taken from their places."""
    if not endings:
        return
    rows = [
        (run_id, ended.status.value, ended.reason, ended.exit_code, storable(ended.error))
        for run_id, ended in endings.items()
    ]
    attempts: dict[RunId, int] = dict(await transaction.rows(query, now, *columns(rows)))
    await save_outputs(transaction, endings)
    items = ended_by_hand([(run_id, ended, attempts[run_id]) for run_id, ended in endings.items()])
    transaction.add_event(EventKind.RUNS_ENDED, items)
    await follow_ends(transaction, endings)


async def save_outputs(transaction: Transaction, endings: Mapping[RunId, Ended]) -> None:
    outputs = [(run_id, ended.output.decode()) for run_id, ended in endings.items() if ended.output is not None]
    if outputs:
        await transaction.run("add_outputs", *columns(outputs))


async def follow_ends(transaction: Transaction, run_ids: Collection[RunId]) -> None:
    """Add notes for the parents of ended runs, and keep their ends if their jobs are watched."""
    if run_ids:
        await add_notes(transaction, run_ids)
        await transaction.run("keep_endings", list(run_ids))


async def add_notes(transaction: Transaction, run_ids: Collection[RunId]) -> None:
    """Add notes for the parents of these runs."""
    if run_ids and await transaction.rows("add_notes", list(run_ids)):
        transaction.topics.add(Topic.NOTES)


async def note_trees(transaction: Transaction, run_ids: Collection[RunId]) -> None:
    """Add a note about each of these trees itself, so that it is settled."""
    if run_ids:
        await transaction.run("note_trees", list(run_ids))
        transaction.topics.add(Topic.NOTES)
