"""Waits that a cancellation cannot interrupt."""

import asyncio
from typing import Any


class ShieldedWait:
    """Waits to the end, and remembers a cancellation that arrived meanwhile.

    Cleaning up in a cancelled task must survive further cancellations, also those of a loop that ends and cancels all
    tasks. That would cancel a second task behind `asyncio.shield` as well, so this waits for futures in its own task.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._was_cancelled = False

    async def sleep(self, seconds: float) -> None:
        await self.wait(self._loop.create_future(), seconds)

    async def wait(self, future: asyncio.Future[Any], seconds: float) -> None:
        """Return when the future is done, or after this many seconds."""
        until = self._loop.time() + seconds
        while not future.done() and (left := until - self._loop.time()) > 0:
            try:
                await asyncio.wait([future], timeout=left)
            except asyncio.CancelledError:
                self._was_cancelled = True

    def raise_if_cancelled(self) -> None:
        """Raise CancelledError if the task was cancelled during a wait."""
        if self._was_cancelled:
            raise asyncio.CancelledError
