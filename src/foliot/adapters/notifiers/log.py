"""Writes one line per alert to the log of the server."""

import logging
from datetime import datetime

from foliot.domain.notification.message import Message
from foliot.ports.notifier import Answer

log = logging.getLogger(__name__)


class LogNotifier:
    """Fills `ports.notifier.Notifier`."""

    async def deliver(self, message: Message, url: str) -> Answer:
        facts = {name: value for name, value in message.document.items() if name != "type"}
        # The time of an event has the same form in every line of the log.
        facts["at"] = datetime.fromisoformat(facts["at"]).isoformat(timespec="milliseconds")
        log.warning("alert_raised", extra=facts)
        return Answer(True, "logged")
