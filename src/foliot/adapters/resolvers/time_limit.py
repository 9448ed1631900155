"""Ends a source that takes too long."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

from foliot.errors import InputsUnavailable

SECONDS: Final = 300.0
"""How long reading the items of one fanout may take, by default."""

Batch = Sequence[bytes]


async def limited(batches: AsyncGenerator[Batch], seconds: float) -> AsyncGenerator[Batch]:
    """Yield the batches. Raise InputsUnavailable when reading them has taken this long in all.

    The time that the caller needs for a batch does not count.
    """
    loop = asyncio.get_running_loop()
    left = seconds
    async with aclosing(batches):
        while True:
            began = loop.time()
            batch = await _next(batches, left, seconds)
            left -= loop.time() - began
            if batch is None:
                return
            yield batch


async def _next(batches: AsyncGenerator[Batch], left: float, seconds: float) -> Batch | None:
    try:
        async with asyncio.timeout(left) as limit:
            return await anext(batches, None)
    except TimeoutError:
        if not limit.expired():
            raise
        raise InputsUnavailable(
            f"reading the items took longer than {seconds:g} s",
            hint="Make the list shorter or its source faster, or raise inputs_timeout in [fanout].",
        ) from None
