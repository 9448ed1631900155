"""The duties of notifications: a part of the role scheduler. Any number of processes may run them."""

from foliot.domain.events import Event
from foliot.domain.instant import Millis
from foliot.engine.listener import EventListener
from foliot.engine.notifications.listener import NotificationListener
from foliot.engine.notifications.sender import Sender
from foliot.ports.clock import Clock
from foliot.ports.notifier import Notifications
from foliot.ports.storage import Storage


class NotificationRole:
    def __init__(
        self, storage: Storage, clock: Clock, parts: Notifications, *, holder: str, lease: Millis, poll: Millis
    ) -> None:
        deliver = parts.subscription.deliver

        async def deliver_and_wake(event: Event) -> None:
            await deliver(event)
            self.sender.wake.set()

        subscription = parts.subscription._replace(deliver=deliver_and_wake)
        inner = EventListener(storage, clock, subscription, holder=holder, lease=lease, every=poll)
        self.listener = NotificationListener(storage.listeners, inner, is_configured=parts.is_configured)
        self.sender = Sender(storage, parts, lambda: self.listener.is_on)
