"""Ends runs that have not started, and saves the consequences of ended runs.

A child adds a note for its parent (`notes`). The ends of jobs that gates depend on are kept in order of time
(`endings`), so that one index look-up finds the latest one in a history of any length.
"""

from collections.abc import Collection, Mapping, Sequence

from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.documents import encode_names, storable
from foliot.adapters.storage.shared.finish_plan import Lease
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.admit import admit_keys
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Ended
from foliot.ports.topic import Topic


def end_unstarted(tx: Transaction, endings: Mapping[RunId, Ended], keys: set[str], now: Instant) -> None:
    """End runs that have not started. `take_unstarted` removed them from the tables in which they waited and
    released their places in the limits `keys`."""
    if not endings:
        return
    attempts = []
    for run_id, ended in endings.items():
        values = (ended.status, ended.reason, now, ended.exit_code, storable(ended.error), run_id)
        attempts.append((run_id, ended, tx.value(SQL["end_unstarted"], values)))
        if ended.output is not None:
            tx.run(SQL["add_outputs"], (run_id, ended.output))
    tx.add_event(now, EventKind.RUNS_ENDED, event_items.ended_by_hand(attempts))
    follow_ends(tx, endings)
    admit_keys(tx, keys)


def follow_ends(tx: Transaction, run_ids: Collection[RunId]) -> None:
    """Add notes for the parents of these ended runs, and keep the ends that gates depend on."""
    ids = encode_names(run_ids)
    if tx.run(SQL["add_notes"], (ids,)):
        tx.ring(Topic.NOTES)
    tx.run(SQL["keep_endings"], (ids,))


def follow_finished(tx: Transaction, leases: Sequence[Lease]) -> None:
    """Do what `follow_ends` does, for ended attempts. Usually no run has a parent and no job is watched, and nothing is
    written."""
    if leases and (not all(lease.run.parent_id is None for lease in leases) or tx.rows(SQL["is_watching"])):
        follow_ends(tx, [lease.run_id for lease in leases])


def note_trees(tx: Transaction, run_ids: Collection[RunId]) -> None:
    """Add notes about these trees, so that they are settled."""
    if run_ids:
        tx.run_many(SQL["note_trees"], [(run_id,) for run_id in run_ids])
        tx.ring(Topic.NOTES)
