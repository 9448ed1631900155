"""Delivers events to a listener of this process, in order, each at least once.

named     one process at a time holds the listener. Its position is stored after the events were delivered, so a crash
          repeats events and loses none that retention still keeps.
unnamed   its position is in memory. It gets the events from the start of its process on.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from foliot.domain.events import Event
from foliot.domain.instant import SECOND, Millis
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.worker.heartbeat import LEASE
from foliot.ports.clock import Clock
from foliot.ports.listeners import Subscription
from foliot.ports.storage import Storage

BATCH: Final = 100
_RETRY: Final = Millis(2 * SECOND)
"""How often a process tries to hold a listener that another one holds."""


class EventListener:
    """The duty that delivers events to one listener."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        subscription: Subscription,
        *,
        holder: str,
        lease: Millis = LEASE,
        every: Millis = SECOND,
        position: int | None = None,
    ) -> None:
        self.name = f"listener {subscription.name or '(unnamed)'}"
        self.wake = asyncio.Event()
        self._storage = storage
        self._clock = clock
        self._listener_name, self._deliver = subscription
        self._holder = holder
        self._lease = lease
        self._every = every
        self._position = position
        """All events up to it were delivered by this process."""
        self._is_held = False
        self._renew_at = Millis(0)

    async def begin(self) -> None:
        """Find the position of a new listener, before this process causes events."""
        await self._find_position()

    async def round(self) -> Millis | None:
        position = await self._find_position()
        if position is None:
            return _RETRY
        events = await self._storage.queries.events(after=position, limit=BATCH)
        if events:
            await self._deliver_all(events)
        return IMMEDIATELY if len(events) == BATCH else self._every

    async def close(self) -> None:
        """Deliver the remaining events, and let another process continue."""
        while await self.round() == IMMEDIATELY:
            pass
        if self._listener_name is not None and self._is_held:
            await self._storage.listeners.release(self._listener_name, self._holder)

    async def _find_position(self) -> int | None:
        """Return where to continue. None: another process holds the listener."""
        if self._listener_name is None:
            if self._position is None:
                self._position = await self._storage.listeners.newest()
            return self._position
        if not self._is_held or self._clock.elapsed() >= self._renew_at:
            await self._hold(self._listener_name)
        return self._position if self._is_held else None

    async def _hold(self, name: str) -> None:
        asked = self._clock.elapsed()
        stored = await self._storage.listeners.hold(name, self._holder, self._lease)
        self._is_held = stored is not None
        if stored is not None:
            self._position = max(stored, self._position or 0)
            self._renew_at = Millis(asked + self._lease // 3)

    async def _deliver_all(self, events: Sequence[Event]) -> None:
        if self._listener_name is None:
            await self._deliver_while_held(events)
            return
        async with self._renewing(self._listener_name):
            await self._deliver_while_held(events)
        await self._save(self._listener_name)

    async def _deliver_while_held(self, events: Sequence[Event]) -> None:
        for event in events:
            if self._listener_name is not None and not self._is_held:
                return  # another process delivers the rest
            await self._deliver(event)
            self._position = event.seq

    @asynccontextmanager
    async def _renewing(self, name: str) -> AsyncIterator[None]:
        """Renew while functions of the application run, however long they take."""
        renewing = asyncio.create_task(self._renew(name), name=f"{self.name} renewal")
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _renew(self, name: str) -> None:
        while self._is_held:
            await self._clock.wait(asyncio.Event(), Millis(self._lease // 3))
            await self._save(name)
            await self._hold(name)

    async def _save(self, name: str) -> None:
        if self._is_held and self._position is not None:
            self._is_held = await self._storage.listeners.advance(name, self._holder, self._position)
