"""Resolves inputs in tests and returns the items."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from foliot.domain.fanout.item import ItemLimits, item_bytes
from foliot.domain.ids import RunId
from foliot.domain.instant import DAY, Instant, Millis
from foliot.ports.resolver import Resolver, ResolveRequest

NOW = Instant(1_800_000_000_000)
WINDOW = Millis(DAY)


def a_request(uri: str, *, now: Instant = NOW, window: Millis = WINDOW, **limits: int) -> ResolveRequest:
    return ResolveRequest(uri=uri, run_id=RunId("run"), now=now, window=window, limits=ItemLimits(**limits))


async def documents(resolver: Resolver, uri: str, **options: Any) -> list[bytes]:
    """Return all documents, after the check that is made when a definition is read."""
    resolver.check(uri)
    return await collected(resolver.resolve(a_request(uri, **options)))


async def collected(batches: AsyncGenerator[Sequence[bytes]]) -> list[bytes]:
    async with aclosing(batches) as opened:
        return [document async for batch in opened for document in batch]


async def items(resolver: Resolver, uri: str, **options: Any) -> list[bytes]:
    """Return all items as processes get them."""
    return [item_bytes(document) for document in await documents(resolver, uri, **options)]


async def values(resolver: Resolver, uri: str, **options: Any) -> list[Any]:
    """Return all items as JSON values."""
    return [msgspec.json.decode(document) for document in await documents(resolver, uri, **options)]
