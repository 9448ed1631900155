"""Saving ended attempts. Deleting the lease is the fence: without a current lease nothing changes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from foliot.adapters.storage.shared import event_items as notices
from foliot.adapters.storage.shared.definition_cache import Definitions, Reference
from foliot.adapters.storage.shared.documents import encode, storable
from foliot.adapters.storage.shared.finish_plan import (
    FinishPlan,
    Lease,
    LeasedRun,
    is_repeated,
    needs_run,
    plan_finishes,
    plan_giving_back,
    refused,
)
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite import admission
from foliot.adapters.storage.sqlite.claims import find_definitions
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Row
from foliot.adapters.storage.sqlite.creation import Entry, place, put_ready
from foliot.adapters.storage.sqlite.endings import follow_finished
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.sqlite.trouble import UNSTORABLE
from foliot.domain.events import EventKind
from foliot.domain.ids import Token
from foliot.domain.instant import Instant, later
from foliot.domain.job.job import Options
from foliot.domain.run.lease import Finish
from foliot.domain.run.limits import OVERLAP_PREFIX, overlap_key
from foliot.domain.run.outcome import Success
from foliot.domain.run.run import Again, Ended, rank

SQL: Final = load_queries(Path(__file__).parent / "sql" / "finishes.sql")


class Finishes:
    """Saves ended attempts of one project."""

    def __init__(self, project: str, definitions: Definitions) -> None:
        self._project = project
        self._definitions = definitions

    def finish(self, tx: Transaction, finishes: Sequence[Finish], now: Instant) -> list[Token]:
        """Save what is current; returns the stale tokens. What cannot be stored ends its run as failed."""
        try:
            with tx.savepoint():
                return self._finish(tx, finishes, now)
        except UNSTORABLE:
            return [token for one in finishes for token in self._finish_alone(tx, one, now)]

    def give_back(self, tx: Transaction, leases: Sequence[Lease], now: Instant) -> None:
        """End leases as if they had never been granted."""
        if leases:
            _save(tx, plan_giving_back(self._with_runs(tx, leases, [])), now)

    def _finish_alone(self, tx: Transaction, one: Finish, now: Instant) -> list[Token]:
        for attempt in (one, refused(one)):
            try:
                with tx.savepoint():
                    return self._finish(tx, [attempt], now)
            except UNSTORABLE:
                continue
        return [one.token]  # not even its ids can be compared: no such lease was granted

    def _finish(self, tx: Transaction, finishes: Sequence[Finish], now: Instant) -> list[Token]:
        rows = tx.rows(SQL["held_leases"], (encode([finish.token for finish in finishes]),))
        leases = {Token(row[0]): Lease(*row) for row in rows}
        asking = {
            finish.token: finish
            for finish in finishes
            if finish.token in leases and needs_run(finish, leases[finish.token])
        }
        if asking:
            whole = self._with_runs(tx, [leases[token] for token in asking], list(asking.values()))
            leases |= {lease.token: lease for lease in whole}
        plan = plan_finishes(finishes, leases)
        _save(tx, plan, now)
        return [finish.token for finish in plan.unknown if not _was_saved(tx, finish)]

    def _with_runs(self, tx: Transaction, leases: Sequence[Lease], finishes: Sequence[Finish]) -> list[Lease]:
        """The leases with what is stored about their runs; options are looked up where an outcome depends on them."""
        rows = {Token(row[0]): row for row in tx.rows(SQL["leased_runs"], (encode([one.token for one in leases]),))}
        deciding = [rows[finish.token] for finish in finishes if finish.token in rows and not _is_success(finish)]
        references = {row[0]: Reference(row[1], row[11], row[10]) for row in deciding}
        known = find_definitions(tx, self._project, self._definitions, list(references.values())) if references else {}
        options = {row[0]: known[references[row[0]].id].options(row[9]) for row in deciding}
        return [
            replace(lease, run=_leased_run(rows[lease.token], options.get(lease.token)))
            for lease in leases
            if lease.token in rows
        ]


def _is_success(finish: Finish) -> bool:
    return isinstance(finish.outcome, Success)


def _leased_run(row: Row, options: Options | None) -> LeasedRun:
    _, job_id, lost, queue, priority, due_at, has_limits, uid, parent_id, *_ = row
    run = (job_id, lost, queue, priority, due_at, bool(has_limits), uid, parent_id)
    return LeasedRun(*run) if options is None else LeasedRun(*run, options)


def _save(tx: Transaction, plan: FinishPlan, now: Instant) -> None:
    tx.run(SQL["end_leases"], (encode([lease.token for lease in plan.fenced]),))
    keys = _end(tx, plan.ended, now) | _try_again(tx, plan.again, now)
    _give_back(tx, plan.given_back)
    admission.admit_keys(tx, keys)
    add_event(tx, now, EventKind.RUNS_ENDED, notices.ended(plan))
    follow_finished(tx, [lease for lease, _ in plan.ended])


def _end(tx: Transaction, ended: Sequence[tuple[Lease, Ended]], now: Instant) -> set[str]:
    """Runs that are over give back all their places; returns the keys that are free now."""
    tx.run_many(SQL["end_runs"], [_ending(lease, verdict, now) for lease, verdict in ended])
    outputs = [(lease.run_id, verdict.output) for lease, verdict in ended if verdict.output is not None]
    tx.run_many(SQL["add_outputs"], outputs)
    holding = [lease for lease, _ in ended if lease.run.has_places]
    keys = _limit_keys(tx, holding)
    tx.run_many(admission.SQL["release_all_places"], [(lease.run_id,) for lease in holding])
    return keys | {overlap_key(uid) for lease in holding if (uid := lease.run.schedule_uid) is not None}


def _try_again(tx: Transaction, again: Sequence[tuple[Lease, Again]], now: Instant) -> set[str]:
    """Runs that will be tried again keep their turn on their schedule and give back the places of this attempt."""
    if not again:
        return set()
    tx.run_many(SQL["add_attempts"], [_attempt(lease, verdict, now) for lease, verdict in again])
    tx.run_many(SQL["retry_runs"], [_retry(lease, verdict, now) for lease, verdict in again])
    limited = [lease for lease, _ in again if lease.run.has_limits]
    keys = _limit_keys(tx, limited)
    tx.run_many(admission.SQL["release_limits"], [(lease.run_id, OVERLAP_PREFIX) for lease in limited])
    entries = [
        Entry(lease.run_id, lease.run.queue, lease.run.priority, _due_again(lease, verdict, now), lease.run.has_limits)
        for lease, verdict in again
    ]
    return place(tx, entries, now) | keys


def _limit_keys(tx: Transaction, leases: Sequence[Lease]) -> set[str]:
    """The limits that these runs hold places of."""
    limited = [lease.run_id for lease in leases if lease.run.has_limits]
    return admission.keys_of(tx, limited) if limited else set()


def _ending(lease: Lease, verdict: Ended, now: Instant) -> tuple[object, ...]:
    return (
        verdict.status,
        verdict.reason,
        _ended_at(lease, now),
        lease.started_at,
        lease.attempt,
        verdict.was_lost,
        verdict.exit_code,
        storable(verdict.error),
        lease.worker_id,
        lease.token,
        lease.run_id,
    )


def _retry(lease: Lease, verdict: Again, now: Instant) -> tuple[object, ...]:
    when = (lease.attempt, verdict.was_lost, _due_again(lease, verdict, now))
    return (*when, verdict.reason, verdict.exit_code, storable(verdict.error), lease.run_id)


def _attempt(lease: Lease, verdict: Again, now: Instant) -> tuple[object, ...]:
    begun = (lease.run_id, lease.attempt, lease.token, lease.worker_id, lease.started_at)
    ending = (verdict.status, verdict.reason, verdict.exit_code, storable(verdict.error))
    return (*begun, _ended_at(lease, now), *ending)


def _due_again(lease: Lease, verdict: Again, now: Instant) -> Instant:
    return later(_ended_at(lease, now), verdict.delay)


def _ended_at(lease: Lease, now: Instant) -> Instant:
    """A clock that stepped back makes no attempt end before it began."""
    return max(now, lease.started_at)


def _give_back(tx: Transaction, leases: Sequence[Lease]) -> None:
    """As if never granted: the same place in the queue, the limits still held."""
    put_ready(tx, [(one.run.queue, rank(one.run.due_at, one.run.priority), one.run_id) for one in leases])


def _was_saved(tx: Transaction, finish: Finish) -> bool:
    row = tx.row(SQL["saved_ending"], (finish.run_id, finish.token))
    return row is not None and is_repeated(finish.outcome, *row)
