"""The signals of remote workers: kept between two waiting requests, so that none of them is lost in between."""

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

from foliot.domain.ids import WorkerId
from foliot.domain.instant import MINUTE, Millis
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic

_IDLE: Final = Millis(5 * MINUTE)
"""How long the signals of a worker are kept that does not wait for them."""


@dataclass
class WorkerEvents:
    runs: asyncio.Event
    cancels: asyncio.Event
    used_at: Millis
    subscriptions: ExitStack = field(default_factory=ExitStack)


class WorkerSignals:
    """The events of each worker of this server, shared by all principals."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
        self._events: dict[WorkerId, WorkerEvents] = {}

    def of(self, worker_id: WorkerId) -> WorkerEvents:
        """Return the events of a worker, which are set by signals since the first call."""
        found = self._events.get(worker_id)
        if found is None:
            self._drop_idle()
            found = self._events[worker_id] = self._subscribed()
        found.used_at = self._clock.elapsed()
        return found

    def drop(self, worker_id: WorkerId) -> None:
        if (found := self._events.pop(worker_id, None)) is not None:
            found.subscriptions.close()

    def _subscribed(self) -> WorkerEvents:
        stack = ExitStack()
        runs, cancels = (stack.enter_context(self._storage.subscribe(topic)) for topic in (Topic.RUNS, Topic.CANCELS))
        return WorkerEvents(runs, cancels, self._clock.elapsed(), stack)

    def _drop_idle(self) -> None:
        until = self._clock.elapsed() - _IDLE
        for worker_id in [one for one, events in self._events.items() if events.used_at < until]:
            self.drop(worker_id)
