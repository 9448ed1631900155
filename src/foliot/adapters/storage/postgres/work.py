"""The calls of a worker: register, renew, claim, finish, append to logs.

Most attempts succeed without an output. They are saved with one statement (`successes`) and no explicit transaction.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple, Self

from msgspec.structs import replace

from foliot.adapters.storage.postgres.claim_cursor import ClaimCursor, Position
from foliot.adapters.storage.postgres.database.bell import Bell
from foliot.adapters.storage.postgres.database.transaction import Database, Snapshot, Transaction, divide
from foliot.adapters.storage.postgres.database.values import columns, is_storable
from foliot.adapters.storage.postgres.lanes import Lanes
from foliot.adapters.storage.postgres.rows.admit import Admitter
from foliot.adapters.storage.postgres.rows.ask import ask_chain
from foliot.adapters.storage.postgres.rows.definition import DefinitionReader
from foliot.adapters.storage.postgres.rows.finish import end_leases, finish_runs, save_plan
from foliot.adapters.storage.postgres.rows.results import fanout_of_lease, read_results
from foliot.adapters.storage.postgres.successes import are_alike, exchange_runs, save_successes
from foliot.adapters.storage.shared.chain_asking import Asking
from foliot.adapters.storage.shared.definition_cache import Reference
from foliot.adapters.storage.shared.finish_plan import is_plain, plan_giving_back, unstorable_outcome
from foliot.adapters.storage.shared.rows import Row, encode_facts, read_claims, references_in
from foliot.domain.chain.message import ChainRequest
from foliot.domain.fanout.result import ChildResult, ResultQuery
from foliot.domain.ids import DefinitionId, RunId, Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import Claim, Finish, Order, Renewal, Worker
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.progress import ProgressReport
from foliot.domain.run.run import rank
from foliot.errors import Unstorable
from foliot.ports.topic import Topic
from foliot.ports.work import Claimed, Exchanged

_MOST_HINTS: Final = 100_000


class PostgresWork:
    """Fills `ports.work.Work`.

    `vital` has its own connections: a renewal must not wait for a full pool.
    """

    is_remote = True

    def __init__(
        self,
        database: Database,
        vital: Database,
        admitter: Admitter,
        definitions: DefinitionReader,
        bell: Bell,
        project: str,
    ) -> None:
        self._database = database
        self._vital = vital
        self._admitter = admitter
        self._definitions = definitions
        self._bell = bell
        self._project = project
        self._runs_cursor = ClaimCursor(database.clock)
        self._lanes = Lanes(database)
        self._trees_cursor = ClaimCursor(database.clock)
        """Separate: empty claims of a coordinator must not affect the queues of a worker."""
        self._bare: set[Token] = set()
        """Leases of bare runs that were granted here: a hint for choosing a statement, which checks the rows."""

    def signal(self, topic: Topic) -> asyncio.Event:
        return self._bell.signal(topic)

    # -- being alive

    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        async def work(transaction: Transaction) -> None:
            known = worker.id, worker.name, list(worker.queues), worker.slots, worker.process
            facts = encode_facts(worker.facts), worker.facts.pool
            await transaction.run("register", *known, ttl, at, *facts)

        await self._vital.write("register", work)

    async def renew(
        self,
        worker_id: WorkerId,
        held: Collection[Token] | None,
        ttl: Millis,
        *,
        is_draining: bool = False,
        at: Instant | None = None,
    ) -> Renewal | None:
        if not is_storable(worker_id):
            return None
        work = partial(_renew, worker_id=worker_id, held=held, ttl=ttl, is_draining=is_draining, at=at)
        return await self._admitter.write("renew", work, at, merge=_merge_renewals, database=self._vital)

    async def retire(self, worker_id: WorkerId) -> None:
        if is_storable(worker_id):
            await self._vital.write("retire", lambda transaction: transaction.run("retire", worker_id))

    # -- claiming

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
        if limit <= 0 or not queues or (only is not None and not only) or not is_storable(worker_id):
            return Claimed([], {})
        facts = await self._lanes.facts(worker_id)
        wanted = await self._lanes.of(list(dict.fromkeys(queues)), facts.offers)
        granted = await self._claim_readable(worker_id, wanted, limit, only, at, facts.kinds)
        if len(granted.claims) < limit and (late := await self._lanes.newer(queues, worker_id, wanted)):
            rest = limit - len(granted.claims)
            granted = granted.joined(await self._claim_readable(worker_id, late, rest, only, at, facts.kinds))
        return await self._claimed(granted, known, wanted, limit if only is None and not facts.kinds else None)

    async def _claim_readable(
        self,
        worker_id: WorkerId,
        lanes: list[str],
        limit: int,
        only: Collection[RunId] | None,
        at: Instant | None,
        kinds: Sequence[str],
    ) -> "_Granted":
        """Claim runs. Runs with unreadable rows are ended, and others are claimed instead."""
        granted = await self._claim(worker_id, lanes, limit, only, at, kinds)
        while granted.unreadable:
            await self.finish(granted.unreadable, at=at)
            rest = limit - len(granted.claims)
            granted = granted.joined(await self._claim(worker_id, lanes, rest, only, at, kinds))
        return granted

    async def _claim(
        self,
        worker_id: WorkerId,
        queues: list[str],
        limit: int,
        only: Collection[RunId] | None,
        at: Instant | None,
        kinds: Sequence[str] = (),
    ) -> "_Granted":
        async def pick(transaction: Transaction) -> list[Row]:
            if only is not None:
                return await transaction.rows("claim_named_runs", worker_id, at, limit, queues, list(only))
            if kinds:
                return await transaction.rows("claim_runs_of_kinds", worker_id, at, limit, queues, list(kinds))
            with self._cursor(queues).claiming(queues, limit) as positions:
                query, *asked = _claim_query(queues, positions)
                return await transaction.rows(query, worker_id, at, limit, *asked)

        async def work(transaction: Transaction) -> list[Row]:
            rows = await pick(transaction)
            transaction.topics |= {Topic.EVENTS} if rows else set()
            return rows

        # A grant with a lost reply is given back at the next renewal; a repeated claim would claim too many runs.
        return _Granted.of(await self._database.write("claim", work, is_single=True, is_repeatable=False))

    def _cursor(self, queues: Sequence[str]) -> ClaimCursor:
        return self._trees_cursor if TREES_QUEUE in queues else self._runs_cursor

    async def _claimed(
        self, granted: "_Granted", known: Collection[DefinitionId], queues: Sequence[str], limit: int | None
    ) -> Claimed:
        """Return the claims in order of rank, with their definitions. `limit` is the number of requested runs."""
        claims = granted.claims
        found = await self._definitions.find(self._database, granted.references) if claims else {}
        changed = {asked: one.definition.id for asked, one in found.items() if one.definition.id != asked}
        if changed:  # a job was changed after its run was claimed
            claims = [replace(one, definition_id=changed.get(one.definition_id, one.definition_id)) for one in claims]
        ordered = sorted(claims, key=lambda claim: (rank(claim.due_at, claim.priority), claim.run_id))
        if limit is not None:
            self._cursor(queues).reached(ordered, limit)
        if len(self._bare) > _MOST_HINTS:
            self._bare.clear()
        self._bare.update(
            claim.token for claim in ordered if claim.parent_id is None and claim.tick is None and not claim.limit_keys
        )
        definitions = {one.definition.id: one.definition for one in found.values() if one.definition.id not in known}
        return Claimed(ordered, definitions)

    # -- finishing

    async def finish(self, finishes: Sequence[Finish], *, at: Instant | None = None) -> list[Token]:
        if not finishes:
            return []
        plain: dict[tuple[WorkerId, int | None], list[Finish]] = {}
        rest: list[Finish] = []
        for finish in finishes:
            if is_plain(outcome := finish.outcome):
                plain.setdefault((finish.worker_id, outcome.exit_code), []).append(finish)
            else:
                rest.append(finish)
        for group in plain.values():
            rest += await self._succeed(group, at)
        self._bare.difference_update(finish.token for finish in finishes)
        return await self._finish_any(rest, at) if rest else []

    async def _succeed(self, finishes: Sequence[Finish], at: Instant | None) -> list[Finish]:
        """Save equal plain successes with one statement. Returns the finishes that could not be saved this way."""
        try:
            work = partial(save_successes, finishes=finishes, at=at, are_bare=self._are_bare(finishes))
            saved = await self._admitter.write("finish", work, at, is_single=True)
        except Unstorable:
            return list(finishes)
        return [finish for finish in finishes if finish.token not in saved]

    def _are_bare(self, finishes: Sequence[Finish]) -> bool:
        return self._bare.issuperset(finish.token for finish in finishes)

    async def _finish_any(self, finishes: Sequence[Finish], at: Instant | None) -> list[Token]:
        saved = dict(await divide(finishes, partial(self._finish, at=at)))
        unstorable = [unstorable_outcome(finish) for finish in finishes if finish.token not in saved]
        if unstorable:
            saved |= dict(await divide(unstorable, partial(self._finish, at=at)))
        return [finish.token for finish in finishes if not saved.get(finish.token)]

    async def _finish(self, finishes: Sequence[Finish], at: Instant | None) -> list[tuple[Token, bool]]:
        work = partial(finish_runs, definitions=self._definitions, finishes=finishes, at=at)
        stale = set(await self._admitter.write("finish", work, at))
        return [(finish.token, finish.token not in stale) for finish in finishes]

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
        is_simple = limit > 0 and only is None and len(set(queues)) == 1
        is_own = bool(finishes) and finishes[0].worker_id == worker_id
        is_alike = is_simple and is_own and are_alike(finishes) and self._are_bare(finishes)
        if is_alike and await self._lanes.is_plain(worker_id, queues[0]):
            with suppress(Unstorable):
                done = await self._exchange_bare(finishes, queues[0], limit, known, at)
                if len(done.claims) == limit or not await self._lanes.newer(queues, worker_id):
                    return done
                more = await self.claim(worker_id, queues, limit - len(done.claims), known=known, at=at)
                return Exchanged(done.stale, done.claims + more.claims, {**done.definitions, **more.definitions})
        stale = await self.finish(finishes, at=at)
        return Exchanged(stale, *await self.claim(worker_id, queues, limit, known=known, only=only, at=at))

    async def _exchange_bare(
        self,
        finishes: Sequence[Finish],
        queue: str,
        limit: int,
        known: Collection[DefinitionId],
        at: Instant | None,
    ) -> Exchanged:
        """Finish and claim with one statement. Like a claim, it is not repeated if its reply was lost."""
        cursor = self._cursor([queue])
        work = partial(exchange_runs, finishes=finishes, queue=queue, cursor=cursor, limit=limit, at=at)
        saved, rows = await self._database.write("exchange", work, is_single=True, is_repeatable=False)
        self._bare.difference_update(finish.token for finish in finishes)
        # Finishes that were saved just now are recognized as saved, and are not stale.
        stale = [] if saved == len(finishes) else await self.finish(finishes, at=at)
        granted = _Granted.of(rows)
        while granted.unreadable:
            await self.finish(granted.unreadable, at=at)
            missing = limit - len(granted.claims)
            granted = granted.joined(await self._claim(finishes[0].worker_id, [queue], missing, None, at))
        return Exchanged(stale, *await self._claimed(granted, known, [queue], limit))

    # -- logs and progress

    async def save_progress(self, reports: Sequence[ProgressReport], *, at: Instant | None = None) -> list[Token]:
        if not reports:
            return []
        rows = await self._database.write(
            "progress", lambda transaction: transaction.rows("save_progress", *columns(reports), at), is_single=True
        )
        saved = {row["token"] for row in rows}
        return [report.token for report in reports if report.token not in saved]

    async def append_log(self, chunks: Sequence[LogChunk]) -> list[Token]:
        async def save(some: Sequence[LogChunk]) -> list[tuple[Token, int]]:
            return await self._database.write("append", partial(_append_log, chunks=some))

        saved = set(await divide(chunks, save)) if chunks else set()
        return list(dict.fromkeys(chunk.token for chunk in chunks if (chunk.token, chunk.seq) not in saved))

    async def results(
        self, run_id: RunId, worker_id: WorkerId, token: Token, query: ResultQuery
    ) -> list[ChildResult] | None:
        async def read(snapshot: Snapshot) -> list[ChildResult] | None:
            parent = await fanout_of_lease(snapshot, run_id, worker_id, token)
            return None if parent is None else await read_results(snapshot, parent, query)

        return await self._database.snapshot(read)

    async def ask_chain(
        self, run_id: RunId, worker_id: WorkerId, token: Token, request: ChainRequest, *, at: Instant | None = None
    ) -> Mapping[str, Any] | None:
        if not (is_storable(run_id) and is_storable(worker_id)):
            return None
        asking = Asking(run_id, worker_id, token, request)
        work = partial(ask_chain, project=self._project, asking=asking, at=at)
        # Not repeated if its reply was lost: the same spending would be counted twice.
        return await self._admitter.write("ask_chain", work, at, is_repeatable=False)


class _Granted(NamedTuple):
    """The leases that a claim has granted."""

    claims: list[Claim]
    references: set[Reference]
    """Which definitions the claimed runs need."""
    unreadable: list[Finish]
    """Finishes of runs whose rows cannot be read."""

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self:
        claims, unreadable = read_claims(rows)
        distinct = {(row[3], row[20]): row for row in rows}
        return cls(claims, set(references_in(distinct.values())), unreadable)

    def joined(self, more: Self) -> Self:
        return self._replace(
            claims=self.claims + more.claims,
            references=self.references | more.references,
            unreadable=more.unreadable,
        )


async def _renew(
    transaction: Transaction,
    *,
    worker_id: WorkerId,
    held: Collection[Token] | None,
    ttl: Millis,
    is_draining: bool,
    at: Instant | None,
) -> Renewal | None:
    renewed = await transaction.rows("renew", worker_id, ttl, is_draining, at)
    if not renewed:
        return None
    [(now, order)] = renewed
    leases = {row["token"]: row for row in await transaction.rows("leases_of_worker", worker_id)}
    known = set(leases) if held is None else set(held)
    foreign = sorted(leases.keys() - known)
    if foreign:
        named = [(token, leases[token]["run_id"], worker_id) for token in foreign]
        await save_plan(transaction, plan_giving_back(await end_leases(transaction, named, now)))
    cancelled = tuple(sorted(token for token in known & leases.keys() if leases[token]["cancel_at"] is not None))
    gone = tuple(sorted(known - leases.keys()))
    return Renewal(cancelled, tuple(foreign), gone, Order(order))


def _merge_renewals(first: Renewal | None, second: Renewal | None) -> Renewal | None:
    if first is None or second is None:
        return second
    return second._replace(foreign=tuple(sorted({*first.foreign, *second.foreign})))


def _claim_query(queues: list[str], positions: Sequence[Position]) -> tuple[Any, ...]:
    """Return the name of a statement, and its parameters: the queues with their positions."""
    if len(queues) == 1:
        return "claim_runs", queues[0], *positions[0]
    ranks, run_ids = zip(*positions, strict=True)
    return "claim_runs_of_queues", queues, list(ranks), list(run_ids)


async def _append_log(transaction: Transaction, *, chunks: Sequence[LogChunk]) -> list[tuple[Token, int]]:
    run_ids = sorted({chunk.run_id for chunk in chunks})
    current = dict(await transaction.rows("current_tokens", run_ids))
    kept = [chunk for chunk in chunks if current.get(chunk.token) == chunk.run_id]
    if kept:
        await transaction.run("append_log", *columns(kept))
        transaction.topics.add(Topic.LOGS)
    return [(chunk.token, chunk.seq) for chunk in kept]
