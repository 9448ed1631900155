"""Waiting that a cancellation cannot cut short."""

import asyncio
from typing import Any


class ShieldedWait:
    """Waits to the end and remembers that somebody wanted it to stop.

    Cleaning up inside a cancelled task must survive further cancellations, also those by which a closing loop ends all
    tasks: a second task behind a shield would be hit as well. So it stays in its task and waits for bare futures.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._was_cancelled = False

    async def sleep(self, seconds: float) -> None:
        await self.wait(self._loop.create_future(), seconds)

    async def wait(self, future: asyncio.Future[Any], seconds: float) -> None:
        """Return when the future is done, or after so many seconds."""
        until = self._loop.time() + seconds
        while not future.done() and (left := until - self._loop.time()) > 0:
            try:
                await asyncio.wait([future], timeout=left)
            except asyncio.CancelledError:
                self._was_cancelled = True

    def raise_if_cancelled(self) -> None:
        """Let a cancellation that came meanwhile take effect."""
        if self._was_cancelled:
            raise asyncio.CancelledError
