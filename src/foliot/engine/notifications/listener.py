"""Delivers events to the planner of notifications, once something is to be notified.

The listener of notifications has a position from the moment on at which a configuration, or an option of a job, first
names a target. Until then this duty only looks, now and then, whether it has one.
"""

import asyncio
from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.engine.listener import EventListener
from foliot.ports.listeners import Listeners
from foliot.ports.notifier import LISTENER

CHECK: Final = Millis(5 * SECOND)


class NotificationListener:
    name = "notifications"

    def __init__(self, listeners: Listeners, inner: EventListener, *, is_configured: bool) -> None:
        self.wake: asyncio.Event = inner.wake
        self.is_on = is_configured
        """Whether anything is to be notified."""
        self._listeners = listeners
        self._inner = inner

    async def begin(self) -> None:
        """Find the position, before this process causes events."""
        if await self._check():
            await self._inner.begin()

    async def round(self) -> Millis | None:
        return await self._inner.round() if await self._check() else CHECK

    async def close(self) -> None:
        if self.is_on:
            await self._inner.close()

    async def _check(self) -> bool:
        self.is_on = self.is_on or await self._listeners.is_known(LISTENER)
        return self.is_on
