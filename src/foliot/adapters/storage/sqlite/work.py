"""The work port on SQLite. Expiry is judged by time since boot: a wall clock that steps frees nothing."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from foliot.adapters.storage.shared.definition_cache import Definitions, Known, Reference
from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.shared.finish_plan import Lease
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite import claims
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.claims import Wish, find_definitions
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.finishes import Finishes
from foliot.adapters.storage.sqlite.logs import SqliteLogs
from foliot.domain.ids import DefinitionId, RunId, Token, WorkerId
from foliot.domain.instant import Instant, Millis
from foliot.domain.job.definition import Definition
from foliot.domain.run.lease import Claim, Finish, Renewal, Worker
from foliot.domain.run.logs import LogChunk
from foliot.ports.topic import Topic
from foliot.ports.work import Claimed, Exchanged

SQL: Final = load_queries(Path(__file__).parent / "sql" / "workers.sql")
_NOTHING: Final = Claimed([], {})


class SqliteWork:
    """Fills `ports.work.Work`."""

    is_remote = False

    def __init__(self, access: Access, logs: SqliteLogs, signal: Callable[[Topic], asyncio.Event]) -> None:
        self._writer, _, _, self._project = access
        self._logs = logs
        self._definitions = Definitions()
        self.finishes = Finishes(self._project, self._definitions)
        self.signal = signal

    async def register(self, worker: Worker, ttl: Millis, *, at: Instant | None = None) -> None:
        def work(tx: Transaction) -> None:
            known = (worker.id, worker.name, encode_names(worker.queues), worker.slots)
            tx.run(SQL["register_worker"], (*known, tx.now(at), tx.clock.boot_id, tx.clock.elapsed() + ttl))

        await self._writer.submit("register", work)

    async def renew(
        self, worker_id: WorkerId, held: Collection[Token] | None, ttl: Millis, *, at: Instant | None = None
    ) -> Renewal | None:
        def work(tx: Transaction) -> Renewal | None:
            return self._renew(tx, worker_id, None if held is None else frozenset(held), ttl, tx.now(at))

        # A heartbeat that waits behind a long queue of writes would cost the worker all its leases.
        return await self._writer.submit("renew", work, urgent=True)

    async def retire(self, worker_id: WorkerId) -> None:
        await self._writer.submit("retire", lambda tx: tx.run(SQL["retire_worker"], (worker_id,)))

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
        def work(tx: Transaction) -> Claimed:
            return self._claim(tx, Wish(worker_id, queues, limit, only), known, tx.now(at))

        return await self._writer.submit("claim", work)

    async def finish(self, finishes: Sequence[Finish], *, at: Instant | None = None) -> list[Token]:
        def work(tx: Transaction) -> list[Token]:
            return self.finishes.finish(tx, finishes, tx.now(at))

        return await self._writer.submit("finish", work)

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

        def work(tx: Transaction) -> Exchanged:
            stale = self.finishes.finish(tx, finishes, tx.now(at))
            return Exchanged(stale, *self._claim(tx, Wish(worker_id, queues, limit, only), known, tx.now(at)))

        return await self._writer.submit("exchange", work)

    async def append_log(self, chunks: Sequence[LogChunk]) -> list[Token]:
        return await self._logs.append(chunks)

    def _claim(self, tx: Transaction, wish: Wish, known: Collection[DefinitionId], now: Instant) -> Claimed:
        """Runs whose rows cannot be read end at once, and others are claimed in their place."""
        if wish.limit <= 0 or not claims.is_alive(tx, wish.worker_id):
            return _NOTHING
        found: list[Claim] = []
        references: set[Reference] = set()
        while True:
            rest = wish._replace(limit=wish.limit - len(found))
            granted = claims.claim(tx, self._project, rest, now)
            found += granted.claims
            references |= granted.references
            if not granted.unreadable:
                return _with_definitions(
                    found, find_definitions(tx, self._project, self._definitions, references), known
                )
            self.finishes.finish(tx, granted.unreadable, now)

    def _renew(
        self, tx: Transaction, worker_id: WorkerId, held: frozenset[Token] | None, ttl: Millis, now: Instant
    ) -> Renewal | None:
        elapsed = tx.clock.elapsed()
        if not tx.run(SQL["renew_worker"], (now, elapsed + ttl, worker_id, tx.clock.boot_id, elapsed)):
            return None
        leases = {Token(row[0]): Lease(*row) for row in tx.rows(claims.SQL["leases_of_worker"], (worker_id,))}
        listed = leases.keys() if held is None else held
        foreign = [lease for token, lease in leases.items() if token not in listed]
        self.finishes.give_back(tx, foreign, now)
        return Renewal(
            cancelled=tuple(token for token, one in leases.items() if one.cancel_at is not None and token in listed),
            foreign=tuple(lease.token for lease in foreign),
            gone=tuple(sorted(listed - leases.keys())),
        )


def _with_definitions(
    found: list[Claim], definitions: Mapping[DefinitionId, Known], known: Collection[DefinitionId]
) -> Claimed:
    """The claims with what they need: each definition once, and only those that the worker does not know."""
    wanted: dict[DefinitionId, Definition] = {
        one.definition.id: one.definition for one in definitions.values() if one.definition.id not in known
    }
    return Claimed(found, wanted)
