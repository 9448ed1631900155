"""Saves what was decided about trees (`domain.tree.settlement`), one statement per table."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.cancelling import cancel_runs
from foliot.adapters.storage.postgres.creating import create_runs
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.postgres.endings import follow_ends, note_trees
from foliot.adapters.storage.postgres.finishing import end_leases, save_plan
from foliot.adapters.storage.postgres.placing import Standing, place
from foliot.adapters.storage.shared import event_items as notices
from foliot.adapters.storage.shared.documents import storable
from foliot.adapters.storage.shared.finish_plan import FinishPlan, Lease
from foliot.adapters.storage.shared.tree_rows import progress_text, state_row, tree_row
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, NewRun, Status
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.tree.tree import Tree
from foliot.errors import Unstorable

_JOB_DELETED: Final = Ended(Status.CANCELLED, Reason.CANCELLED)
"""How a run ends whose job was deleted after it was claimed and before it was opened."""

# -- opening


async def open_trees(transaction: Transaction, project: str, openings: Sequence[Opening], now: Instant) -> list[Token]:
    """Open the trees of current leases whose job has not changed. Returns the tokens of the others."""
    revisions = await _lock_jobs(transaction, project, openings)
    named = [
        (one.claim.token, one.claim.run_id, one.claim.worker_id)
        for one in openings
        if _is_deleted(one.tree, revisions) or _is_unchanged(one.tree, revisions)
    ]
    leases = {lease.token: lease for lease in await end_leases(transaction, named, now)}
    current = [opening for opening in openings if opening.claim.token in leases]
    begun = [opening for opening in current if not _is_deleted(opening.tree, revisions)]
    if begun:
        await _begin(transaction, project, begun, leases, now)
    deleted = [leases[one.claim.token] for one in current if _is_deleted(one.tree, revisions)]
    if deleted:
        await save_plan(transaction, FinishPlan([(lease, _JOB_DELETED) for lease in deleted], [], [], []))
    unknown = [(one.claim.run_id, one.claim.token) for one in openings if one.claim.token not in leases]
    return await _not_opened(transaction, unknown)


async def _lock_jobs(transaction: Transaction, project: str, openings: Sequence[Opening]) -> dict[str, int]:
    """The revisions of the trees' jobs that exist. They cannot be renamed or deleted until the transaction ends."""
    job_ids = sorted({opening.tree.job_id for opening in openings})
    return dict(await transaction.rows("lock_jobs_of_trees", project, job_ids))


def _is_deleted(tree: Tree, revisions: Mapping[str, int]) -> bool:
    return tree.revision is not None and tree.job_id not in revisions


def _is_unchanged(tree: Tree, revisions: Mapping[str, int]) -> bool:
    return tree.revision is None or tree.revision == revisions.get(tree.job_id)


async def _begin(
    transaction: Transaction, project: str, openings: Sequence[Opening], leases: dict[Token, Lease], now: Instant
) -> None:
    own = [leases[opening.claim.token] for opening in openings]
    begun = [(lease.run_id, lease.token, lease.worker_id, lease.attempt, lease.started_at) for lease in own]
    await transaction.run("go_on_alone", *columns(begun))
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
    transaction.note(EventKind.EXECUTIONS_OPENED, notices.opened(opening.tree for opening in openings))
    await _start(transaction, project, [run for opening in openings for run in opening.runs], now)
    await _end(transaction, [(one.tree, one.ended) for one in openings if one.ended is not None], now)


async def _not_opened(transaction: Transaction, named: Sequence[tuple[RunId, Token]]) -> list[Token]:
    """The tokens with which nothing was opened before."""
    if not named:
        return []
    known = set(await transaction.column("opened_tokens", *columns(named)))
    return [token for _, token in named if token not in known]


# -- settling


async def settle_trees(
    transaction: Transaction, project: str, settlements: Sequence[Settlement], now: Instant
) -> list[RunId]:
    """Save those whose tree is as it was, and return their trees."""
    firsts: dict[RunId, Settlement] = {}
    for settlement in settlements:
        firsts.setdefault(settlement.tree.run_id, settlement)
    concerned = {*firsts, *(run_id for one in firsts.values() for run_id in one.cancels)}
    states: dict[RunId, int] = dict(await transaction.rows("lock_trees", sorted(concerned)))
    current = [one for run_id, one in firsts.items() if states.get(run_id) == one.tree.state]
    if current:
        await _save(transaction, project, current, now)
    saved = [one.tree.run_id for one in current]
    if transaction.is_repeat:
        saved += await _saved_before(transaction, [one for run_id, one in firsts.items() if run_id not in saved])
    return saved


async def _save(transaction: Transaction, project: str, settlements: Sequence[Settlement], now: Instant) -> None:
    trees = [one.tree for one in settlements]
    advanced = [(tree.run_id, tree.open, progress_text(tree), tree.is_ending) for tree in trees]
    await transaction.run("advance_trees", *columns(advanced))
    settled = [(one.tree.run_id, run_id) for one in settlements for run_id in one.notes]
    if settled:
        await transaction.run("remove_notes", *columns(settled))
    changed = [(one.tree.run_id, name, *state_row(state)) for one in settlements for name, state in one.steps.items()]
    if changed:
        await transaction.run("change_steps", *columns(changed))
    await _start(transaction, project, [run for one in settlements for run in one.runs], now)
    cancels = [run_id for one in settlements for run_id in one.cancels]
    if cancels:
        await cancel_runs(transaction, cancels, now)
    await _end(transaction, [(one.tree, one.ended) for one in settlements if one.ended is not None], now)


async def _start(transaction: Transaction, project: str, runs: Sequence[NewRun], now: Instant) -> None:
    if not runs:
        return
    fresh, _ = await create_runs(transaction, project, runs, now, are_ready=False)
    if len(fresh) != len(runs):
        raise Unstorable(ValueError("a run of that id exists already"))
    await place(transaction, [Standing.of_new(run) for run in fresh], now)


async def _end(transaction: Transaction, ended: Iterable[tuple[Tree, Ended]], now: Instant) -> None:
    """End the runs of these trees as any other: give back their places, and leave notes for their own parents."""
    how = {tree.run_id: (tree, end) for tree, end in ended}
    if not how:
        return
    run_ids = list(how)
    await transaction.run("end_trees", run_ids, now)
    await transaction.run("remove_all_notes", run_ids)
    rows = [
        (run_id, end.status.value, end.reason, end.exit_code, storable(end.error)) for run_id, (_, end) in how.items()
    ]
    attempts: dict[RunId, int] = dict(await transaction.rows("end_tree_runs", now, *columns(rows)))
    outputs = [(run_id, end.output.decode()) for run_id, (_, end) in how.items() if end.output is not None]
    if outputs:
        await transaction.run("add_outputs", *columns(outputs))
    transaction.keys.update(await transaction.column("release_holds", run_ids))
    over = [(run_id, end, attempts[run_id]) for run_id, (_, end) in how.items()]
    transaction.note(EventKind.RUNS_ENDED, notices.ended_by_hand(over))
    transaction.note(EventKind.EXECUTIONS_ENDED, notices.over(how.values()))
    await follow_ends(transaction, run_ids)


async def _saved_before(transaction: Transaction, settlements: Sequence[Settlement]) -> list[RunId]:
    """Those that a commit in doubt had saved: they are one state further, and the runs they made are there."""
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
