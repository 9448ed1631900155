"""Writes one line per alert to the log of the server."""

import logging

from foliot.domain.notification.message import Message
from foliot.ports.notifier import Answer

log = logging.getLogger(__name__)


class LogNotifier:
    """Fills `ports.notifier.Notifier`."""

    async def deliver(self, message: Message, url: str) -> Answer:
        facts = {name: value for name, value in message.document.items() if name != "type"}
        log.warning("alert_raised", extra=facts)
        return Answer(True, "logged")
