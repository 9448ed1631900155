"""Saving what was decided about executions (`domain.workflow.execution`), one statement per table."""

from collections.abc import Iterable, Sequence

from foliot.adapters.storage import notices
from foliot.adapters.storage.documents import storable
from foliot.adapters.storage.execution_rows import execution_row, state_row, unresolved_in
from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.cancelling import cancel_runs
from foliot.adapters.storage.postgres.creating import create_runs
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.postgres.endings import follow_ends, note_roots
from foliot.adapters.storage.postgres.placing import Standing, place
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.run import Ended, NewRun
from foliot.domain.workflow.execution import Execution, Opening, Settlement
from foliot.errors import Unstorable


async def open_executions(
    transaction: Transaction, project: str, openings: Sequence[Opening], now: Instant
) -> list[Token]:
    """Open those whose token and revision are current. Returns the tokens of the others."""
    claims = [opening.claim for opening in openings]
    workflows = sorted({opening.execution.workflow_id for opening in openings})
    revisions = dict(await transaction.rows("lock_workflow_jobs", project, workflows))
    known = [one.claim for one in openings if one.execution.is_of_revision(revisions.get(one.execution.workflow_id))]
    named = [(claim.token, claim.run_id, claim.worker_id) for claim in known]
    rows = await transaction.rows("end_leases", *columns(named)) if named else []
    leases = {row["token"]: row for row in rows}
    current = [opening for opening in openings if opening.claim.token in leases]
    if current:
        begun = [
            (row["run_id"], row["token"], row["worker_id"], row["attempt"], row["started_at"])
            for row in leases.values()
        ]
        await transaction.run("go_on_alone", *columns(begun))
        asked = {opening.claim.token: leases[opening.claim.token]["cancel_at"] for opening in current}
        await _begin(transaction, project, current, asked)
        await note_roots(transaction, [one.claim.run_id for one in current if asked[one.claim.token] is not None])
        transaction.note(EventKind.EXECUTIONS_OPENED, notices.opened(opening.execution for opening in current))
        await _start(transaction, project, [run for opening in current for run in opening.runs.values()], now)
        await _end(transaction, [(one.execution, one.ended) for one in current if one.ended is not None], now)
    unknown = [claim for claim in claims if claim.token not in leases]
    return await _not_opened(transaction, [(claim.run_id, claim.token) for claim in unknown])


async def _begin(
    transaction: Transaction, project: str, openings: Sequence[Opening], cancels: dict[Token, Instant | None]
) -> None:
    executions = [
        execution_row(project, one.execution, unresolved_in(one.states), cancels[one.claim.token]) for one in openings
    ]
    await transaction.run("add_executions", *columns(executions))
    steps = [
        (one.execution.run_id, name, nth, *state_row(state))
        for one in openings
        for nth, (name, state) in enumerate(one.states.items())
    ]
    if steps:
        await transaction.run("add_steps", *columns(steps))


async def _not_opened(transaction: Transaction, named: Sequence[tuple[RunId, Token]]) -> list[Token]:
    """Those that were not opened before, with that very token."""
    if not named:
        return []
    known = set(await transaction.column("opened_tokens", *columns(named)))
    return [token for _, token in named if token not in known]


async def settle_executions(
    transaction: Transaction, project: str, settlements: Sequence[Settlement], now: Instant
) -> list[RunId]:
    """Save those whose execution is as it was; the executions of those saved come back."""
    firsts: dict[RunId, Settlement] = {}
    for settlement in settlements:
        firsts.setdefault(settlement.execution.run_id, settlement)
    states: dict[RunId, int] = dict(await transaction.rows("lock_executions", sorted(firsts)))
    current = [one for run_id, one in firsts.items() if states.get(run_id) == one.execution.state]
    if current:
        await _save(transaction, project, current, now)
    saved = [one.execution.run_id for one in current]
    if transaction.is_repeat:
        saved += await _saved_before(transaction, [one for run_id, one in firsts.items() if run_id not in saved])
    return saved


async def _save(transaction: Transaction, project: str, settlements: Sequence[Settlement], now: Instant) -> None:
    advanced = [
        (one.execution.run_id, one.execution.unresolved - one.newly_resolved, one.execution.is_ending)
        for one in settlements
    ]
    await transaction.run("advance_executions", *columns(advanced))
    seen = [(one.execution.run_id, run_id) for one in settlements for run_id in one.notes]
    if seen:
        await transaction.run("remove_notes", *columns(seen))
    changed = [
        (one.execution.run_id, name, *state_row(state)) for one in settlements for name, state in one.changed.items()
    ]
    if changed:
        await transaction.run("change_steps", *columns(changed))
    await _start(transaction, project, [run for one in settlements for run in one.runs.values()], now)
    await cancel_runs(transaction, [run_id for one in settlements for run_id in one.cancels], now)
    await _end(transaction, [(one.execution, one.ended) for one in settlements if one.ended is not None], now)


async def _start(transaction: Transaction, project: str, runs: Sequence[NewRun], now: Instant) -> None:
    if not runs:
        return
    fresh, _ = await create_runs(transaction, project, runs, now, are_ready=False)
    if len(fresh) != len(runs):
        raise Unstorable(ValueError("a run of that id exists already"))
    await place(transaction, [Standing.of_new(run) for run in fresh], now)


async def _end(transaction: Transaction, ended: Iterable[tuple[Execution, Ended]], now: Instant) -> None:
    """The runs of the executions are over, as any other: their places are free, and who waits for them is told."""
    how = {execution.run_id: (execution, end) for execution, end in ended}
    if not how:
        return
    run_ids = list(how)
    await transaction.run("end_executions", run_ids, now)
    await transaction.run("remove_all_notes", run_ids)
    rows = [
        (run_id, end.status.value, end.reason, end.exit_code, storable(end.error)) for run_id, (_, end) in how.items()
    ]
    attempts: dict[RunId, int] = dict(await transaction.rows("end_execution_runs", now, *columns(rows)))
    outputs = [(run_id, end.output.decode()) for run_id, (_, end) in how.items() if end.output is not None]
    if outputs:
        await transaction.run("add_outputs", *columns(outputs))
    transaction.keys.update(await transaction.column("release_holds", run_ids))
    told = [(run_id, end, attempts[run_id]) for run_id, (_, end) in how.items()]
    transaction.note(EventKind.RUNS_ENDED, notices.ended_by_hand(told))
    transaction.note(EventKind.EXECUTIONS_ENDED, notices.over(how.values()))
    await follow_ends(transaction, run_ids)


async def _saved_before(transaction: Transaction, settlements: Sequence[Settlement]) -> list[RunId]:
    """Those that a commit in doubt had saved: they are one state further, and the runs they made are there."""
    if not settlements:
        return []
    states = dict(await transaction.rows("execution_states", [one.execution.run_id for one in settlements]))
    made = [run.id for one in settlements for run in one.runs.values()]
    known = set(await transaction.column("existing_runs", made)) if made else set()
    return [
        one.execution.run_id
        for one in settlements
        if states.get(one.execution.run_id) == one.execution.state + 1
        and known.issuperset(run.id for run in one.runs.values())
    ]
