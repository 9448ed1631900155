"""New runs, and where a run that is not over stands: later, ready, or waiting for its limits."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from foliot.adapters.storage.shared import event_items as notices
from foliot.adapters.storage.shared.documents import encode_limits
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite import admission
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.sqlite.trouble import UNSTORABLE
from foliot.domain.events import EventKind
from foliot.domain.ids import DefinitionId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import NewRun, rank
from foliot.ports.orders import Created
from foliot.ports.topic import Topic, topics_of_ready

SQL: Final = load_queries(Path(__file__).parent / "sql" / "runs.sql")


class Entry(Struct, frozen=True, gc=False):
    """A run to be put where it belongs."""

    run_id: RunId
    queue: str
    priority: int
    due_at: Instant
    has_limits: bool
    is_waiting: bool = False
    """An earlier run of its schedule goes first."""
    is_gated: bool = False
    """Its gate is to be asked first."""


def create(tx: Transaction, project: str, runs: Sequence[NewRun], now: Instant) -> list[Created]:
    """Create runs whose dedupe key is free. One that cannot be stored, or is already, comes back as not new."""
    try:
        with tx.savepoint():
            return _create(tx, project, runs, now)
    except UNSTORABLE:
        return [_create_alone(tx, project, run, now) for run in runs]


def _create_alone(tx: Transaction, project: str, run: NewRun, now: Instant) -> Created:
    try:
        with tx.savepoint():
            [created] = _create(tx, project, [run], now)
            return created
    except UNSTORABLE:
        return Created(run.id, is_new=False)


def _create(tx: Transaction, project: str, runs: Sequence[NewRun], now: Instant) -> list[Created]:
    fresh: set[RunId] = set()
    holders = [None if run.dedupe_key is None else _dedupe(tx, project, run, now, fresh) for run in runs]
    entries = insert(tx, project, [run for run, holder in zip(runs, holders, strict=True) if holder is None], now)
    admission.admit_keys(tx, place(tx, entries, now))
    return [Created(holder or run.id, holder is None) for run, holder in zip(runs, holders, strict=True)]


def _dedupe(tx: Transaction, project: str, run: NewRun, now: Instant, fresh: set[RunId]) -> RunId | None:
    """The run that has taken the key; None: it is ours now, and we are among those of this batch that took theirs."""
    row = tx.row(SQL["dedupe_holder"], (project, run.job_id, run.dedupe_key))
    if row is not None:
        holder, scope, expires_at, is_kept, is_over = row
        binds = {"forever": is_kept, "active": is_kept and not is_over, "window": (expires_at or 0) > now}
        if holder in fresh or binds[scope]:
            return RunId(holder)
    expires_at = now + (run.dedupe_for or 0) if run.dedupe_scope == "window" else None
    values = (project, run.job_id, run.dedupe_key, run.id, run.dedupe_scope, expires_at)
    tx.run(SQL["take_dedupe_key"], values)
    fresh.add(run.id)
    return None


def insert(
    tx: Transaction,
    project: str,
    runs: Sequence[NewRun],
    now: Instant,
    waiting: Collection[RunId] = (),
) -> list[Entry]:
    """Write the rows of new runs; returns what is still to be placed."""
    rows: list[Sequence[Any]] = []
    entries: list[Entry] = []
    capacities: dict[str, int] = {}  # of two that differ, the newest counts
    for run in runs:
        options = run.options
        limits = run.limits
        capacities.update(limits)
        run_id, job_id, due_at, queue, priority = run.id, run.job_id, run.due_at, options.queue, options.priority
        uid, schedule_id, moment, key = run.tick or (None, None, run.scheduled_for, None)
        what = (run_id, project, job_id, queue, priority, run.trigger, due_at, now, run.payload, run.overrides)
        rows.append((*what, encode_limits(limits), uid, schedule_id, moment, key, run.parent_id, *_in_tree(run)))
        entries.append(Entry(run_id, queue, priority, due_at, bool(limits), run_id in waiting, run.is_gated))
    tx.run_many(SQL["create_runs"], rows)
    tx.run_many(admission.SQL["set_capacity"], [*capacities.items()])
    add_event(tx, now, EventKind.RUNS_CREATED, notices.created(runs))
    return entries


def _in_tree(run: NewRun) -> tuple[RunId | None, str | None, DefinitionId | None]:
    return run.root_id, run.child_key, run.definition_id


def place(tx: Transaction, entries: Iterable[Entry], now: Instant) -> set[str]:
    """Put runs into later, gated or ready, or let them ask for their limits; returns the keys to be admitted."""
    later: list[tuple[Instant, RunId]] = []
    ready: list[tuple[str, int, RunId]] = []
    gated: list[tuple[Instant, RunId]] = []
    limited: list[RunId] = []
    for entry in entries:
        if entry.is_gated:
            gated.append((entry.due_at, entry.run_id))
        elif entry.due_at > now:
            later.append((entry.due_at, entry.run_id))
        elif entry.is_waiting:
            continue
        elif entry.has_limits:
            limited.append(entry.run_id)
        else:
            ready.append((entry.queue, rank(entry.due_at, entry.priority), entry.run_id))
    _put_until_due(tx, SQL["put_later"], later, SQL["next_due"], Topic.LATER)
    _put_until_due(tx, SQL["put_gated"], gated, SQL["next_gated"], Topic.GATES)
    put_ready(tx, ready)
    return admission.ask_places(tx, limited)


def put_ready(tx: Transaction, rows: Sequence[tuple[str, int, RunId]]) -> None:
    if rows:
        tx.run_many(SQL["put_ready"], rows)
        tx.ring(*topics_of_ready(queue for queue, _, _ in rows))


def _put_until_due(
    tx: Transaction, put: str, rows: Sequence[tuple[Instant, RunId]], next_due: str, topic: Topic
) -> None:
    """Let runs wait for their moment; ring if one is due earlier than all that wait there already."""
    if not rows:
        return
    earliest = tx.value(next_due)
    if earliest is None or min(rows)[0] < earliest:
        tx.ring(topic)
    tx.run_many(put, rows)
