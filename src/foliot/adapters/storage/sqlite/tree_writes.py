"""Saving what was decided about trees (`domain.tree`), each as a whole or not at all."""

from collections.abc import Sequence

from foliot.adapters.storage.shared import event_items as notices
from foliot.adapters.storage.shared.documents import encode, encode_names, storable
from foliot.adapters.storage.shared.finish_plan import Lease, unopened
from foliot.adapters.storage.shared.tree_rows import progress_text, state_row, tree_row
from foliot.adapters.storage.sqlite import admission, cancels, creation, finishes
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.endings import follow_ends, note_trees
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.sqlite.finishes import Finishes
from foliot.adapters.storage.sqlite.tree_reads import SQL
from foliot.adapters.storage.sqlite.trouble import UNSTORABLE
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.run.lease import Finish
from foliot.domain.run.outcome import Cancelled
from foliot.domain.run.run import Ended, NewRun
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.tree.tree import Tree


def open_all(tx: Transaction, project: str, save: Finishes, openings: Sequence[Opening], now: Instant) -> list[Token]:
    """Open those whose token is current; returns the other tokens. One that cannot be stored ends its run as failed."""
    stale: list[Token] = []
    for opening in openings:
        claim = opening.claim
        try:
            with tx.savepoint():
                is_current = _open(tx, project, save, opening, now)
        except UNSTORABLE:
            stale += save.finish(tx, [unopened(claim)], now)
            continue
        if not is_current:
            stale.append(claim.token)
    return stale


def settle_all(tx: Transaction, project: str, settlements: Sequence[Settlement], now: Instant) -> list[RunId]:
    """Save those whose tree is as it was. One that cannot be stored changes nothing."""
    return [one.tree.run_id for one in settlements if _is_settled(tx, project, one, now)]


def _is_settled(tx: Transaction, project: str, settlement: Settlement, now: Instant) -> bool:
    try:
        with tx.savepoint():
            return _settle(tx, project, settlement, now)
    except UNSTORABLE:
        return False


def _open(tx: Transaction, project: str, save: Finishes, opening: Opening, now: Instant) -> bool:
    claim, tree, _, runs, _, ended = opening
    rows = tx.rows(finishes.SQL["held_leases"], (encode([claim.token]),))
    if [row[:3] for row in rows] != [(claim.token, claim.run_id, claim.worker_id)]:
        return bool(tx.row(SQL["was_opened"], (claim.run_id, claim.token)))
    revision = tx.value(SQL["job_revision"], (project, tree.job_id))
    if revision is None and tree.revision is not None:
        # Deleting a workflow cancels what has not begun, and this has not.
        return not save.finish(tx, [Finish(claim.run_id, claim.worker_id, claim.token, Cancelled())], now)
    if tree.revision not in (revision, None):
        return False
    [lease] = [Lease(*row) for row in rows]
    cancel_at = lease.cancel_at
    _begin(tx, project, opening, lease)
    add_event(tx, now, EventKind.EXECUTIONS_OPENED, notices.opened([tree]))
    if cancel_at is not None:
        note_trees(tx, [tree.run_id])
    _start(tx, project, runs, now)
    if ended is not None:
        _end(tx, tree, ended, now)
    return True


def _begin(tx: Transaction, project: str, opening: Opening, lease: Lease) -> None:
    tree = opening.tree
    tx.run(finishes.SQL["end_leases"], (encode([lease.token]),))
    tx.run(SQL["go_on_alone"], (lease.started_at, lease.attempt, lease.worker_id, lease.token, lease.run_id))
    tx.run(SQL["add_trees"], tree_row(project, tree, lease.cancel_at))
    tx.run(SQL["add_bodies"], (tree.run_id, opening.body))
    rows = [(tree.run_id, name, nth, *state_row(state)) for nth, (name, state) in enumerate(opening.steps.items())]
    tx.run_many(SQL["add_steps"], rows)


def _settle(tx: Transaction, project: str, settlement: Settlement, now: Instant) -> bool:
    tree = settlement.tree
    values = (tree.open, progress_text(tree), tree.is_ending, tree.run_id, tree.state)
    if not tx.run(SQL["advance_trees"], values):
        return False
    tx.run(SQL["remove_notes"], (tree.run_id, encode_names(settlement.notes)))
    changed = [(*state_row(state), tree.run_id, name) for name, state in settlement.steps.items()]
    tx.run_many(SQL["change_steps"], changed)
    _start(tx, project, settlement.runs, now)
    if settlement.cancels:
        cancels.cancel(tx, settlement.cancels, now)
    if settlement.ended is not None:
        _end(tx, tree, settlement.ended, now)
    return True


def _start(tx: Transaction, project: str, runs: Sequence[NewRun], now: Instant) -> None:
    if runs:
        admission.admit_keys(tx, creation.place(tx, creation.insert(tx, project, runs, now), now))


def _end(tx: Transaction, tree: Tree, ended: Ended, now: Instant) -> None:
    """The run of the tree is over, like any other: its places are free, and its own parent gets a note."""
    run_id = tree.run_id
    tx.run(SQL["end_trees"], (now, run_id))
    tx.run(SQL["remove_all_notes"], (run_id,))
    how = (ended.status, ended.reason, now, ended.exit_code, storable(ended.error))
    attempt: int = tx.value(SQL["end_tree_runs"], (*how, run_id))
    if ended.output is not None:
        tx.run(finishes.SQL["add_outputs"], (run_id, ended.output))
    keys = admission.keys_of(tx, [run_id])
    tx.run(admission.SQL["release_all_places"], (run_id,))
    add_event(tx, now, EventKind.RUNS_ENDED, notices.ended_by_hand([(run_id, ended, attempt)]))
    add_event(tx, now, EventKind.EXECUTIONS_ENDED, notices.over([(tree, ended)]))
    follow_ends(tx, [run_id])
    admission.admit_keys(tx, keys)
