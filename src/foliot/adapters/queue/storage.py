"""A queue that is no queue: workers look into the storage, woken when something may be ready there."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from foliot.domain.ids import RunId
from foliot.ports.topic import Topic


class Signals(Protocol):
    """What sets an event when runs may be ready: a storage, or its work port alone."""

    def signal(self, topic: Topic) -> asyncio.Event: ...


class StorageQueue:
    """Carries only the news that there may be something to claim."""

    def __init__(self, source: Signals, topic: Topic = Topic.RUNS) -> None:
        self._signal = source.signal(topic)

    @property
    def carries_ids(self) -> bool:
        return False

    @property
    def signal(self) -> asyncio.Event:
        return self._signal

    async def announce(self, queue: str, run_ids: Sequence[RunId]) -> None:
        if run_ids:
            self._signal.set()

    async def take(self, queues: Sequence[str], limit: int) -> Sequence[RunId]:
        """Nothing, ever: workers claim in the storage's own order."""
        return []

    async def done(self, run_ids: Sequence[RunId]) -> None:
        """Nothing to do: there are no messages."""

    async def close(self) -> None:
        """Nothing to do: the storage belongs to whoever opened it."""
