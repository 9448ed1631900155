"""Granting leases, and finding out what the leased runs are to do."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from foliot.adapters.storage.shared.definition_cache import NOTHING_FOUND, Definitions, Found, Known, Missing, Reference
from foliot.adapters.storage.shared.documents import encode, encode_names, limit_keys, read_column, read_number
from foliot.adapters.storage.shared.finish_plan import end_unreadable
from foliot.adapters.storage.shared.rows import miscounted
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Row, Session
from foliot.adapters.storage.sqlite.events import add_event
from foliot.domain.events import EventKind
from foliot.domain.ids import DefinitionId, RunId, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.job.definition import job_definition_id
from foliot.domain.run.lease import Claim, ExpiredLease, Finish
from foliot.domain.run.run import PRIORITY_STEP, Tick
from foliot.errors import RowUnreadable
from foliot.ports.clock import Clock

SQL: Final = load_queries(Path(__file__).parent / "sql" / "claims.sql")
_RANK, _RUN_ID, _QUEUE, _JOB_ID, _ATTEMPT = range(5)
_CREATED_AT, _LIMITS, _SCHEDULE_UID, _PARENT_ID, _DEFINITION_ID = 8, 11, 12, 16, 18
_LeaseRow = tuple[Token, RunId, WorkerId, int, Instant, bool]


class Wish(NamedTuple):
    """Who wants how many runs of which queues; those that are named, or whatever is next."""

    worker_id: WorkerId
    queues: Sequence[str]
    limit: int
    only: Collection[RunId] | None = None


class Granted(NamedTuple):
    """Claims with what they refer to, and the ends of runs that no worker can execute, as their rows cannot be read."""

    claims: list[Claim]
    references: set[Reference]
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


def expired_leases(session: Session, clock: Clock, limit: int) -> list[ExpiredLease]:
    """Leases whose worker has expired or is not known."""
    rows = session.rows(SQL["expired_leases"], (clock.boot_id, clock.elapsed(), limit))
    return [ExpiredLease(*row) for row in rows]


def find_definitions(
    session: Session, project: str, definitions: Definitions, references: Collection[Reference]
) -> dict[DefinitionId, Known]:
    """What these runs are to do. Nothing is read for what is known already."""
    missing = definitions.missing(references)
    return definitions.find(references, _read_definitions(session, project, missing) if missing else NOTHING_FOUND)


def _read_definitions(session: Session, project: str, missing: Missing) -> Found:
    jobs = session.rows(SQL["definitions_of_jobs"], (project, encode_names(missing.jobs))) if missing.jobs else ()
    asked = encode(list(missing.versions))
    versions = session.rows(SQL["definitions_of_versions"], (project, asked)) if missing.versions else ()
    bodies = session.rows(SQL["definitions_of_trees"], (encode_names(missing.bodies),)) if missing.bodies else ()
    return Found(
        {job_id: (spec, revision) for job_id, spec, revision in jobs},
        {(workflow_id, version): spec for workflow_id, version, spec in versions},
        dict(bodies),
    )


def _grant(tx: Transaction, project: str, worker_id: WorkerId, rows: Sequence[Row], now: Instant) -> Granted:
    if not rows:
        return Granted([], set(), [])
    last_token = read_number(tx.value(SQL["take_tokens"], (len(rows),)), "counter", "token")
    job_ids = encode_names({row[_JOB_ID] for row in rows})
    revisions: dict[str, int] = dict(tx.rows(SQL["job_revisions"], (project, job_ids)))
    tokens = range(last_token - len(rows) + 1, last_token + 1)
    leases = [_lease(row, token, worker_id, now) for row, token in zip(rows, tokens, strict=True)]
    tx.run_many(SQL["add_leases"], leases)
    references = {Reference(row[_JOB_ID], revisions.get(row[_JOB_ID]), row[_DEFINITION_ID]) for row in rows}
    claims: list[Claim] = []
    unreadable: list[Finish] = []
    for row, lease in zip(rows, leases, strict=True):
        try:
            claims.append(_claim(row, lease, revisions))
        except RowUnreadable as error:
            token, run_id, *_ = lease
            unreadable.append(end_unreadable(run_id, worker_id, token, error))
    add_event(tx, now, EventKind.RUNS_STARTED, [[run_id, attempt] for _, run_id, _, attempt, *_ in leases])
    return Granted(claims, references, unreadable)


def _lease(row: Row, token: int, worker_id: WorkerId, now: Instant) -> _LeaseRow:
    """token, run_id, worker_id, attempt, started_at, is_bare"""
    is_bare = row[_LIMITS] is None and row[_SCHEDULE_UID] is None and row[_PARENT_ID] is None
    # A clock that stepped back makes no run start before it was created.
    return Token(token), row[_RUN_ID], worker_id, row[_ATTEMPT] or 1, max(now, row[_CREATED_AT]), is_bare


def _claim(row: Row, lease: _LeaseRow, revisions: Mapping[str, int]) -> Claim:
    (
        (_, run_id, queue, job_id, attempt, lost, priority, due_at, _, payload, overrides, limits),
        (uid, schedule_id, scheduled_for, key, parent_id, child_key, definition_id),
    ) = row[:12], row[12:]
    if not attempt:
        raise miscounted(run_id)
    token, _, worker_id, _, started_at, _ = lease
    return Claim(
        run_id,
        token,
        worker_id,
        job_id,
        definition_id or job_definition_id(job_id, revisions.get(job_id)),
        attempt,
        lost,
        queue,
        priority,
        due_at,
        started_at,
        payload,
        overrides,
        read_column(limit_keys, limits, "run", run_id) if limits else (),
        Tick(uid, schedule_id, scheduled_for, key) if uid else None,
        parent_id,
        child_key,
        scheduled_for,
    )
