"""Writes one line per message to the log of the server."""

import logging
from datetime import datetime

from foliot.domain.notification.message import Message
from foliot.ports.notifier import Answer

log = logging.getLogger(__name__)


class LogNotifier:
    """Fills `ports.notifier.Notifier`."""

    async def deliver(self, message: Message, url: str) -> Answer:
        facts = dict(message.document)
        if "at" in facts:
            # The time of an event has the same form in every line of the log.
            facts["at"] = datetime.fromisoformat(facts["at"]).isoformat(timespec="milliseconds")
        log.warning(facts.pop("type").replace(".", "_"), extra=facts)
        return Answer(True, "logged")
