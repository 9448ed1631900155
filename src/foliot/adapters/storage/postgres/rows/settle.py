"""Saves decisions about trees, and what they change beside their trees (`domain.tree.settlement.Effects`)."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, TypeVar

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.postgres.rows.cancel import cancel_runs
from foliot.adapters.storage.postgres.rows.create import create_and_place
from foliot.adapters.storage.postgres.rows.end import end_unleased, note_trees
from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.chain_rows import chain_row
from foliot.adapters.storage.shared.tree_rows import progress_text, state_row
from foliot.domain.chain.class_state import class_key
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Ended, NewRun
from foliot.domain.tree.abandonment import abandoned_outcome, is_abandoned_chain, without_chain
from foliot.domain.tree.settlement import Effects, Opening, Settlement, SharedChange
from foliot.domain.tree.tree import Tree
from foliot.errors import Unstorable

Decided = TypeVar("Decided", Opening, Settlement)


async def lock_documents(
    transaction: Transaction, project: str, decisions: Sequence[Decided], abandoned: Sequence[RunId] = ()
) -> list[Decided]:
    """Lock the shared documents that decisions change, ascending. Returns the decisions that can be saved: of several
    that change one document only the first, and none that was based on another version.

    `abandoned`: chains that end without their rules."""
    changes: list[SharedChange] = [
        one.effects.shared for one in decisions if one.effects is not None and one.effects.shared is not None
    ]
    if not changes and not abandoned:
        return list(decisions)
    new = sorted({change.key for change in changes if change.version == 0})
    if new:
        await transaction.run("add_classes", project, new)
    records: list[Any] = [row for run_id in abandoned for row in await transaction.rows("get_chain", run_id)]
    keys = sorted({*(change.key for change in changes), *(class_key(row["class_id"]) for row in records)})
    versions: dict[str, int] = dict(await transaction.rows("lock_classes", project, keys))
    current: list[Decided] = []
    for one in decisions:
        change = None if one.effects is None else one.effects.shared
        if change is None or versions.pop(change.key, None) == change.version:
            current.append(one)
    return current


async def save_settlements(
    transaction: Transaction, project: str, settlements: Sequence[Settlement], now: Instant
) -> None:
    """Save decisions about trees that are locked, as are the documents that they change."""
    trees = [one.tree for one in settlements]
    advanced = [(tree.run_id, tree.open, progress_text(tree), tree.is_ending, tree.deadline) for tree in trees]
    settled = [(one.tree.run_id, run_id) for one in settlements for run_id in one.notes]
    changed = [(one.tree.run_id, name, *state_row(state)) for one in settlements for name, state in one.steps.items()]
    rows = columns(advanced), columns(settled) or [[]] * 2, columns(changed) or [[]] * 7
    await transaction.run("advance_trees", *chain.from_iterable(rows))
    await save_effects(transaction, project, [one.effects for one in settlements if one.effects is not None])
    note_steps(transaction, settlements)
    await start_runs(transaction, project, [run for one in settlements for run in one.runs], now)
    cancels = [run_id for one in settlements for run_id in one.cancels]
    if cancels:
        await cancel_runs(transaction, cancels, now)
    await end_trees(transaction, [(one.tree, one.ended) for one in settlements if one.ended is not None], now)
    for one in filter(is_abandoned_chain, settlements):
        await _release_chain(transaction, project, one, now)


async def _release_chain(transaction: Transaction, project: str, settlement: Settlement, now: Instant) -> None:
    """Close the record of a chain that ended without its rules, and free its place in the class, which is locked."""
    run_id, ended = settlement.tree.run_id, settlement.ended
    outcome = None if ended is None else abandoned_outcome(ended).value
    class_id = await transaction.value("close_chains", outcome, now, run_id)
    rows = [] if class_id is None else await transaction.rows("lock_class", project, class_key(class_id))
    for _, body in rows:
        if body is not None:
            document = without_chain(body.encode(), run_id).decode()
            await transaction.run("change_shared", project, [class_key(class_id)], [document])


async def save_effects(transaction: Transaction, project: str, effects: Sequence[Effects]) -> None:
    """Save what decisions change beside their trees. Their documents are locked, and have the versions read."""
    shared = [(one.shared.key, one.shared.body.decode()) for one in effects if one.shared is not None]
    if shared:
        await transaction.run("change_shared", project, *columns(shared))
    records = [chain_row(project, one.record) for one in effects if one.record is not None]
    if records:
        # As text, like all arrays that are not of integers.
        await transaction.run("put_chains", *columns((*row, str(usd)) for *row, usd in records))
    transaction.add_event(
        EventKind.ALERT_RAISED, event_items.alerts(chain.from_iterable(one.alerts for one in effects))
    )
    await note_trees(transaction, list(dict.fromkeys(run_id for one in effects for run_id in one.wakes)))


def note_steps(transaction: Transaction, decisions: Sequence[Opening] | Sequence[Settlement]) -> None:
    items = [event_items.changed_steps(one.tree.run_id, one.runs, one.steps) for one in decisions]
    transaction.add_event(EventKind.STEPS_CHANGED, list(chain.from_iterable(items)))


async def start_runs(transaction: Transaction, project: str, runs: Sequence[NewRun], now: Instant) -> None:
    if not runs:
        return
    fresh, _ = await create_and_place(transaction, project, runs, now)
    if len(fresh) != len(runs):
        raise Unstorable(ValueError("a run with this id exists already"))


async def end_trees(transaction: Transaction, ended: Iterable[tuple[Tree, Ended]], now: Instant) -> None:
    """End the runs of these trees."""
    how = {tree.run_id: (tree, end) for tree, end in ended}
    if not how:
        return
    run_ids = list(how)
    await transaction.run("end_trees", run_ids, now)
    await transaction.run("remove_all_notes", run_ids)
    transaction.keys.update(await transaction.column("release_holds", run_ids))
    endings = {run_id: end for run_id, (_, end) in how.items()}
    await end_unleased(transaction, endings, now, query="end_tree_runs")
    transaction.add_event(EventKind.EXECUTIONS_ENDED, event_items.over(how.values()))
