"""Opens trees and settles them.

Reading takes no lock: the trees are read first, with their states. A change of any row that is read later also raises
the state of its tree, so a decision based on outdated rows is not saved.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import Final

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction, divide
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.postgres.rows.admit import Admitter
from foliot.adapters.storage.postgres.rows.definition import DefinitionReader
from foliot.adapters.storage.postgres.rows.end import note_trees
from foliot.adapters.storage.postgres.rows.finish import end_leases, finish_runs, save_plan
from foliot.adapters.storage.postgres.rows.settle import (
    end_trees,
    lock_documents,
    note_steps,
    save_effects,
    save_settlements,
    start_runs,
)
from foliot.adapters.storage.postgres.tree_loading import load_wanted
from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.finish_plan import FinishPlan, Lease, unstorable_tree
from foliot.adapters.storage.shared.tree_rows import (
    TREE_COLUMNS,
    note_of,
    record_of,
    shown_state_of,
    state_of,
    state_row,
    tree_of,
    tree_row,
)
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.domain.tree.abandonment import is_abandoned_chain
from foliot.domain.tree.kind import Loaded, Wanted
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.tree.tree import Notes, Tree
from foliot.domain.workflow.execution import StepRecord
from foliot.domain.workflow.progress import StepState
from foliot.errors import RowUnreadable
from foliot.ports.trees import PREFETCHED_STEPS, Unsettled, UnsettledTree

_JOB_DELETED: Final = Ended(Status.CANCELLED, Reason.CANCELLED)
"""How a run ends if its job was deleted after the claim and before the opening."""
_PAUSED: Final = 1 + TREE_COLUMNS
"""The index of the column with the paused steps, after the time and the columns of a tree."""


class PostgresTrees:
    """Fills `ports.trees.TreeStore`."""

    def __init__(self, database: Database, admitter: Admitter, definitions: DefinitionReader, project: str) -> None:
        self._database = database
        self._admitter = admitter
        self._definitions = definitions
        self._project = project

    async def open(self, openings: Sequence[Opening], *, at: Instant | None = None) -> list[Token]:
        if not openings:
            return []
        saved = dict(await divide(openings, partial(self._open, at=at)))
        refused = [opening for opening in openings if opening.claim.token not in saved]
        saved |= {opening.claim.token: await self._refuse(opening, at) for opening in refused}
        return [opening.claim.token for opening in openings if not saved[opening.claim.token]]

    async def _open(self, openings: Sequence[Opening], at: Instant | None) -> list[tuple[Token, bool]]:
        work = partial(_open_trees, project=self._project, openings=openings, at=at)
        stale = await self._admitter.write("open", work, at)
        return [(opening.claim.token, opening.claim.token not in stale) for opening in openings]

    async def _refuse(self, opening: Opening, at: Instant | None) -> bool:
        """End the run of a tree that cannot be stored. Returns whether its token was current."""
        work = partial(finish_runs, definitions=self._definitions, finishes=[unstorable_tree(opening.claim)], at=at)
        return not await self._admitter.write("finish", work, at)

    async def unsettled(
        self, limit: int, *, notes_per_tree: int, after: RunId | None = None, at: Instant | None = None
    ) -> Unsettled:
        asked = self._database.clock.elapsed()
        rows = await self._database.rows("unsettled_trees", at, limit, after or "")
        now = Instant(rows[0][0])
        if at is None:
            self._database.clock.learn(now, asked)
        found = [(tree_of(row[1:_PAUSED]), set(row[_PAUSED])) for row in rows if row[1] is not None]
        notes = await _notes(self._database, [tree.run_id for tree, _ in found], notes_per_tree)
        small = [tree.run_id for tree, _ in found if 0 < tree.size <= PREFETCHED_STEPS]
        states = await _states(self._database, small)
        trees = [
            UnsettledTree(
                tree,
                notes[tree.run_id],
                Loaded(states=states.get(tree.run_id, {}), has_all_states=tree.run_id in states, paused=paused),
            )
            for tree, paused in found
        ]
        noted = [RunId(row["run_id"]) for row in rows if row["has_notes"]]
        return Unsettled(now, trees, noted[-1] if len(noted) == limit else None)

    async def load(self, wants: Sequence[Wanted], *, at: Instant | None = None) -> Mapping[RunId, Loaded]:
        return await load_wanted(self._database, self._project, wants, at)

    async def open_children(self, run_id: RunId) -> list[RunId]:
        return [row[0] for row in await self._database.rows("open_children", run_id)]

    async def steps(self, run_id: RunId) -> list[StepRecord]:
        rows = await self._database.rows("all_states", run_id)
        states = {row[0]: shown_state_of(row[0], row[1:]) for row in rows}
        run_ids = [state.run_id for state in states.values() if state.run_id is not None]
        found = await self._database.rows("get_runs", run_ids) if run_ids else []
        runs = {row["id"]: (row["status"], row["reason"], row["error"]) for row in found}
        return [record_of(name, state, runs.get(state.run_id)) for name, state in states.items()]

    async def settle(self, settlements: Sequence[Settlement], *, at: Instant | None = None) -> list[RunId]:
        return await divide(settlements, partial(self._settle, at=at)) if settlements else []

    async def _settle(self, settlements: Sequence[Settlement], at: Instant | None) -> list[RunId]:
        work = partial(_settle_trees, project=self._project, settlements=settlements, at=at)
        return await self._admitter.write("settle_trees", work, at)


# -- unsettled trees


async def _notes(database: Database, run_ids: list[RunId], most: int) -> dict[RunId, Notes]:
    rows = await database.rows("notes_of_trees", run_ids, most + 1) if run_ids else []
    notes = {run_id: Notes([]) for run_id in run_ids}
    for run_id, group in groupby(rows, key=lambda row: row[0]):
        own = [note_of(row[1:]) for row in group]
        notes[run_id] = Notes(own[:most], len(own) > most)
    return notes


async def _states(database: Database, run_ids: list[RunId]) -> dict[RunId, dict[str, StepState]]:
    """Return step states by tree, without trees that have an unreadable step: these load the states they need."""
    rows = await database.rows("states_of_trees", run_ids) if run_ids else []
    states: dict[RunId, dict[str, StepState]] = {}
    for run_id, group in groupby(rows, key=lambda row: row[0]):
        with suppress(RowUnreadable):
            states[run_id] = {row[1]: state_of(row[1], row[2:]) for row in group}
    return states


# -- opening


async def _open_trees(
    transaction: Transaction, *, project: str, openings: Sequence[Opening], at: Instant | None
) -> list[Token]:
    """Open the trees of current leases whose job and shared document have not changed. Returns the other tokens."""
    now = await transaction.now(at)
    # Locked jobs cannot be renamed or deleted until the transaction ends.
    job_ids = sorted({opening.tree.job_id for opening in openings})
    revisions: dict[str, int] = dict(await transaction.rows("lock_jobs_of_trees", project, job_ids))
    named = [
        (one.claim.token, one.claim.run_id, one.claim.worker_id)
        for one in await lock_documents(transaction, project, openings)
        if _is_deleted(one.tree, revisions) or _is_unchanged(one.tree, revisions)
    ]
    leases = {lease.token: lease for lease in await end_leases(transaction, named, now)}
    current = [opening for opening in openings if opening.claim.token in leases]
    begun = [opening for opening in current if not _is_deleted(opening.tree, revisions)]
    if begun:
        await _begin(transaction, project, begun, leases, now)
    deleted = [leases[one.claim.token] for one in current if _is_deleted(one.tree, revisions)]
    if deleted:
        await save_plan(transaction, FinishPlan([(lease, _JOB_DELETED) for lease in deleted], [], [], [], []))
    unknown = [(one.claim.run_id, one.claim.token) for one in openings if one.claim.token not in leases]
    return await _not_opened(transaction, unknown)


def _is_deleted(tree: Tree, revisions: Mapping[str, int]) -> bool:
    return tree.revision is not None and tree.job_id not in revisions


def _is_unchanged(tree: Tree, revisions: Mapping[str, int]) -> bool:
    return tree.revision is None or tree.revision == revisions.get(tree.job_id)


async def _begin(
    transaction: Transaction, project: str, openings: Sequence[Opening], leases: dict[Token, Lease], now: Instant
) -> None:
    own = [leases[opening.claim.token] for opening in openings]
    begun = [(lease.run_id, lease.token, lease.worker_id, lease.attempt, lease.started_at) for lease in own]
    await transaction.run("continue_without_worker", *columns(begun))
    trees = [tree_row(project, one.tree, lease.cancel_at) for one, lease in zip(openings, own, strict=True)]
    await transaction.run("add_trees", *columns(trees))
    await transaction.run("add_bodies", *columns((one.tree.run_id, one.body.decode()) for one in openings))
    steps = [
        (one.tree.run_id, name, nth, *state_row(state))
        for one in openings
        for nth, (name, state) in enumerate(one.steps.items())
    ]
    if steps:
        await transaction.run("add_steps", *columns(steps))
    await note_trees(transaction, [lease.run_id for lease in own if lease.cancel_at is not None])
    transaction.add_event(EventKind.EXECUTIONS_OPENED, event_items.opened(opening.tree for opening in openings))
    note_steps(transaction, openings)
    await save_effects(transaction, project, [one.effects for one in openings if one.effects is not None])
    await start_runs(transaction, project, [run for opening in openings for run in opening.runs], now)
    await end_trees(transaction, [(one.tree, one.ended) for one in openings if one.ended is not None], now)


async def _not_opened(transaction: Transaction, named: Sequence[tuple[RunId, Token]]) -> list[Token]:
    """Return the tokens that opened no tree."""
    if not named:
        return []
    known = set(await transaction.column("opened_tokens", *columns(named)))
    return [token for _, token in named if token not in known]


# -- settling


async def _settle_trees(
    transaction: Transaction, *, project: str, settlements: Sequence[Settlement], at: Instant | None
) -> list[RunId]:
    """Save the settlements of trees whose state and shared document have not changed, and return these trees."""
    now = await transaction.now(at)
    firsts: dict[RunId, Settlement] = {}
    for settlement in settlements:
        firsts.setdefault(settlement.tree.run_id, settlement)
    abandoned = [run_id for run_id, one in firsts.items() if is_abandoned_chain(one)]
    free = await lock_documents(transaction, project, list(firsts.values()), abandoned)
    concerned = {run_id for one in free for run_id in (one.tree.run_id, *one.cancels)}
    states: dict[RunId, int] = dict(await transaction.rows("lock_trees", sorted(concerned))) if concerned else {}
    current = [one for one in free if states.get(one.tree.run_id) == one.tree.state]
    if current:
        await save_settlements(transaction, project, current, now)
    saved = [one.tree.run_id for one in current]
    if transaction.is_repeat:
        saved += await _saved_before(transaction, [one for run_id, one in firsts.items() if run_id not in saved])
    return saved


async def _saved_before(transaction: Transaction, settlements: Sequence[Settlement]) -> list[RunId]:
    """Return the trees that a commit with a lost reply settled: their state is one higher, and their runs exist."""
    if not settlements:
        return []
    states = dict(await transaction.rows("tree_states", [one.tree.run_id for one in settlements]))
    made = [run.id for one in settlements for run in one.runs]
    known = set(await transaction.column("existing_runs", made)) if made else set()
    return [
        one.tree.run_id
        for one in settlements
        if states.get(one.tree.run_id) == one.tree.state + 1 and known.issuperset(run.id for run in one.runs)
    ]
