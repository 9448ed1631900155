"""Checks regularly that this process may go on with its storage."""

import asyncio
from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.ports.storage import Storage

_EVERY: Final = Millis(10 * SECOND)


class StorageCheck:
    """The duty that checks that this process may still write to the storage. An error that it raises ends the node."""

    name = "storage check"

    def __init__(self, storage: Storage, *, every: Millis = _EVERY) -> None:
        self._storage = storage
        self._every = every
        self.wake = asyncio.Event()

    async def round(self) -> Millis | None:
        await self._storage.upkeep.check()
        return self._every
