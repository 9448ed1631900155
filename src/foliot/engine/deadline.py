"""A time limit by Foliot's own clock, so that a test can let it pass."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from foliot.domain.instant import Millis
from foliot.ports.clock import Clock


class DeadlinePassed(Exception):
    """What was under way took too long and was cancelled. Apart from TimeoutError, which the work itself may raise."""


@asynccontextmanager
async def deadline(clock: Clock, span: Millis) -> AsyncIterator[None]:
    """Cancel what happens inside when the time is up, and raise DeadlinePassed once it has ended."""
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
