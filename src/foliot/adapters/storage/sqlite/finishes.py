"""Saving ended attempts. Deleting the lease is the fence: who has no lease changes nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from foliot.adapters.storage import notices
from foliot.adapters.storage.documents import encode, storable
from foliot.adapters.storage.queries import load_queries
from foliot.adapters.storage.sqlite import admission
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.creation import Entry, place, put_ready
from foliot.adapters.storage.sqlite.endings import follow_finished
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.sqlite.trouble import UNSTORABLE
from foliot.adapters.storage.verdicts import Held, is_repeated, refused, sort_finishes
from foliot.domain.events import EventKind
from foliot.domain.ids import Token
from foliot.domain.instant import Instant, later
from foliot.domain.lease import Claim, Finish
from foliot.domain.limits import OVERLAP_PREFIX, overlap_key
from foliot.domain.run import Again, Ended, rank

SQL: Final = load_queries(Path(__file__).parent / "sql" / "finishes.sql")


def finish(tx: Transaction, finishes: Sequence[Finish], now: Instant) -> list[Token]:
    """Save what is current; the tokens that are stale come back. What cannot be stored ends its run as failed."""
    try:
        with tx.savepoint():
            return _finish(tx, finishes, now)
    except UNSTORABLE:
        return [token for one in finishes for token in _finish_alone(tx, one, now)]


def _finish_alone(tx: Transaction, one: Finish, now: Instant) -> list[Token]:
    for attempt in (one, refused(one)):
        try:
            with tx.savepoint():
                return _finish(tx, [attempt], now)
        except UNSTORABLE:
            continue
    return [one.claim.token]  # not even its names can be written down: nobody was granted such a lease


def _finish(tx: Transaction, finishes: Sequence[Finish], now: Instant) -> list[Token]:
    tokens = encode([finish.claim.token for finish in finishes])
    rows = tx.rows(SQL["held_leases"], (tokens,))
    leases = {Token(token): Held(run_id, worker_id, cancel_at) for token, run_id, worker_id, cancel_at in rows}
    result = sort_finishes(finishes, leases)
    tx.run(SQL["end_leases"], (encode([claim.token for claim in result.fenced]),))
    keys = _end(tx, result.ended, now) | _try_again(tx, result.again, now)
    _give_back(tx, result.given_back)
    admission.admit_keys(tx, keys)
    add_event(tx, now, EventKind.RUNS_ENDED, notices.ended(result))
    follow_finished(tx, [claim for claim, _ in result.ended])
    return [finish.claim.token for finish in result.unknown if not _was_saved(tx, finish)]


def _end(tx: Transaction, ended: Sequence[tuple[Claim, Ended]], now: Instant) -> set[str]:
    """Runs that are over give back all their places; returns the keys that are free now."""
    tx.run_many(SQL["end_runs"], [_ending(claim, verdict, now) for claim, verdict in ended])
    outputs = [(claim.run_id, verdict.output) for claim, verdict in ended if verdict.output is not None]
    tx.run_many(SQL["add_outputs"], outputs)
    holding = [claim for claim, _ in ended if claim.limit_keys or claim.tick is not None]
    keys = _limit_keys(tx, holding)
    tx.run_many(admission.SQL["release_all_places"], [(claim.run_id,) for claim in holding])
    return keys | {overlap_key(claim.tick.uid) for claim in holding if claim.tick is not None}


def _try_again(tx: Transaction, again: Sequence[tuple[Claim, Again]], now: Instant) -> set[str]:
    """Runs that will be tried again keep their turn on their schedule and give back the places of this attempt."""
    if not again:
        return set()
    tx.run_many(SQL["add_attempts"], [_attempt(claim, verdict, now) for claim, verdict in again])
    tx.run_many(SQL["retry_runs"], [_retry(claim, verdict, now) for claim, verdict in again])
    limited = [claim for claim, _ in again if claim.limit_keys]
    keys = _limit_keys(tx, limited)
    tx.run_many(admission.SQL["release_limits"], [(claim.run_id, OVERLAP_PREFIX) for claim in limited])
    entries = [
        Entry(claim.run_id, claim.queue, claim.priority, _due_again(claim, verdict, now), bool(claim.limit_keys))
        for claim, verdict in again
    ]
    return place(tx, entries, now) | keys


def _limit_keys(tx: Transaction, claims: Sequence[Claim]) -> set[str]:
    """The limits that these hold places of, as they are called now: a job may have been renamed since the claim."""
    limited = [claim.run_id for claim in claims if claim.limit_keys]
    return admission.keys_of(tx, limited) if limited else set()


def _ending(claim: Claim, verdict: Ended, now: Instant) -> tuple[object, ...]:
    return (
        verdict.status,
        verdict.reason,
        _ended_at(claim, now),
        claim.started_at,
        claim.attempt,
        verdict.was_lost,
        verdict.exit_code,
        storable(verdict.error),
        claim.worker_id,
        claim.token,
        claim.run_id,
    )


def _retry(claim: Claim, verdict: Again, now: Instant) -> tuple[object, ...]:
    when = (claim.attempt, verdict.was_lost, _due_again(claim, verdict, now))
    return (*when, verdict.reason, verdict.exit_code, storable(verdict.error), claim.run_id)


def _attempt(claim: Claim, verdict: Again, now: Instant) -> tuple[object, ...]:
    begun = (claim.run_id, claim.attempt, claim.token, claim.worker_id, claim.started_at)
    ending = (verdict.status, verdict.reason, verdict.exit_code, storable(verdict.error))
    return (*begun, _ended_at(claim, now), *ending)


def _due_again(claim: Claim, verdict: Again, now: Instant) -> Instant:
    return later(_ended_at(claim, now), verdict.delay)


def _ended_at(claim: Claim, now: Instant) -> Instant:
    """A clock that stepped back makes no attempt end before it began."""
    return max(now, claim.started_at)


def _give_back(tx: Transaction, claims: Sequence[Claim]) -> None:
    """As if never granted: the same place in the queue, the limits still held."""
    put_ready(tx, [(claim.queue, rank(claim.due_at, claim.priority), claim.run_id) for claim in claims])


def _was_saved(tx: Transaction, finish: Finish) -> bool:
    row = tx.row(SQL["saved_ending"], (finish.claim.run_id, finish.claim.token))
    return row is not None and is_repeated(finish.verdict, *row)
