"""Saves ended attempts, many at a time.

At most one finish is under way; whatever gathers meanwhile goes with the next. Idle, an outcome is written at once;
busy, the batches grow by themselves. No timer decides. A consumer that asks for more runs takes along what waits here.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
        self._under_way: list[Sequence[Finish]] = []
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
        return [finish.claim.token for batch in (*self._under_way, self._waiting) for finish in batch]

    @property
    def backlog(self) -> int:
        return sum(map(len, self._under_way), len(self._waiting))

    async def flush(self) -> None:
        """Return when everything added so far is saved."""
        await self._is_empty.wait()

    @contextmanager
    def batch(self, most: int = BATCH) -> Iterator[Sequence[Finish]]:
        """What is to be saved next, for whoever saves it under this. Where that fails, it waits again."""
        size = min(most, BATCH)
        batch, self._waiting = self._waiting[:size], self._waiting[size:]
        self._under_way.append(batch)
        try:
            yield batch
        except BaseException:
            self._waiting = [*batch, *self._waiting]
            raise
        finally:
            self._under_way.remove(batch)
            if not self.backlog:
                self._is_empty.set()

    async def round(self) -> Millis | None:
        with self.batch() as batch:
            if batch:
                self.report(await self._storage.runs.finish(batch))
        if batch:
            self.on_saved()
        return AT_ONCE if self._waiting else None

    def report(self, stale: Sequence[Token]) -> None:
        """Somebody else has these leases now, and what was to be saved about them is lost."""
        if stale:
            log.warning("finish_stale", extra={"tokens": stale})
