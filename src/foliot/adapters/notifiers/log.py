"""Writes one line per message to the log of the server."""

import logging

from foliot.domain.notification.message import Message
from foliot.ports.notifier import Answer

log = logging.getLogger(__name__)


class LogNotifier:
    """Fills `ports.notifier.Notifier`."""

    async def deliver(self, message: Message, url: str) -> Answer:
        facts = dict(message.document)
        log.warning(facts.pop("type").replace(".", "_"), extra=facts)
        return Answer(True, "logged")
