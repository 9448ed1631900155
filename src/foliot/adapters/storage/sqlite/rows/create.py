"""Creates runs."""

from collections.abc import Collection, Sequence
from typing import Any

from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.documents import encode_limits
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.admit import admit_keys
from foliot.adapters.storage.sqlite.rows.place import Placement, place
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import NewRun


def create_runs(tx: Transaction, project: str, runs: Sequence[NewRun], now: Instant) -> None:
    """Store new runs and put each into its place."""
    keys = place(tx, insert_runs(tx, project, runs, now), now)
    if keys:
        admit_keys(tx, keys)


def insert_runs(
    tx: Transaction, project: str, runs: Sequence[NewRun], now: Instant, waiting: Collection[RunId] = ()
) -> list[Placement]:
    """Store the rows of new runs. Returns what `place` needs."""
    rows: list[Sequence[Any]] = []
    placements: list[Placement] = []
    capacities: dict[str, int] = {}  # of two different ones the newest is stored
    for run in runs:
        options = run.options
        limits = run.limits
        capacities.update(limits)
        run_id, job_id, due_at, queue, priority = run.id, run.job_id, run.due_at, options.lane, options.priority
        tick = run.tick or (None, None, run.scheduled_for, None)
        what = (run_id, project, job_id, queue, priority, run.trigger, due_at, now, run.payload, run.overrides)
        in_tree = (run.parent_id, run.root_id, run.child_key, run.definition_id)
        rows.append((*what, encode_limits(limits), *tick, *in_tree))
        placements.append(Placement(run_id, queue, priority, due_at, bool(limits), run_id in waiting, run.is_gated))
    tx.run_many(SQL["create_runs"], rows)
    if capacities:
        tx.run_many(SQL["put_limits"], [*capacities.items()])
    tx.add_event(now, EventKind.RUNS_CREATED, event_items.created(runs))
    return placements
