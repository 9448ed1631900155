"""Opens and settles trees (`domain.tree`), each completely or not at all."""

from collections.abc import Mapping, Sequence

from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.documents import encode
from foliot.adapters.storage.shared.finish_plan import Lease, unstorable_tree
from foliot.adapters.storage.shared.tree_rows import state_row, tree_row
from foliot.adapters.storage.sqlite.database.context import Context, PortBase
from foliot.adapters.storage.sqlite.database.errors import UNSTORABLE
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.create import create_runs
from foliot.adapters.storage.sqlite.rows.end import note_trees
from foliot.adapters.storage.sqlite.rows.finish import Finishes, held_lease
from foliot.adapters.storage.sqlite.rows.settle import SharedConflict, end_tree, save_effects, save_settlement
from foliot.adapters.storage.sqlite.tree_loading import load_all, read_steps, read_unsettled
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.run.lease import Finish
from foliot.domain.run.outcome import Cancelled
from foliot.domain.tree.kind import Loaded, Wanted
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.workflow.execution import StepRecord
from foliot.ports.trees import Unsettled


class SqliteTrees(PortBase):
    """Fills `ports.trees.TreeStore`."""

    def __init__(self, context: Context, finishes: Finishes) -> None:
        super().__init__(context)
        self._finishes = finishes

    async def open(self, openings: Sequence[Opening], *, at: Instant | None = None) -> list[Token]:
        return await self._writer.submit(
            "open", lambda tx: _open_all(tx, self._project, self._finishes, openings, tx.now(at))
        )

    async def unsettled(
        self, limit: int, *, notes_per_tree: int, after: RunId | None = None, at: Instant | None = None
    ) -> Unsettled:
        now = self._context.now(at)
        return await self._reader.read(
            lambda session: read_unsettled(session, self._project, limit, notes_per_tree, after, now)
        )

    async def load(self, wants: Sequence[Wanted], *, at: Instant | None = None) -> Mapping[RunId, Loaded]:
        now = self._context.now(at)
        return await self._reader.read(lambda session: load_all(session, self._project, wants, now))

    async def open_children(self, run_id: RunId) -> list[RunId]:
        return await self._reader.read(lambda session: session.column(SQL["open_children"], (run_id,)))

    async def steps(self, run_id: RunId) -> list[StepRecord]:
        return await self._reader.read(lambda session: read_steps(session, run_id))

    async def settle(self, settlements: Sequence[Settlement], *, at: Instant | None = None) -> list[RunId]:
        def work(tx: Transaction) -> list[RunId]:
            return [one.tree.run_id for one in settlements if _try_settle(tx, self._project, one, tx.now(at))]

        return await self._writer.submit("settle_trees", work)


def _open_all(
    tx: Transaction, project: str, finishes: Finishes, openings: Sequence[Opening], now: Instant
) -> list[Token]:
    """Open the trees with a current token, and return the other tokens. A tree that cannot be stored fails its run."""
    stale: list[Token] = []
    for opening in openings:
        claim = opening.claim
        try:
            with tx.savepoint():
                is_current = _open(tx, project, finishes, opening, now)
        except SharedConflict:
            is_current = False
        except UNSTORABLE:
            stale += finishes.finish(tx, [unstorable_tree(claim)], now)
            continue
        if not is_current:
            stale.append(claim.token)
    return stale


def _open(tx: Transaction, project: str, finishes: Finishes, opening: Opening, now: Instant) -> bool:
    """Open a tree, or cancel its run if the job was deleted. Return whether the token was current."""
    claim, tree, runs, steps, ended = opening.claim, opening.tree, opening.runs, opening.steps, opening.ended
    lease = held_lease(tx, claim)
    if lease is None:
        # Opening a tree ended the lease. A repeated call finds the tree, and the token counts as current.
        return bool(tx.row(SQL["opened_tokens"], (claim.run_id, claim.token)))
    revision = tx.value(SQL["job_revision"], (project, tree.job_id))
    if revision is None and tree.revision is not None:
        # Deleting a workflow cancels runs that have not begun, and this run has not begun.
        return not finishes.finish(tx, [Finish(claim.run_id, claim.worker_id, claim.token, Cancelled())], now)
    if tree.revision not in (revision, None):
        return False
    _begin(tx, project, opening, lease)
    tx.add_event(now, EventKind.EXECUTIONS_OPENED, event_items.opened([tree]))
    tx.add_event(now, EventKind.STEPS_CHANGED, event_items.changed_steps(tree.run_id, runs, steps))
    if lease.cancel_at is not None:
        note_trees(tx, [tree.run_id])
    save_effects(tx, project, opening.effects, now)
    if runs:
        create_runs(tx, project, runs, now)
    if ended is not None:
        end_tree(tx, tree, ended, now)
    return True


def _begin(tx: Transaction, project: str, opening: Opening, lease: Lease) -> None:
    tree = opening.tree
    tx.run(SQL["end_leases"], (encode([lease.token]),))
    tx.run(
        SQL["continue_without_worker"], (lease.started_at, lease.attempt, lease.worker_id, lease.token, lease.run_id)
    )
    tx.run(SQL["add_trees"], tree_row(project, tree, lease.cancel_at))
    tx.run(SQL["add_bodies"], (tree.run_id, opening.body))
    rows = [(tree.run_id, name, nth, *state_row(state)) for nth, (name, state) in enumerate(opening.steps.items())]
    tx.run_many(SQL["add_steps"], rows)


def _try_settle(tx: Transaction, project: str, settlement: Settlement, now: Instant) -> bool:
    """Save a settlement, or nothing of it. Return whether it was saved."""
    try:
        with tx.savepoint():
            return save_settlement(tx, project, settlement, now)
    except (SharedConflict, *UNSTORABLE):
        return False
