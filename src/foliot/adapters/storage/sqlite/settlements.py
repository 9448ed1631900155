"""Saving what was decided about executions (`domain.workflow.execution`), each as a whole or not at all."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from foliot.adapters.storage import notices
from foliot.adapters.storage.documents import encode, encode_names, storable
from foliot.adapters.storage.execution_rows import execution_row, state_row, unresolved_in
from foliot.adapters.storage.queries import load_queries
from foliot.adapters.storage.sqlite import admission, cancels, creation, finishes
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.endings import follow_ends, note_roots
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.sqlite.trouble import UNSTORABLE
from foliot.adapters.storage.verdicts import unopened
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.run import Ended, NewRun
from foliot.domain.workflow.execution import Execution, Opening, Settlement

SQL: Final = load_queries(Path(__file__).parent / "sql" / "executions.sql")


def open_all(tx: Transaction, project: str, openings: Sequence[Opening], now: Instant) -> list[Token]:
    """Open those whose token and revision are current. Returns the tokens of the others.

    One that cannot be stored ends its run as failed.
    """
    stale: list[Token] = []
    for opening in openings:
        try:
            with tx.savepoint():
                is_current = _open(tx, project, opening, now)
        except UNSTORABLE:
            stale += finishes.finish(tx, [unopened(opening.claim)], now)
            continue
        if not is_current:
            stale.append(opening.claim.token)
    return stale


def settle_all(tx: Transaction, project: str, settlements: Sequence[Settlement], now: Instant) -> list[RunId]:
    """Save those whose execution is as it was. One that cannot be stored changes nothing."""
    return [one.execution.run_id for one in settlements if _settles(tx, project, one, now)]


def _settles(tx: Transaction, project: str, settlement: Settlement, now: Instant) -> bool:
    try:
        with tx.savepoint():
            return _settle(tx, project, settlement, now)
    except UNSTORABLE:
        return False


def _open(tx: Transaction, project: str, opening: Opening, now: Instant) -> bool:
    claim, execution, states, runs, ended = opening
    rows = tx.rows(finishes.SQL["held_leases"], (encode([claim.token]),))
    if [row[:3] for row in rows] != [(claim.token, claim.run_id, claim.worker_id)]:
        return bool(tx.row(SQL["was_opened"], (claim.run_id, claim.token)))
    if not execution.is_of_revision(tx.value(SQL["workflow_revision"], (project, execution.workflow_id))):
        return False
    [(_, _, _, cancel_at)] = rows
    tx.run(finishes.SQL["end_leases"], (encode([claim.token]),))
    tx.run(SQL["go_on_alone"], (claim.started_at, claim.attempt, claim.worker_id, claim.token, claim.run_id))
    tx.run(SQL["add_execution"], execution_row(project, execution, unresolved_in(states), cancel_at))
    steps = [(execution.run_id, name, nth, *state_row(state)) for nth, (name, state) in enumerate(states.items())]
    tx.run_many(SQL["add_steps"], steps)
    if cancel_at is not None:
        note_roots(tx, [execution.run_id])
    add_event(tx, now, EventKind.EXECUTIONS_OPENED, notices.opened([execution]))
    _start(tx, project, runs.values(), now)
    if ended is not None:
        _end(tx, execution, ended, now)
    return True


def _settle(tx: Transaction, project: str, settlement: Settlement, now: Instant) -> bool:
    execution = settlement.execution
    unresolved = execution.unresolved - settlement.newly_resolved
    decided_on = (execution.run_id, execution.state)
    if not tx.run(SQL["advance_execution"], (unresolved, execution.is_ending, *decided_on)):
        return False
    tx.run(SQL["remove_notes"], (execution.run_id, encode_names(settlement.notes)))
    changed = [(*state_row(state), execution.run_id, name) for name, state in settlement.changed.items()]
    tx.run_many(SQL["change_steps"], changed)
    _start(tx, project, settlement.runs.values(), now)
    if settlement.cancels:
        cancels.cancel(tx, settlement.cancels, now)
    if settlement.ended is not None:
        _end(tx, execution, settlement.ended, now)
    return True


def _start(tx: Transaction, project: str, runs: Iterable[NewRun], now: Instant) -> None:
    new = list(runs)
    if new:
        admission.admit_keys(tx, creation.place(tx, creation.insert(tx, project, new, now), now))


def _end(tx: Transaction, execution: Execution, ended: Ended, now: Instant) -> None:
    """The run of the execution is over, as any other: its places are free, and who waits for it is told."""
    run_id = execution.run_id
    tx.run(SQL["end_execution"], (now, run_id))
    tx.run(SQL["remove_all_notes"], (run_id,))
    how = (ended.status, ended.reason, now, ended.exit_code, storable(ended.error))
    attempt: int = tx.value(SQL["end_execution_run"], (*how, run_id))
    if ended.output is not None:
        tx.run(finishes.SQL["add_outputs"], (run_id, ended.output))
    keys = admission.keys_of(tx, [run_id])
    tx.run(admission.SQL["release_all_places"], (run_id,))
    add_event(tx, now, EventKind.RUNS_ENDED, notices.ended_by_hand([(run_id, ended, attempt)]))
    add_event(tx, now, EventKind.EXECUTIONS_ENDED, notices.over([(execution, ended)]))
    follow_ends(tx, [run_id])
    admission.admit_keys(tx, keys)
