"""Saves the outcomes of ended attempts in batches.

At most one finish is in flight; outcomes that arrive meanwhile go into the next one. An idle finisher writes an outcome
immediately; under load the batches grow without a timer. A claim of the consumer also saves waiting outcomes.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from foliot.domain.ids import Token
from foliot.domain.instant import Millis
from foliot.domain.run.lease import Finish
from foliot.engine.loop import IMMEDIATELY
from foliot.ports.work import Work

log = logging.getLogger(__name__)

BATCH: Final = 1_000


class Finisher:
    """The duty that saves outcomes. An outcome that could not be saved is sent again: its token makes that a no-op if
    the first one arrived."""

    name = "finisher"

    def __init__(self, work: Work) -> None:
        self._work = work
        self._waiting: list[Finish] = []
        self._in_flight: list[Sequence[Finish]] = []
        self.on_saved: Callable[[], None] = lambda: None
        """Called after outcomes were saved: the backlog is shorter."""
        self.wake = asyncio.Event()
        self._is_empty = asyncio.Event()
        self._is_empty.set()

    def add(self, finish: Finish) -> None:
        if not self._waiting:
            self._is_empty.clear()
            self.wake.set()
        self._waiting.append(finish)

    @property
    def tokens(self) -> list[Token]:
        """The leases whose outcome is not saved yet. This worker still holds them."""
        return [finish.token for batch in (*self._in_flight, self._waiting) for finish in batch]

    @property
    def backlog(self) -> int:
        return sum(map(len, self._in_flight), len(self._waiting))

    async def flush(self) -> None:
        """Return when everything added so far is saved."""
        await self._is_empty.wait()

    @contextmanager
    def batch(self, most: int = BATCH) -> Iterator[Sequence[Finish]]:
        """Yield the outcomes to save next. If the block raises, they are put back."""
        size = min(most, BATCH)
        batch, self._waiting = self._waiting[:size], self._waiting[size:]
        self._in_flight.append(batch)
        try:
            yield batch
        except BaseException:
            self._waiting = [*batch, *self._waiting]
            raise
        finally:
            self._in_flight.remove(batch)
            if not self.backlog:
                self._is_empty.set()

    async def round(self) -> Millis | None:
        with self.batch() as batch:
            if batch:
                self.report(await self._work.finish(batch))
        if batch:
            self.on_saved()
        return IMMEDIATELY if self._waiting else None

    def report(self, stale: Sequence[Token]) -> None:
        """Log the leases that this worker had lost; their outcomes were not saved."""
        if stale:
            log.warning("finishes_discarded", extra={"tokens": stale})
