"""A queue without messages: it wakes workers, which then claim runs from the storage."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from foliot.domain.ids import RunId
from foliot.ports.topic import Topic


class Signals(Protocol):
    """Provides events that are set when runs may be ready: a storage, or its work port alone."""

    def signal(self, topic: Topic) -> asyncio.Event: ...


class StorageQueue:
    """Carries only the signal that runs may be ready."""

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
        """Return nothing: workers claim in the order of the storage."""
        return []

    async def done(self, run_ids: Sequence[RunId]) -> None:
        """Do nothing: there are no messages."""

    async def close(self) -> None:
        """Do nothing: the owner of the storage closes it."""
