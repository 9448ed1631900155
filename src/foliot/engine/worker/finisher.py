"""Saves ended attempts, many at a time.

At most one finish is under way; outcomes that arrive meanwhile go with the next one. When idle, an outcome is written
at once; when busy, batches grow by themselves, without a timer. A consumer that claims takes waiting outcomes along.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from foliot.domain.ids import Token
from foliot.domain.instant import Millis
from foliot.domain.run.lease import Finish
from foliot.engine.loop import AT_ONCE
from foliot.ports.work import Work

log = logging.getLogger(__name__)

BATCH: Final = 1_000


class Finisher:
    """The duty that saves outcomes. What could not be saved is kept and sent again: the token identifies a repeat."""

    name = "finisher"

    def __init__(self, work: Work) -> None:
        self._work = work
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
        return [finish.token for batch in (*self._under_way, self._waiting) for finish in batch]

    @property
    def backlog(self) -> int:
        return sum(map(len, self._under_way), len(self._waiting))

    async def flush(self) -> None:
        """Return when everything added so far is saved."""
        await self._is_empty.wait()

    @contextmanager
    def batch(self, most: int = BATCH) -> Iterator[Sequence[Finish]]:
        """The outcomes to save next. If saving them fails inside the block, they wait again."""
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
                self.report(await self._work.finish(batch))
        if batch:
            self.on_saved()
        return AT_ONCE if self._waiting else None

    def report(self, stale: Sequence[Token]) -> None:
        """Log the leases that were lost to another worker; their outcomes were not saved."""
        if stale:
            log.warning("finish_stale", extra={"tokens": stale})
