"""Checks regularly that this process may still write to its storage."""

import asyncio
from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.ports.storage import Storage

_EVERY: Final = Millis(10 * SECOND)


class StorageCheck:
    """The duty that runs the check. An error that it raises ends the node."""

    name = "storage check"

    def __init__(self, storage: Storage, *, every: Millis = _EVERY) -> None:
        self._storage = storage
        self._every = every
        self.wake = asyncio.Event()

    async def round(self) -> Millis | None:
        await self._storage.upkeep.check()
        return self._every
