"""Sends messages as signed JSON to a URL, see `domain/notification/signature.py`."""

from collections.abc import Sequence

import msgspec

from foliot.adapters.notifiers.post import post
from foliot.adapters.outbound.lazy import LazyOutbound
from foliot.domain.instant import SECOND
from foliot.domain.notification.message import Message
from foliot.domain.notification.signature import signed_headers
from foliot.ports.clock import Clock
from foliot.ports.notifier import Answer


class WebhookNotifier:
    """Fills `ports.notifier.Notifier`."""

    def __init__(self, outbound: LazyOutbound, secrets: Sequence[str], clock: Clock) -> None:
        self._outbound = outbound
        self._secrets = secrets
        self._clock = clock

    async def deliver(self, message: Message, url: str) -> Answer:
        body = msgspec.json.encode(message.document)
        headers = signed_headers(message.id, self._clock.now() // SECOND, body, self._secrets)
        return await post(self._outbound, url, headers, body)
