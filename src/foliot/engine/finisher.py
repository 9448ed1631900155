"""Saves ended attempts, many at a time.

At most one write is under way; whatever gathers meanwhile goes with the next. Idle, an outcome is written at once;
busy, the batches grow by themselves. No timer decides.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from foliot.domain.ids import Token
from foliot.domain.instant import Millis
from foliot.domain.lease import Finish
from foliot.engine.loop import AT_ONCE
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)

BATCH: Final = 1_000


class Finisher:
    """The duty that writes outcomes. What could not be saved is kept and tried again: the token tells repeats apart."""

    name = "finisher"

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._waiting: list[Finish] = []
        self.on_saved: Callable[[], None] = lambda: None
        """Called when room has been made."""
        self.wake = asyncio.Event()
        self._is_empty = asyncio.Event()
        self._is_empty.set()

    def add(self, finish: Finish) -> None:
        self._waiting.append(finish)
        self._is_empty.clear()
        self.wake.set()

    @property
    def tokens(self) -> list[Token]:
        """Leases whose end is not saved yet: still ours."""
        return [finish.claim.token for finish in self._waiting]

    @property
    def backlog(self) -> int:
        return len(self._waiting)

    async def flush(self) -> None:
        """Return when everything added so far is saved."""
        await self._is_empty.wait()

    async def round(self) -> Millis | None:
        batch = self._waiting[:BATCH]
        if batch:
            stale = await self._storage.runs.finish(batch)
            del self._waiting[: len(batch)]
            self.on_saved()
            if stale:
                log.warning("finish_stale", extra={"tokens": stale})
        if self._waiting:
            return AT_ONCE
        self._is_empty.set()
        return None
