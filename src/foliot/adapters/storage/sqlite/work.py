"""The calls of a worker. Expiry is measured in time since boot, so a wall clock that is set expires no lease."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from foliot.adapters.storage.shared.chain_asking import Asking
from foliot.adapters.storage.shared.definition_cache import Reference
from foliot.adapters.storage.shared.documents import encode, encode_names, limit_keys, read_column, read_number
from foliot.adapters.storage.shared.finish_plan import Lease, end_unreadable
from foliot.adapters.storage.shared.rows import attempts_out_of_range, encode_facts, facts_of
from foliot.adapters.storage.sqlite.database.context import Context, PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Row, Session
from foliot.adapters.storage.sqlite.rows.ask import ask_chain
from foliot.adapters.storage.sqlite.rows.definition import DefinitionReader
from foliot.adapters.storage.sqlite.rows.finish import Finishes
from foliot.adapters.storage.sqlite.rows.results import fanout_of_lease, read_results
from foliot.domain.chain.message import ChainRequest
from foliot.domain.events import EventKind
from foliot.domain.fanout.result import ChildResult, ResultQuery
from foliot.domain.ids import DefinitionId, RunId, Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.job.definition import job_definition_id
from foliot.domain.run.lane import lanes_between, missing_in, split_lane
from foliot.domain.run.lease import Claim, Finish, Order, Renewal, Worker, WorkerFacts
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.progress import ProgressReport
from foliot.domain.run.run import PRIORITY_STEP, Tick
from foliot.errors import RowUnreadable
from foliot.ports.topic import Topic
from foliot.ports.work import Claimed, Exchanged

_RANK, _RUN_ID, _LANE, _JOB_ID, _ATTEMPT = range(5)
_CREATED_AT, _LIMITS, _SCHEDULE_UID, _PARENT_ID, _DEFINITION_ID = 8, 11, 12, 16, 18
_MAX_PEEKED: Final = 10
_NOTHING: Final = Claimed([], {})
_LeaseRow = tuple[Token, RunId, WorkerId, int, Instant, bool]
"""token, run_id, worker_id, attempt, started_at, is_bare"""


class _Request(NamedTuple):
    """A claim of up to `limit` runs from these lanes, or of the named runs in them."""

    worker_id: WorkerId
    lanes: Sequence[str]
    """What the columns `queue` of the tables contain (`domain.run.lane`)."""
    limit: int
    only: Collection[RunId] | None = None
    kinds: Sequence[str] = ()


class _Granted(NamedTuple):
    """Claims with their references, and finishes of runs whose rows cannot be read: no worker can execute them."""

    claims: list[Claim]
    references: set[Reference]
    unreadable: list[Finish]


class SqliteWork(PortBase):
    """Fills `ports.work.Work`."""

    is_remote = False

    def __init__(self, context: Context, signal: Callable[[Topic], asyncio.Event]) -> None:
        super().__init__(context)
        self._definitions = DefinitionReader(context.project)
        self.finishes = Finishes(self._definitions)
        self.signal = signal

    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        def work(tx: Transaction) -> None:
            known = (worker.id, worker.name, encode_names(worker.queues), worker.slots, worker.process)
            alive = (tx.now(at), tx.clock.boot_id, tx.clock.elapsed() + ttl)
            tx.run(SQL["register"], (*known, *alive, encode_facts(worker.facts), worker.facts.pool))

        await self._writer.submit("register", work)

    async def renew(
        self,
        worker_id: WorkerId,
        held: Collection[Token] | None,
        ttl: Millis,
        *,
        is_draining: bool = False,
        at: Instant | None = None,
    ) -> Renewal | None:
        listed = None if held is None else frozenset(held)
        # A heartbeat that waits behind a long queue of writes would cost the worker all its leases.
        return await self._writer.submit(
            "renew", lambda tx: self._renew(tx, worker_id, listed, ttl, is_draining, tx.now(at)), urgent=True
        )

    async def retire(self, worker_id: WorkerId) -> None:
        await self._writer.submit("retire", lambda tx: tx.run(SQL["retire"], (worker_id,)))

    async def claim(
        self,
        worker_id: WorkerId,
        queues: Sequence[str],
        limit: int,
        *,
        known: Collection[DefinitionId] = (),
        only: Collection[RunId] | None = None,
        at: Instant | None = None,
    ) -> Claimed:
        request = _Request(worker_id, queues, limit, only)
        return await self._writer.submit("claim", lambda tx: self._claim(tx, request, known, tx.now(at)))

    async def finish(self, finishes: Sequence[Finish], *, at: Instant | None = None) -> list[Token]:
        return await self._writer.submit("finish", lambda tx: self.finishes.finish(tx, finishes, tx.now(at)))

    async def exchange(
        self,
        finishes: Sequence[Finish],
        worker_id: WorkerId,
        queues: Sequence[str],
        limit: int,
        *,
        known: Collection[DefinitionId] = (),
        only: Collection[RunId] | None = None,
        at: Instant | None = None,
    ) -> Exchanged:
        if not finishes:
            return Exchanged([], *await self.claim(worker_id, queues, limit, known=known, only=only, at=at))

        request = _Request(worker_id, queues, limit, only)

        def work(tx: Transaction) -> Exchanged:
            stale = self.finishes.finish(tx, finishes, tx.now(at))
            return Exchanged(stale, *self._claim(tx, request, known, tx.now(at)))

        return await self._writer.submit("exchange", work)

    async def append_log(self, chunks: Sequence[LogChunk]) -> list[Token]:
        current = await self._current({chunk.token for chunk in chunks})
        fresh = [chunk for chunk in chunks if current.get(chunk.token) == chunk.run_id]
        if fresh:
            await self._context.logs.submit("append", partial(_append_log, chunks=fresh))
        return list(dict.fromkeys(chunk.token for chunk in chunks if current.get(chunk.token) != chunk.run_id))

    async def _current(self, tokens: Collection[Token]) -> dict[Token, RunId]:
        """Return the runs of those tokens that are current."""

        def read(session: Session) -> list[Row]:
            return session.rows(SQL["current_tokens"], (encode([*tokens]),))

        return dict(self._reader.peek(read) if len(tokens) <= _MAX_PEEKED else await self._reader.read(read))

    async def save_progress(self, reports: Sequence[ProgressReport], *, at: Instant | None = None) -> list[Token]:
        body = encode(reports)
        saved = await self._writer.submit(
            "progress", lambda tx: {row[0] for row in tx.rows(SQL["save_progress"], (body, tx.now(at)))}
        )
        return [report.token for report in reports if report.token not in saved]

    async def results(
        self, run_id: RunId, worker_id: WorkerId, token: Token, query: ResultQuery
    ) -> list[ChildResult] | None:
        def read(session: Session) -> list[ChildResult] | None:
            parent = fanout_of_lease(session, run_id, worker_id, token)
            return None if parent is None else read_results(session, parent, query)

        return await self._reader.read(read)

    async def ask_chain(
        self, run_id: RunId, worker_id: WorkerId, token: Token, request: ChainRequest, *, at: Instant | None = None
    ) -> Mapping[str, Any] | None:
        asking = Asking(run_id, worker_id, token, request)
        return await self._writer.submit("ask_chain", lambda tx: ask_chain(tx, self._project, asking, tx.now(at)))

    def _claim(self, tx: Transaction, request: _Request, known: Collection[DefinitionId], now: Instant) -> Claimed:
        """Claim runs. Runs with unreadable rows are ended immediately, and others are claimed instead."""
        if request.limit <= 0:
            return _NOTHING
        column = tx.value(SQL["claimer"], (tx.clock.boot_id, tx.clock.elapsed(), request.worker_id))
        if column is None:
            return _NOTHING
        facts = facts_of(column)
        request = request._replace(lanes=_lanes(tx, request.lanes, facts), kinds=facts.kinds)
        claims: list[Claim] = []
        references: set[Reference] = set()
        while True:
            rest = request._replace(limit=request.limit - len(claims))
            granted = _grant(tx, self._project, rest, now)
            claims += granted.claims
            references |= granted.references
            if not granted.unreadable:
                break
            self.finishes.finish(tx, granted.unreadable, now)
        found = self._definitions.find(tx, references)
        definitions = [one.definition for one in found.values()]
        return Claimed(claims, {one.id: one for one in definitions if one.id not in known})

    def _renew(
        self,
        tx: Transaction,
        worker_id: WorkerId,
        held: frozenset[Token] | None,
        ttl: Millis,
        is_draining: bool,
        now: Instant,
    ) -> Renewal | None:
        elapsed = tx.clock.elapsed()
        order = tx.value(SQL["renew"], (now, elapsed + ttl, is_draining, worker_id, tx.clock.boot_id, elapsed))
        if order is None:
            return None
        leases = {Token(row[0]): Lease(*row) for row in tx.rows(SQL["leases_of_worker"], (worker_id,))}
        listed = leases.keys() if held is None else held
        foreign = [lease for token, lease in leases.items() if token not in listed]
        self.finishes.give_back(tx, foreign, now)
        return Renewal(
            cancelled=tuple(token for token, one in leases.items() if one.cancel_at is not None and token in listed),
            foreign=tuple(lease.token for lease in foreign),
            gone=tuple(sorted(listed - leases.keys())),
            order=Order(order),
        )


def _lanes(tx: Transaction, queues: Sequence[str], facts: WorkerFacts) -> list[str]:
    """Return the lanes of the queues with ready runs that the worker may have, and the plain ones."""
    offers = facts.offers
    special = [lane for queue in queues for lane in tx.column(SQL["ready_lanes"], lanes_between(queue))]
    return [*dict.fromkeys(queues), *(lane for lane in special if not missing_in(split_lane(lane)[1], offers))]


def _grant(tx: Transaction, project: str, request: _Request, now: Instant) -> _Granted:
    """Lease ready runs to the worker."""
    rows = _take_next(tx, request) if request.only is None else _take_named(tx, request, request.only)
    if not rows:
        return _Granted([], set(), [])
    worker_id = request.worker_id
    last_token = read_number(tx.value(SQL["take_tokens"], (len(rows),)), "counter", "token")
    jobs = {(row[_JOB_ID], row[_DEFINITION_ID]) for row in rows}
    job_ids = encode_names({job_id for job_id, _ in jobs})
    revisions: dict[str, int] = dict(tx.rows(SQL["job_revisions"], (project, job_ids)))
    tokens = range(last_token - len(rows) + 1, last_token + 1)
    leases = [_lease_row(row, token, worker_id, now) for row, token in zip(rows, tokens, strict=True)]
    tx.run_many(SQL["add_leases"], leases)
    references = {Reference(job_id, revisions.get(job_id), definition_id) for job_id, definition_id in jobs}
    claims: list[Claim] = []
    unreadable: list[Finish] = []
    for row, lease in zip(rows, leases, strict=True):
        try:
            claims.append(_claim_of(row, lease, revisions))
        except RowUnreadable as error:
            token, run_id, *_ = lease
            unreadable.append(end_unreadable(run_id, worker_id, token, error))
    tx.add_event(now, EventKind.RUNS_STARTED, [[run_id, attempt] for _, run_id, _, attempt, *_ in leases])
    return _Granted(claims, references, unreadable)


def _take_next(tx: Transaction, request: _Request) -> Sequence[Row]:
    """Remove the first runs from all the lanes, in rank order."""
    lanes, limit = request.lanes, request.limit
    if request.kinds:
        kinds = encode_names(request.kinds)
        rows = [row for lane in lanes for row in tx.rows(SQL["pick_ready_of_kinds"], (lane, limit, kinds))]
        rows = sorted(rows, key=lambda row: row[:2])[:limit]
        tx.run_many(SQL["take_named"], [row[:3] for row in rows])
        return rows
    rows = [row for lane in lanes for row in tx.rows(SQL["pick_ready"], (lane, limit))]
    if len(lanes) > 1:
        rows = sorted(rows, key=lambda row: row[:2])[:limit]
    # The runs taken from a lane are its first ones, so everything up to the last of them is deleted.
    last = {row[_LANE]: row for row in rows}
    for lane, row in last.items():
        tx.run(SQL["take_ready"], (lane, row[_RANK], row[_RUN_ID]))
    return rows


def _take_named(tx: Transaction, request: _Request, only: Collection[RunId]) -> Sequence[Row]:
    """Remove the named runs that are ready from their lanes."""
    values = (encode_names(set(only)), PRIORITY_STEP, encode_names(request.lanes), request.limit)
    rows = tx.rows(SQL["pick_named"], values)
    tx.run_many(SQL["take_named"], [row[:3] for row in rows])
    return rows


def _lease_row(row: Row, token: int, worker_id: WorkerId, now: Instant) -> _LeaseRow:
    is_bare = row[_LIMITS] is None and row[_SCHEDULE_UID] is None and row[_PARENT_ID] is None
    # If the clock was set back, a run must not start before it was created.
    return Token(token), row[_RUN_ID], worker_id, row[_ATTEMPT] or 1, max(now, row[_CREATED_AT]), is_bare


def _claim_of(row: Row, lease: _LeaseRow, revisions: Mapping[str, int]) -> Claim:
    (
        (_, run_id, queue, job_id, attempt, lost, priority, due_at, _, payload, overrides, limits),
        (uid, schedule_id, scheduled_for, key, parent_id, child_key, definition_id),
    ) = row[:12], row[12:]
    if not attempt:
        raise attempts_out_of_range(run_id)
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


def _append_log(tx: Transaction, chunks: Sequence[LogChunk]) -> None:
    tx.run_many(SQL["append_log"], chunks)
    tx.ring(Topic.LOGS)
