"""Saving firings that are as simple as most of them are (`adapters.storage.shared.ledger`).

The runs are written one by one. What follows from them, the rows of ledger, holds and queue, is written by one
statement each, which reads them again: that takes half the time of handing over row by row.
"""

from collections.abc import Iterable, Sequence

from foliot.adapters.storage.shared import event_items as notices
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.sqlite.ticks import SQL
from foliot.domain.events import EventKind
from foliot.domain.instant import Instant
from foliot.domain.run.limits import OVERLAP_PREFIX
from foliot.domain.run.run import PRIORITY_STEP, NewRun
from foliot.domain.schedule.firing import Firing
from foliot.ports.topic import topics_of_ready


def save_punctual(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> None:
    """Save ticks and runs of punctual firings, whose runs are due. Their schedules are moved on already."""
    alike: dict[tuple[int, str], list[NewRun]] = {}
    for firing in firings:
        [tick], [run] = firing.ticks, firing.runs
        alike.setdefault((tick.revision, tick.reason.value), []).append(run)
    for (revision, reason), runs in alike.items():
        newest = tx.value(SQL["newest_run"])
        tx.run_many(SQL["create_punctual_runs"], _rows(runs, project, now))
        tx.run(SQL["add_punctual_ticks"], (newest, reason, revision, now))
        tx.run(SQL["hold_punctual_runs"], (newest, OVERLAP_PREFIX))
        tx.run(SQL["ready_punctual_runs"], (newest, PRIORITY_STEP))
        tx.ring(*topics_of_ready(run.options.queue for run in runs))
    add_event(tx, now, EventKind.RUNS_CREATED, notices.created(firing.runs[0] for firing in firings))


def _rows(runs: Iterable[NewRun], project: str, now: Instant) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for run in runs:
        options, tick = run.options, run.tick or ()
        what = (run.id, project, run.job_id, options.queue, options.priority, run.trigger, run.due_at, now, run.payload)
        rows.append((*what, *tick))
    return rows
