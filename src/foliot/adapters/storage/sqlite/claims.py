"""Granting leases: a run leaves `ready` and gets a row in `leases`, in one transaction."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from foliot.adapters.storage import notices
from foliot.adapters.storage.documents import encode_names, limit_keys, read_column, read_number
from foliot.adapters.storage.queries import load_queries
from foliot.adapters.storage.rows import SOME_LIMIT, lease_of, miscounted
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Row, Session
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.verdicts import end_unreadable
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.lease import Claim, Finish
from foliot.domain.payload import UNREADABLE
from foliot.domain.run import PRIORITY_STEP, Tick
from foliot.errors import RowUnreadable
from foliot.ports.clock import Clock

SQL: Final = load_queries(Path(__file__).parent / "sql" / "claims.sql")
_RANK, _RUN_ID, _QUEUE, _JOB_ID, _ATTEMPT = range(5)
_LIMITS: Final = 11


class Wish(NamedTuple):
    """Who wants how many runs of which queues; those that are named, or whatever is next."""

    worker_id: WorkerId
    queues: Sequence[str]
    limit: int
    only: Collection[RunId] | None = None


class Granted(NamedTuple):
    """Claims, and the ends of those that nobody can carry out, for their rows cannot be read."""

    claims: list[Claim]
    unreadable: list[Finish]


def is_alive(tx: Transaction, worker_id: WorkerId) -> bool:
    """Whether the worker is known and its deadline, counted since boot, has not passed."""
    return bool(tx.value(SQL["is_alive"], (tx.clock.boot_id, tx.clock.elapsed(), worker_id)))


def claim(tx: Transaction, project: str, wish: Wish, now: Instant) -> Granted:
    """Lease runs that are ready, as many as are wished for at most."""
    rows = _take_next(tx, wish) if wish.only is None else _take_named(tx, wish, wish.only)
    return _grant(tx, project, wish.worker_id, rows, now)


def _take_next(tx: Transaction, wish: Wish) -> Sequence[Row]:
    """The first runs of the queues together, in rank order."""
    queues, limit = wish.queues, wish.limit
    rows = [row for queue in dict.fromkeys(queues) for row in tx.rows(SQL["pick_ready"], (queue, limit))]
    if len(queues) > 1:
        rows = sorted(rows, key=lambda row: row[:2])[:limit]
    # What is taken of a queue is its beginning: everything up to the last one.
    last = {row[_QUEUE]: row for row in rows}
    for queue, row in last.items():
        tx.run(SQL["take_ready"], (queue, row[_RANK], row[_RUN_ID]))
    return rows


def _take_named(tx: Transaction, wish: Wish, only: Collection[RunId]) -> Sequence[Row]:
    """Those of the named runs that are ready."""
    values = (encode_names(set(only)), PRIORITY_STEP, encode_names(wish.queues), wish.limit)
    rows = tx.rows(SQL["pick_named"], values)
    tx.run_many(SQL["take_named"], [row[:3] for row in rows])
    return rows


def expired_claims(session: Session, clock: Clock, limit: int) -> list[Claim]:
    """Leases whose worker has expired or is not known."""
    rows = session.rows(SQL["expired_leases"], (clock.boot_id, clock.elapsed(), limit))
    return [lease_of(row) for row in rows]


def _grant(tx: Transaction, project: str, worker_id: WorkerId, rows: Sequence[Row], now: Instant) -> Granted:
    if not rows:
        return Granted([], [])
    last_token = read_number(tx.value(SQL["take_tokens"], (len(rows),)), "counter", "token")
    job_ids = encode_names({row[_JOB_ID] for row in rows})
    revisions: dict[str, int] = dict(tx.rows(SQL["job_revisions"], (project, job_ids)))
    first_token = last_token - len(rows) + 1
    errors: dict[RunId, RowUnreadable] = {}

    def made(rows: Sequence[Row]) -> list[Claim]:
        return [_claim(row, Token(first_token + index), worker_id, revisions, now) for index, row in enumerate(rows)]

    try:
        claims = made(rows)
    except (RowUnreadable, *UNREADABLE):
        errors = _unreadable(rows)
        claims = made([_as_can_be_ended(row) if row[_RUN_ID] in errors else row for row in rows])
    leases = [(claim.token, claim.run_id, worker_id, claim.attempt, claim.started_at) for claim in claims]
    tx.run_many(SQL["add_leases"], leases)
    add_event(tx, now, EventKind.RUNS_STARTED, notices.started(claims))
    ends = [end_unreadable(claim, errors[claim.run_id]) for claim in claims if claim.run_id in errors]
    return Granted([claim for claim in claims if claim.run_id not in errors], ends) if errors else Granted(claims, [])


def _unreadable(rows: Sequence[Row]) -> dict[RunId, RowUnreadable]:
    """What is wrong with those of the runs that cannot be read."""
    errors: dict[RunId, RowUnreadable] = {}
    for row in rows:
        try:
            if not row[_ATTEMPT]:
                raise miscounted(row[_RUN_ID])
            read_column(limit_keys, row[_LIMITS], "run", row[_RUN_ID])
        except RowUnreadable as error:
            errors[row[_RUN_ID]] = error
    return errors


def _as_can_be_ended(row: Row) -> Row:
    return (*row[:_ATTEMPT], row[_ATTEMPT] or 1, *row[_ATTEMPT + 1 : _LIMITS], SOME_LIMIT, *row[_LIMITS + 1 :])


def _claim(row: Row, token: Token, worker_id: WorkerId, revisions: dict[str, int], now: Instant) -> Claim:
    (
        (_, run_id, queue, job_id, attempt, lost, priority, due_at, created_at, payload, overrides, limits),
        (uid, schedule_id, scheduled_for, key, root, role, item),
    ) = row[:12], row[12:]
    if not attempt:
        raise miscounted(run_id)
    return Claim(
        run_id,
        token,
        worker_id,
        job_id,
        revisions.get(job_id),
        attempt,
        lost,
        queue,
        priority,
        due_at,
        max(now, created_at),  # a clock that stepped back makes no run start before it was created
        payload,
        overrides,
        limit_keys(limits) if limits else (),
        Tick(uid, schedule_id, scheduled_for, key) if uid else None,
        root,
        role,
        item,
        scheduled_for,
    )
