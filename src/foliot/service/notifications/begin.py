"""Begins to notify, from the next event on."""

from foliot.domain.instant import Millis
from foliot.ports.notifier import LISTENER
from foliot.ports.storage import Storage


async def begin_notifications(storage: Storage) -> None:
    """Give the listener of notifications a position, unless it has one. Call it before the change that makes something
    to be notified: no event after that is missed, even if the process ends now."""
    await storage.listeners.hold(LISTENER, "", Millis(0))
