"""Saves decisions about trees, and what they change beside their trees (`domain.tree.settlement.Effects`)."""

from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.chain_rows import chain_row
from foliot.adapters.storage.shared.documents import encode_names, storable
from foliot.adapters.storage.shared.tree_rows import progress_text, state_row
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.admit import admit_keys, release_places
from foliot.adapters.storage.sqlite.rows.cancel import cancel_runs
from foliot.adapters.storage.sqlite.rows.create import create_runs
from foliot.adapters.storage.sqlite.rows.end import follow_ends, note_trees
from foliot.domain.chain.class_state import class_key
from foliot.domain.events import EventKind
from foliot.domain.instant import Instant
from foliot.domain.run.run import Ended
from foliot.domain.tree.abandonment import abandoned_outcome, is_abandoned_chain, without_chain
from foliot.domain.tree.settlement import Effects, Settlement
from foliot.domain.tree.tree import Tree


class SharedConflict(Exception):
    """A shared document has changed since it was read. The caller rolls back what it has saved of the decision."""


def save_settlement(tx: Transaction, project: str, settlement: Settlement, now: Instant) -> bool:
    """Save a decision. Returns False, and changes nothing, if the tree is no longer in the state that was read."""
    tree = settlement.tree
    values = (tree.open, progress_text(tree), tree.is_ending, tree.deadline, tree.run_id, tree.state)
    if not tx.run(SQL["advance_trees"], values):
        return False
    save_effects(tx, project, settlement.effects, now)
    tx.run(SQL["remove_notes"], (tree.run_id, encode_names(settlement.notes)))
    changed = [(*state_row(state), tree.run_id, name) for name, state in settlement.steps.items()]
    tx.run_many(SQL["change_steps"], changed)
    tx.add_event(
        now, EventKind.STEPS_CHANGED, event_items.changed_steps(tree.run_id, settlement.runs, settlement.steps)
    )
    if settlement.runs:
        create_runs(tx, project, settlement.runs, now)
    if settlement.cancels:
        cancel_runs(tx, settlement.cancels, now)
    if settlement.ended is not None:
        end_tree(tx, tree, settlement.ended, now)
        if is_abandoned_chain(settlement):
            _release_chain(tx, project, tree, settlement.ended, now)
    return True


def _release_chain(tx: Transaction, project: str, tree: Tree, ended: Ended, now: Instant) -> None:
    """Close the record of a chain that ended without its rules, and free its place in the class."""
    class_id = tx.value(SQL["close_chains"], (abandoned_outcome(ended), now, tree.run_id))
    row = None if class_id is None else tx.row(SQL["lock_class"], (project, class_key(class_id)))
    if row is not None and row[1] is not None:
        version, body = row
        tx.run(SQL["change_shared"], (project, class_key(class_id), version, without_chain(body, tree.run_id)))


def save_effects(tx: Transaction, project: str, effects: Effects | None, now: Instant) -> None:
    """Save what a decision changes beside its tree. Raises `SharedConflict`."""
    if effects is None:
        return
    shared = effects.shared
    if shared is not None and not tx.run(SQL["change_shared"], (project, shared.key, shared.version, shared.body)):
        raise SharedConflict
    if effects.record is not None:
        tx.run(SQL["put_chains"], chain_row(project, effects.record))
    tx.add_event(now, EventKind.ALERT_RAISED, event_items.alerts(effects.alerts))
    note_trees(tx, effects.wakes)


def end_tree(tx: Transaction, tree: Tree, ended: Ended, now: Instant) -> None:
    """End the run of the tree: its places become free, and its own parent gets a note."""
    run_id = tree.run_id
    tx.run(SQL["end_trees"], (now, run_id))
    tx.run(SQL["remove_all_notes"], (run_id,))
    how = (ended.status, ended.reason, now, ended.exit_code, storable(ended.error))
    attempt: int = tx.value(SQL["end_tree_runs"], (*how, run_id))
    if ended.output is not None:
        tx.run(SQL["add_outputs"], (run_id, ended.output))
    keys = release_places(tx, [run_id])
    tx.add_event(now, EventKind.RUNS_ENDED, event_items.ended_by_hand([(run_id, ended, attempt)]))
    tx.add_event(now, EventKind.EXECUTIONS_ENDED, event_items.over([(tree, ended)]))
    follow_ends(tx, [run_id])
    admit_keys(tx, keys)
