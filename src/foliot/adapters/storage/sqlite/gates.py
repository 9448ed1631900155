"""Runs that wait for their gate, and endings by decision: what has not started ends as somebody has decided."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from foliot.adapters.storage.shared import event_items as notices
from foliot.adapters.storage.shared.definition_cache import Definitions, Reference, gated_of
from foliot.adapters.storage.shared.documents import encode_names, storable
from foliot.adapters.storage.shared.finish_plan import declined
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite import admission, cancels, creation, finishes
from foliot.adapters.storage.sqlite.claims import find_definitions
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Session
from foliot.adapters.storage.sqlite.endings import follow_ends
from foliot.adapters.storage.sqlite.events import add_event
from foliot.domain.events import EventKind
from foliot.domain.gate.decision import Gated, Passed, Postponed
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Ended

SQL: Final = load_queries(Path(__file__).parent / "sql" / "gates.sql")


def gated_runs(session: Session, project: str, definitions: Definitions, limit: int, now: Instant) -> list[Gated]:
    rows = session.rows(SQL["gated_runs"], (now, limit))
    references = [Reference(job_id, revision, definition_id) for _, job_id, _, _, revision, definition_id in rows]
    known = find_definitions(session, project, definitions, references)
    return [gated_of(row, known[reference.id]) for row, reference in zip(rows, references, strict=True)]


def pass_gates(tx: Transaction, passed: Sequence[Passed], postponed: Sequence[Postponed], now: Instant) -> list[RunId]:
    """Save what was decided about runs that still wait for it; those come back."""
    mine = [one for one in passed if tx.run(creation.SQL["leave_gated"], (one.run_id,))]
    tx.run_many(SQL["add_decisions"], [(run_id, msgspec.json.encode(decision)) for run_id, decision in mine])
    _let_pass(tx, [run_id for run_id, decision in mine if declined(decision) is None], now)
    ends = {run_id: ended for run_id, decision in mine if (ended := declined(decision)) is not None}
    _end_unstarted(tx, ends, cancels.give_up_places(tx, ends), now)
    waiting = [run_id for run_id, until in postponed if tx.run(SQL["postpone"], (until, run_id))]
    return [one.run_id for one in mine] + waiting


def _end_unstarted(tx: Transaction, endings: Mapping[RunId, Ended], keys: set[str], now: Instant) -> None:
    """End runs that have not started and stand nowhere any more. Who waits is told, also for the places they had."""
    if not endings:
        return
    told = []
    for run_id, ended in endings.items():
        values = (ended.status, ended.reason, now, ended.exit_code, storable(ended.error), run_id)
        told.append((run_id, ended, tx.value(SQL["end_unstarted"], values)))
        if ended.output is not None:
            tx.run(finishes.SQL["add_outputs"], (run_id, ended.output))
    add_event(tx, now, EventKind.RUNS_ENDED, notices.ended_by_hand(told))
    follow_ends(tx, list(endings))
    admission.admit_keys(tx, keys)


def answer(tx: Transaction, answers: Mapping[RunId, Ended], now: Instant) -> list[RunId]:
    """End those of the runs that have not started as somebody says."""
    rows = tx.rows(creation.SQL["cancel_candidates"], (encode_names(answers),))
    open_ids = [RunId(run_id) for run_id, is_over, is_under_way, *_ in rows if not is_over and not is_under_way]
    ends = {run_id: answers[run_id] for run_id in open_ids}
    _end_unstarted(tx, ends, cancels.take_unstarted(tx, ends), now)
    return open_ids


def _let_pass(tx: Transaction, run_ids: Sequence[RunId], now: Instant) -> None:
    """Put them where a due run belongs."""
    entries = [
        creation.Entry(run_id, queue, priority, due_at, bool(has_limits), bool(is_waiting))
        for run_id, queue, priority, due_at, has_limits, is_waiting in tx.rows(
            SQL["passed_runs"], (encode_names(run_ids),)
        )
    ]
    admission.admit_keys(tx, creation.place(tx, entries, now))
