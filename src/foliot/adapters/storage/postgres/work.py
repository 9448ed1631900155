"""What workers do with a PostgreSQL storage."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple, Self

from msgspec.structs import replace

from foliot.adapters.storage.postgres.admission import Admission
from foliot.adapters.storage.postgres.bell import Bell
from foliot.adapters.storage.postgres.database import Database, Transaction, divide
from foliot.adapters.storage.postgres.definitions import DefinitionReader
from foliot.adapters.storage.postgres.finishing import (
    are_alike,
    divided,
    end_leases,
    exchange_successes,
    finish_runs,
    save_plan,
    succeed,
)
from foliot.adapters.storage.postgres.front import Front, Place
from foliot.adapters.storage.postgres.impossible import is_possible
from foliot.adapters.storage.postgres.logs import append_chunks
from foliot.adapters.storage.shared.definition_cache import Reference
from foliot.adapters.storage.shared.finish_plan import plan_giving_back, refused
from foliot.adapters.storage.shared.rows import Row, references_in, sort_claims
from foliot.domain.ids import DefinitionId, RunId, Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.run.lease import Claim, Finish, Renewal, Worker
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.run import rank
from foliot.domain.tree.tree import TREES_QUEUE
from foliot.errors import Unstorable
from foliot.ports.topic import Topic
from foliot.ports.work import Claimed, Exchanged

_MOST_HINTS: Final = 100_000


class PostgresWork:
    """Fills `ports.work.Work`.

    `vital` has connections that nothing else uses: a renewal must not wait behind a full pool.
    """

    is_remote = True

    def __init__(
        self, database: Database, vital: Database, admission: Admission, definitions: DefinitionReader, bell: Bell
    ) -> None:
        self._database = database
        self._vital = vital
        self._admission = admission
        self._definitions = definitions
        self._bell = bell
        self._front_of_runs = Front(database.clock)
        self._front_of_trees = Front(database.clock)
        """Apart, because a coordinator that finds nothing says nothing about the queues of a worker."""
        self._bare: set[Token] = set()
        """Leases of bare runs that were granted here: a hint which statement will do. It checks what is stored."""

    def signal(self, topic: Topic) -> asyncio.Event:
        return self._bell.signal(topic)

    # -- being alive

    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run("register", worker.id, worker.name, list(worker.queues), worker.slots, ttl, at)

        await self._vital.write("register", work)

    async def renew(
        self, worker_id: WorkerId, held: Collection[Token] | None, ttl: Millis, *, at: Instant | None = None
    ) -> Renewal | None:
        if not is_possible(worker_id):
            return None
        work = partial(_renew, worker_id=worker_id, held=held, ttl=ttl, at=at)
        renewal, keys = await self._vital.write("renew", work, merge=_merge_renewals)
        await self._admission.follow(keys, at)
        return renewal

    async def retire(self, worker_id: WorkerId) -> None:
        if is_possible(worker_id):
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
        if limit <= 0 or not queues or (only is not None and not only) or not is_possible(worker_id):
            return Claimed([], {})
        wanted = list(dict.fromkeys(queues))
        granted = await self._claim(worker_id, wanted, limit, only, at)
        while granted.unreadable:
            await self.finish(granted.unreadable, at=at)
            granted = granted.joined(await self._claim(worker_id, wanted, limit - len(granted.claims), only, at))
        return await self._claimed(granted, known, wanted, limit if only is None else None)

    async def _claim(
        self, worker_id: WorkerId, queues: list[str], limit: int, only: Collection[RunId] | None, at: Instant | None
    ) -> "_Granted":
        async def work(transaction: Transaction) -> list[Row]:
            if only is not None:
                return await transaction.rows("claim_named_runs", worker_id, at, limit, queues, list(only))
            with self._front(queues).looking(queues, limit) as places:
                query, *asked = _claim_query(queues, places)
                return await transaction.rows(query, worker_id, at, limit, *asked)

        # A grant whose answer was lost is given back at the next renewal; asking again would take more than was wanted.
        return _Granted.of(await self._database.write("claim", work, is_single=True, is_repeatable=False))

    def _front(self, queues: Sequence[str]) -> Front:
        return self._front_of_trees if TREES_QUEUE in queues else self._front_of_runs

    async def _claimed(
        self, granted: "_Granted", known: Collection[DefinitionId], queues: Sequence[str], limit: int | None
    ) -> Claimed:
        """The claims in order of rank, with their definitions. `limit`: so many were asked for at the front."""
        claims = granted.claims
        found = await self._definitions.find(self._database, granted.references) if claims else {}
        changed = {asked: one.definition.id for asked, one in found.items() if one.definition.id != asked}
        if changed:  # a job was changed after its run was claimed
            claims = [replace(one, definition_id=changed.get(one.definition_id, one.definition_id)) for one in claims]
        ordered = sorted(claims, key=lambda claim: (rank(claim.due_at, claim.priority), claim.run_id))
        if limit is not None:
            self._front(queues).reached(ordered, limit)
        self._remember_bare(ordered)
        definitions = {one.definition.id: one.definition for one in found.values() if one.definition.id not in known}
        return Claimed(ordered, definitions)

    def _remember_bare(self, claims: Iterable[Claim]) -> None:
        if len(self._bare) > _MOST_HINTS:
            self._bare.clear()
        self._bare.update(
            claim.token for claim in claims if claim.parent_id is None and claim.tick is None and not claim.limit_keys
        )

    # -- finishing

    async def finish(self, finishes: Sequence[Finish], *, at: Instant | None = None) -> list[Token]:
        if not finishes:
            return []
        plain, rest = divided(finishes)
        for group in plain:
            rest += await self._succeed(group, at)
        self._bare.difference_update(finish.token for finish in finishes)
        return await self._finish_any(rest, at) if rest else []

    async def _succeed(self, finishes: Sequence[Finish], at: Instant | None) -> list[Finish]:
        """Save plain successes that are alike. Returns those that could not be saved so."""
        try:
            work = partial(succeed, finishes=finishes, at=at, are_bare=self._are_bare(finishes))
            saved, keys = await self._database.write("finish", work, is_single=True)
        except Unstorable:
            return list(finishes)
        await self._admission.follow(keys, at)
        return [finish for finish in finishes if finish.token not in saved]

    def _are_bare(self, finishes: Sequence[Finish]) -> bool:
        return self._bare.issuperset(finish.token for finish in finishes)

    async def _finish_any(self, finishes: Sequence[Finish], at: Instant | None) -> list[Token]:
        saved = dict(await divide(finishes, partial(self._finish, at=at)))
        unstorable = [refused(finish) for finish in finishes if finish.token not in saved]
        if unstorable:
            saved |= dict(await divide(unstorable, partial(self._finish, at=at)))
        return [finish.token for finish in finishes if not saved.get(finish.token)]

    async def _finish(self, finishes: Sequence[Finish], at: Instant | None) -> list[tuple[Token, bool]]:
        async def work(transaction: Transaction) -> tuple[set[Token], set[str]]:
            return set(await finish_runs(transaction, self._definitions, finishes, at)), transaction.keys

        stale, keys = await self._database.write("finish", work)
        await self._admission.follow(keys, at)
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
        if is_simple and is_own and are_alike(finishes) and self._are_bare(finishes):
            with suppress(Unstorable):
                return await self._exchange_bare(finishes, queues[0], limit, known, at)
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
        """In one statement. As a claim is, it is not repeated where its answer was lost."""
        front = self._front([queue])
        work = partial(exchange_successes, finishes=finishes, queue=queue, front=front, limit=limit, at=at)
        saved, rows = await self._database.write("exchange", work, is_single=True, is_repeatable=False)
        self._bare.difference_update(finish.token for finish in finishes)
        # What was saved just now is found saved, and is not stale.
        stale = [] if saved == len(finishes) else await self.finish(finishes, at=at)
        granted = _Granted.of(rows)
        while granted.unreadable:
            await self.finish(granted.unreadable, at=at)
            missing = limit - len(granted.claims)
            granted = granted.joined(await self._claim(finishes[0].worker_id, [queue], missing, None, at))
        return Exchanged(stale, *await self._claimed(granted, known, [queue], limit))

    # -- logs

    async def append_log(self, chunks: Sequence[LogChunk]) -> list[Token]:
        return await append_chunks(self._database, chunks)


class _Granted(NamedTuple):
    """What a statement that claims has granted."""

    claims: list[Claim]
    references: set[Reference]
    """What the claimed runs are to do."""
    unreadable: list[Finish]
    """The ends of runs whose rows cannot be read."""

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self:
        claims, unreadable = sort_claims(rows)
        distinct = {(row[3], row[20]): row for row in rows}
        return cls(claims, set(references_in(distinct.values())), unreadable)

    def joined(self, more: Self) -> Self:
        return self._replace(
            claims=self.claims + more.claims,
            references=self.references | more.references,
            unreadable=more.unreadable,
        )


async def _renew(
    transaction: Transaction, *, worker_id: WorkerId, held: Collection[Token] | None, ttl: Millis, at: Instant | None
) -> tuple[Renewal | None, set[str]]:
    now = await transaction.value("renew", worker_id, ttl, at)
    if now is None:
        return None, set()
    leases = {row["token"]: row for row in await transaction.rows("leases_of_worker", worker_id)}
    known = set(leases) if held is None else set(held)
    foreign = sorted(leases.keys() - known)
    if foreign:
        named = [(token, leases[token]["run_id"], worker_id) for token in foreign]
        await save_plan(transaction, plan_giving_back(await end_leases(transaction, named, now)))
    cancelled = tuple(sorted(token for token in known & leases.keys() if leases[token]["cancel_at"] is not None))
    gone = tuple(sorted(known - leases.keys()))
    return Renewal(cancelled, tuple(foreign), gone), transaction.keys


def _merge_renewals(
    first: tuple[Renewal | None, set[str]], second: tuple[Renewal | None, set[str]]
) -> tuple[Renewal | None, set[str]]:
    if first[0] is None or second[0] is None:
        return second
    foreign = tuple(sorted({*first[0].foreign, *second[0].foreign}))
    return second[0]._replace(foreign=foreign), first[1] | second[1]


def _claim_query(queues: list[str], places: Sequence[Place]) -> tuple[Any, ...]:
    """The name of a statement, and how it wants the queues and their places."""
    if len(queues) == 1:
        return "claim_runs", queues[0], *places[0]
    ranks, run_ids = zip(*places, strict=True)
    return "claim_runs_of_queues", queues, list(ranks), list(run_ids)
