"""Stores the items of a fanout before it begins, once: a second attempt to open it uses the stored items."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Final

from foliot.domain.fanout.item import ItemLimits
from foliot.domain.fanout.source import ItemSource
from foliot.domain.ids import RunId
from foliot.domain.run.lease import Claim
from foliot.errors import InputsRefused, InputsUnavailable, StaleClaim, suggest
from foliot.ports.clock import Clock
from foliot.ports.items import ItemChunk, ItemStore
from foliot.ports.resolver import Resolver, ResolveRequest

CHUNK_ITEMS: Final = 1_000
CHUNK_BYTES: Final = 256 * 1024


class Inputs:
    """Resolves the inputs of fanouts and stores their items."""

    def __init__(self, store: ItemStore, resolvers: Mapping[str, Resolver], clock: Clock) -> None:
        self._store = store
        self._resolvers = resolvers
        self._clock = clock

    async def prepare(self, claim: Claim, source: ItemSource) -> int:
        """Return the number of stored items of a claimed run, and store them first if they are not stored yet.

        Raise InputsError if they cannot be read, and StaleClaim if the run was given to another coordinator meanwhile.
        """
        known = await self._store.count(claim.run_id)
        if known is not None:
            return known
        packer = ChunkPacker(source.limits)
        async with aclosing(self._documents(claim, source)) as batches:
            async for documents in batches:
                for chunk in packer.add(documents):
                    await self._append(claim, chunk)
        await self._append(claim, packer.last())
        return packer.count

    async def _append(self, claim: Claim, chunk: ItemChunk) -> None:
        if not await self._store.append(claim.run_id, chunk, claim=claim):
            raise StaleClaim(claim.run_id)

    async def _documents(self, claim: Claim, source: ItemSource) -> AsyncGenerator[Sequence[bytes]]:
        if source.documents is not None:
            yield source.documents
        elif source.rerun_of is not None:
            async for documents in self._failed_items(source.rerun_of):
                yield documents
        elif source.uri is not None:
            request = ResolveRequest(
                uri=source.uri,
                run_id=claim.run_id,
                now=self._clock.now(),
                limits=source.limits,
                window=source.window,
            )
            async with aclosing(self._resolver(source.uri).resolve(request)) as batches:
                async for documents in batches:
                    yield documents

    async def _failed_items(self, run_id: RunId) -> AsyncIterator[Sequence[bytes]]:
        """Yield the items of a fanout whose children did not succeed, in order."""
        after = ""
        while page := await self._store.children(run_id, after=after, limit=CHUNK_ITEMS, unsuccessful=True):
            yield [child.document or b"null" for child in page if child.child_key.isdigit()]
            after = page[-1].child_key

    def _resolver(self, uri: str) -> Resolver:
        scheme = uri.partition("://")[0]
        resolver = self._resolvers.get(scheme)
        if resolver is None:
            known = ", ".join(sorted(self._resolvers)) or "none"
            raise InputsUnavailable(
                f"this coordinator has no resolver for {scheme[:32]!a}",
                hint=suggest(scheme, self._resolvers, otherwise=f"It has: {known}."),
            )
        return resolver


class ChunkPacker:
    """Packs items into chunks of bounded size, and refuses more than the limits allow."""

    def __init__(self, limits: ItemLimits) -> None:
        self._limits = limits
        self._documents: list[bytes] = []
        self._size = 0
        self._total = 0
        self._first = 0

    @property
    def count(self) -> int:
        return self._first + len(self._documents)

    def add(self, documents: Sequence[bytes]) -> list[ItemChunk]:
        """Add items, and return the chunks that are full."""
        full: list[ItemChunk] = []
        for document in documents:
            self._check(document)
            if self._documents and (self._size + len(document) > CHUNK_BYTES or len(self._documents) == CHUNK_ITEMS):
                full.append(self._take())
            self._documents.append(document)
            self._size += len(document)
        return full

    def last(self) -> ItemChunk:
        return self._take()._replace(is_last=True)

    def _take(self) -> ItemChunk:
        chunk = ItemChunk(self._first, self._documents)
        self._first += len(self._documents)
        self._documents, self._size = [], 0
        return chunk

    def _check(self, document: bytes) -> None:
        limits = self._limits
        self._total += len(document)
        if self.count >= limits.items:
            raise _beyond(f"there are more than {limits.items} items", "max_items")
        # The quotes of a JSON string do not count.
        if len(document) > limits.item_bytes + 2:
            raise _beyond(f"item {self.count} has more than {limits.item_bytes} bytes", "max_item_size")
        if self._total > limits.total_bytes:
            raise _beyond(f"the items have more than {limits.total_bytes} bytes together", "max_input_size")


def _beyond(fact: str, option: str) -> InputsRefused:
    return InputsRefused(fact, hint=f"Give fewer or smaller items, or raise {option} of the job.")
