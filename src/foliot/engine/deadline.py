"""A timeout by the `Clock` port, so that tests can advance it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from foliot.domain.instant import Millis
from foliot.ports.clock import Clock


class DeadlinePassed(Exception):
    """The block took too long and was cancelled. Not a TimeoutError, which the block itself may raise."""


@asynccontextmanager
async def deadline(clock: Clock, span: Millis) -> AsyncIterator[None]:
    """Cancel the block after `span`, and raise DeadlinePassed when it has ended."""
    # Created without a time, which would be one of the event loop. `_watch` lets it expire by the given clock.
    limit = asyncio.timeout(None)
    try:
        async with limit:
            watch = asyncio.create_task(_watch(clock, span, limit))
            try:
                yield
            finally:
                watch.cancel()
    except TimeoutError:
        if limit.expired():
            raise DeadlinePassed from None
        raise


async def _watch(clock: Clock, span: Millis, limit: asyncio.Timeout) -> None:
    await clock.wait(asyncio.Event(), span)
    limit.reschedule(asyncio.get_running_loop().time())
