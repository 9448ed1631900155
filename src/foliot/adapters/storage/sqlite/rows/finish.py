"""Saves ended attempts. Deleting the lease is the fence: without a current lease nothing changes."""

from collections.abc import Sequence

from msgspec.structs import replace

from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.definition_cache import Reference
from foliot.adapters.storage.shared.documents import encode, storable
from foliot.adapters.storage.shared.finish_plan import (
    FinishPlan,
    Lease,
    LeasedRun,
    is_repeated,
    needs_run,
    plan_finishes,
    plan_giving_back,
    report_by,
    unstorable_outcome,
)
from foliot.adapters.storage.sqlite.database.errors import UNSTORABLE
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Row
from foliot.adapters.storage.sqlite.rows.admit import admit_keys, keys_of
from foliot.adapters.storage.sqlite.rows.definition import DefinitionReader
from foliot.adapters.storage.sqlite.rows.end import follow_finished
from foliot.adapters.storage.sqlite.rows.failures import stop_failed_jobs
from foliot.adapters.storage.sqlite.rows.place import Placement, place, put_ready
from foliot.domain.events import EventKind
from foliot.domain.ids import Token
from foliot.domain.instant import Instant, later
from foliot.domain.job.job import Options
from foliot.domain.run.lease import Claim, Finish
from foliot.domain.run.limits import OVERLAP_PREFIX, overlap_key
from foliot.domain.run.outcome import Success
from foliot.domain.run.run import Again, Ended, rank


class Finishes:
    """Saves ended attempts."""

    def __init__(self, definitions: DefinitionReader) -> None:
        self._definitions = definitions

    def finish(self, tx: Transaction, finishes: Sequence[Finish], now: Instant) -> list[Token]:
        """Save the ends of current leases. Returns the stale tokens. An outcome that cannot be stored fails its run."""
        try:
            with tx.savepoint():
                return self._finish(tx, finishes, now)
        except UNSTORABLE:
            return [token for one in finishes for token in self._finish_alone(tx, one, now)]

    def give_back(self, tx: Transaction, leases: Sequence[Lease], now: Instant) -> None:
        """End leases as if they had not been granted."""
        if leases:
            _save(tx, plan_giving_back(self._with_runs(tx, leases, [])), now)

    def _finish_alone(self, tx: Transaction, one: Finish, now: Instant) -> list[Token]:
        for attempt in (one, unstorable_outcome(one)):
            try:
                with tx.savepoint():
                    return self._finish(tx, [attempt], now)
            except UNSTORABLE:
                continue
        return [one.token]  # even its ids cannot be stored, so no such lease was granted

    def _finish(self, tx: Transaction, finishes: Sequence[Finish], now: Instant) -> list[Token]:
        rows = tx.rows(SQL["held_leases"], (encode([finish.token for finish in finishes]),))
        leases = {Token(row[0]): Lease(*row) for row in rows}
        asking = {
            finish.token: finish
            for finish in finishes
            if (lease := leases.get(finish.token)) is not None and needs_run(finish, lease)
        }
        if asking:
            whole = self._with_runs(tx, [leases[token] for token in asking], list(asking.values()))
            leases |= {lease.token: lease for lease in whole}
        plan = plan_finishes(finishes, leases)
        _save(tx, plan, now)
        return [finish.token for finish in plan.unknown if not _was_saved(tx, finish)]

    def _with_runs(self, tx: Transaction, leases: Sequence[Lease], finishes: Sequence[Finish]) -> list[Lease]:
        """Add the stored columns of their runs to the leases, and options where an outcome depends on them."""
        rows = {Token(row[0]): row for row in tx.rows(SQL["runs_of_leases"], (encode([one.token for one in leases]),))}
        deciding = [
            rows[finish.token]
            for finish in finishes
            if finish.token in rows and not isinstance(finish.outcome, Success)
        ]
        references: dict[Token, Reference] = {}
        overrides: dict[Token, bytes | None] = {}
        for token, job_id, *_, given, definition_id, revision in deciding:
            references[token], overrides[token] = Reference(job_id, revision, definition_id), given
        known = self._definitions.find(tx, list(references.values())) if references else {}
        options = {token: known[reference.id].options(overrides[token]) for token, reference in references.items()}
        return [
            replace(lease, run=_leased_run(rows[lease.token], options.get(lease.token)))
            for lease in leases
            if lease.token in rows
        ]


def held_lease(tx: Transaction, claim: Claim) -> Lease | None:
    """Return the lease that a claim granted. None: it is not current any more."""
    row = tx.row(SQL["held_leases"], (encode([claim.token]),))
    lease = None if row is None else Lease(*row)
    is_own = lease is not None and (lease.run_id, lease.worker_id) == (claim.run_id, claim.worker_id)
    return lease if is_own else None


def _leased_run(row: Row, options: Options | None) -> LeasedRun:
    _, job_id, lost, queue, priority, due_at, has_limits, uid, parent_id, *_ = row
    run = (job_id, lost, queue, priority, due_at, bool(has_limits), uid, parent_id)
    return LeasedRun(*run) if options is None else LeasedRun(*run, options)


def _save(tx: Transaction, plan: FinishPlan, now: Instant) -> None:
    tx.run(SQL["end_leases"], (encode([lease.token for lease in plan.fenced]),))
    keys = _end(tx, plan.ended, now) | _try_again(tx, plan.again, now)
    # A run that is given back keeps its rank in the queue and its limits.
    put_ready(tx, [(one.run.queue, rank(one.run.due_at, one.run.priority), one.run_id) for one in plan.given_back])
    admit_keys(tx, keys)
    tx.run_many(SQL["hand_over_leases"], [(report_by(lease, how), lease.token) for lease, how in plan.handed_over])
    tx.run_many(SQL["save_launches"], [(lease.run_id, how.executor_run_id, None) for lease, how in plan.handed_over])
    tx.add_event(now, EventKind.RUNS_ENDED, event_items.ended(plan))
    follow_finished(tx, [lease for lease, _ in plan.ended])
    stop_failed_jobs(tx, plan.failed, now)


def _end(tx: Transaction, ended: Sequence[tuple[Lease, Ended]], now: Instant) -> set[str]:
    """End runs and release all their places. Returns the keys with free places."""
    tx.run_many(SQL["end_runs"], [_ending(lease, verdict, now) for lease, verdict in ended])
    outputs = [(lease.run_id, verdict.output) for lease, verdict in ended if verdict.output is not None]
    tx.run_many(SQL["add_outputs"], outputs)
    holding = [lease for lease, _ in ended if not lease.is_bare and lease.run.has_places]
    keys = _limit_keys(tx, holding)
    tx.run_many(SQL["release_holds"], [(lease.run_id,) for lease in holding])
    return keys | {overlap_key(uid) for lease in holding if (uid := lease.run.schedule_uid) is not None}


def _try_again(tx: Transaction, again: Sequence[tuple[Lease, Again]], now: Instant) -> set[str]:
    """Place runs for another attempt: they keep the overlap key of their schedule and release their limits."""
    if not again:
        return set()
    attempts, retries, placements = [], [], []
    for lease, verdict in again:
        ended_at = _ended_at(lease, now)
        # Counted from now: after the clock was set back, the end that is saved may be in the future.
        due_at = later(now, verdict.delay)
        how = (verdict.reason, verdict.exit_code, storable(verdict.error))
        begun = (lease.run_id, lease.attempt, lease.token, lease.worker_id, lease.started_at)
        attempts.append((*begun, ended_at, verdict.status, *how))
        retries.append((lease.attempt, verdict.was_lost, due_at, *how, lease.run_id))
        placements.append(Placement(lease.run_id, lease.run.queue, lease.run.priority, due_at, lease.run.has_limits))
    tx.run_many(SQL["add_attempts"], attempts)
    tx.run_many(SQL["retry_runs"], retries)
    limited = [lease for lease, _ in again if lease.run.has_limits]
    keys = _limit_keys(tx, limited)
    tx.run_many(SQL["release_places"], [(lease.run_id, OVERLAP_PREFIX) for lease in limited])
    return place(tx, placements, now) | keys


def _limit_keys(tx: Transaction, leases: Sequence[Lease]) -> set[str]:
    """Return the limits whose places these runs hold."""
    limited = [lease.run_id for lease in leases if lease.run.has_limits]
    return keys_of(tx, limited) if limited else set()


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


def _ended_at(lease: Lease, now: Instant) -> Instant:
    """Return the end of an attempt. If the clock was set back, it must not end before it began."""
    return max(now, lease.started_at)


def _was_saved(tx: Transaction, finish: Finish) -> bool:
    row = tx.row(SQL["saved_endings"], (finish.run_id, finish.token))
    return row is not None and is_repeated(finish.outcome, *row)
