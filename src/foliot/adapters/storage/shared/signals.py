"""The events of a process that its bell sets."""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from foliot.ports.topic import Topic


class Signals:
    """One event for each topic, and those of subscribers."""

    def __init__(self) -> None:
        self._events = {topic: asyncio.Event() for topic in Topic}
        self._subscribers: dict[Topic, set[asyncio.Event]] = {topic: set() for topic in Topic}

    def signal(self, topic: Topic) -> asyncio.Event:
        return self._events[topic]

    @contextmanager
    def subscribe(self, *topics: Topic) -> Iterator[asyncio.Event]:
        wake = asyncio.Event()
        for topic in topics:
            self._subscribers[topic].add(wake)
        try:
            yield wake
        finally:
            for topic in topics:
                self._subscribers[topic].discard(wake)

    def ring_here(self, topics: Collection[Topic]) -> None:
        """Wake the waiting loops of this process. Called in the event loop."""
        for topic in topics:
            self._events[topic].set()
            for wake in self._subscribers[topic]:
                wake.set()
