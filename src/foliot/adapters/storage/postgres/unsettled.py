"""Which trees ask for a decision, with what it is probably made from.

The trees are read first, with their states. What is read after that and has changed in between has raised a state, and
the decision made from it is not saved; so no transaction is needed, and no lock.
"""

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any, Final

from foliot.adapters.storage.postgres.database import Database
from foliot.adapters.storage.shared.tree_rows import TREE_COLUMNS, note_of, state_of, tree_of
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.tree.kind import Loaded
from foliot.domain.tree.tree import Notes
from foliot.domain.workflow.progress import StepState
from foliot.errors import RowUnreadable
from foliot.ports.trees import PREFETCHED_STEPS, Unsettled, UnsettledTree

_PAUSED: Final = 1 + TREE_COLUMNS
"""Where in a row the paused steps are, behind the time and the columns of a tree."""


async def unsettled_trees(
    database: Database, limit: int, notes_per_tree: int, after: RunId | None, at: Instant | None
) -> Unsettled:
    asked = database.clock.elapsed()
    rows = await database.rows("unsettled_trees", at, limit, after or "")
    now = Instant(rows[0][0])
    if at is None:
        database.clock.learn(now, asked)
    found = [(tree_of(row[1:_PAUSED]), row[_PAUSED]) for row in rows if row[1] is not None]
    notes = await _notes(database, [tree.run_id for tree, _ in found], notes_per_tree)
    states = await _states(database, [tree.run_id for tree, _ in found if 0 < tree.size <= PREFETCHED_STEPS])
    trees = [
        UnsettledTree(tree, notes[tree.run_id], _loaded(states.get(tree.run_id), paused)) for tree, paused in found
    ]
    noted = [RunId(row["run_id"]) for row in rows if row["has_notes"]]
    return Unsettled(now, trees, noted[-1] if len(noted) == limit else None)


def _loaded(states: dict[str, StepState] | None, paused: Collection[str]) -> Loaded:
    if states is None:
        return Loaded(paused=set(paused))
    return Loaded(states=states, has_all_states=True, paused=set(paused))


async def _notes(database: Database, run_ids: list[RunId], most: int) -> dict[RunId, Notes]:
    rows = await database.rows("notes_of_trees", run_ids, most + 1) if run_ids else []
    notes = {run_id: Notes([]) for run_id in run_ids}
    for run_id, group in groupby(rows, key=lambda row: row[0]):
        own = [note_of(row[1:]) for row in group]
        notes[run_id] = Notes(own[:most], len(own) > most)
    return notes


async def _states(database: Database, run_ids: list[RunId]) -> dict[RunId, dict[str, StepState]]:
    """Trees with a step that cannot be read are left out: the decision asks for the states that it needs."""
    rows = await database.rows("states_of_trees", run_ids) if run_ids else []
    states: dict[RunId, dict[str, StepState]] = {}
    for run_id, group in groupby(rows, key=lambda row: row[0]):
        known = _read_states([*group])
        if known is not None:
            states[run_id] = known
    return states


def _read_states(rows: Sequence[Any]) -> dict[str, StepState] | None:
    try:
        return {row[1]: state_of(row[1], row[2:]) for row in rows}
    except RowUnreadable:
        return None
