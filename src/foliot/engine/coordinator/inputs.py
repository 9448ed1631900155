"""Stores the items of a fanout before its first child is created.

A second attempt to open the fanout uses the stored items if all of them are stored, else it stores them anew.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing

from foliot.domain.fanout.chunk import CHUNK_ITEMS, ChunkPacker, ItemChunk
from foliot.domain.fanout.progress import UNSUCCESSFUL
from foliot.domain.fanout.source import ItemSource
from foliot.domain.ids import RunId
from foliot.domain.run.lease import Claim
from foliot.errors import InputsRefused, InputsUnavailable, StaleClaim, suggest
from foliot.ports.clock import Clock
from foliot.ports.items import ItemStore
from foliot.ports.resolver import Resolver, ResolveRequest


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
        else:
            raise InputsRefused(
                "there are no items, not even an empty list",
                hint="Give items or inputs_from. A step whose output is used prints a JSON array or one item per line.",
            )

    async def _failed_items(self, run_id: RunId) -> AsyncIterator[Sequence[bytes]]:
        """Yield the items of a fanout whose children did not succeed, in order, then those that were not started."""
        after = ""
        while page := await self._store.children(run_id, after=after, limit=CHUNK_ITEMS, unsuccessful=True):
            # The reducer is a child too, but its key is not an index.
            failed = [child for child in page if child.child_key.isdigit() and child.status in UNSUCCESSFUL]
            yield [child.document or b"null" for child in failed]
            after = page[-1].child_key
        first = await self._store.started(run_id)
        while documents := await self._store.read(run_id, first, CHUNK_ITEMS):
            yield documents
            first += len(documents)

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
