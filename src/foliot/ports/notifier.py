"""The notifier port: sends a message to one kind of target."""

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from foliot.domain.notification.message import Message
from foliot.ports.deliveries import Delivery
from foliot.ports.listeners import Subscription

LISTENER: Final = "@notifications"
"""The name of the listener that turns events into deliveries."""


class Answer(NamedTuple):
    """How an attempt to send a message ended."""

    is_accepted: bool
    text: str
    """What the receiver answered, or why it could not be reached. It never contains the URL of the target."""
    is_final: bool = False
    """Whether further attempts are pointless."""


class Notifier(Protocol):
    async def deliver(self, message: Message, url: str) -> Answer:
        """Send a message to a target, within a few seconds. Failures are answers and not raised."""
        ...


class Addresses(Protocol):
    """Finds the URLs of targets when a message is sent."""

    async def find(self, delivery: Delivery) -> str | None:
        """Return the URL; empty for a target without one. None: the target is not configured any more. Raise
        SecretError if the URL cannot be decrypted, and RowUnreadable if its job cannot be read."""
        ...


class Notifications(NamedTuple):
    """What a process needs to notify."""

    subscription: Subscription
    """Turns events into deliveries."""
    notifiers: Mapping[str, Notifier]
    """By kind of target."""
    addresses: Addresses
    is_configured: bool
    """Whether the configuration of this process names a target. Options of jobs may name others."""
