"""Sends due deliveries, several at once and few to each receiver, so that a dead receiver does not delay others.

An attempt is a task of its own: a round takes due deliveries, starts their attempts and returns. A process that is
killed during an attempt leaves the delivery due again after its lease, with the same id.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.domain.notification.message import Message
from foliot.domain.notification.retry import delay_after
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.notifications.listener import CHECK
from foliot.errors import FoliotError, RowUnreadable, SecretError
from foliot.ports.deliveries import Delivery, DeliveryResult, DeliveryState
from foliot.ports.notifier import Answer, Notifications
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)

CONCURRENCY: Final = 16
PER_RECEIVER: Final = 2
LEASE: Final = Millis(15 * SECOND)
"""Longer than any attempt takes."""
_POLL: Final = Millis(SECOND)
_WARN_AFTER: Final = 3
_DROPPED: Final = "the target is not configured any more"
_HINT: Final = "Check the receiver with: foliot alert test"


class Sender:
    name = "notification sender"

    def __init__(self, storage: Storage, parts: Notifications, is_on: Callable[[], bool] = lambda: True) -> None:
        self.wake = asyncio.Event()
        self._storage = storage
        self._notifiers = parts.notifiers
        self._addresses = parts.addresses
        self._is_on = is_on
        self._attempts: dict[asyncio.Task[None], str] = {}
        """The attempts of this process, with their receivers."""

    async def round(self) -> Millis | None:
        if not self._is_on():
            return CHECK
        due_at = await self._storage.deliveries.next_due()
        wait = _POLL if due_at is None else Millis(due_at - self._storage.clock.now())
        if wait > 0:
            return min(wait, _POLL)
        taken = await self._take()
        for delivery in taken:
            attempt = asyncio.create_task(self._send(delivery), name=f"delivery {delivery.id}")
            self._attempts[attempt] = delivery.receiver
            attempt.add_done_callback(self._ended)
        return IMMEDIATELY if taken else _POLL

    async def close(self) -> None:
        """Send what is due, and wait for the attempts of this process. Those that do not end are repeated by another
        process."""
        try:
            while self._is_on() and await self.round() == IMMEDIATELY:
                pass
            await asyncio.gather(*self._attempts, return_exceptions=True)
        finally:
            for attempt in list(self._attempts):
                attempt.cancel()

    async def _take(self) -> list[Delivery]:
        room = CONCURRENCY - len(self._attempts)
        if room <= 0:
            return []
        busy = set(self._attempts.values())
        return await self._storage.deliveries.take(room, lease=LEASE, per_receiver=PER_RECEIVER, busy=busy)

    def _ended(self, attempt: asyncio.Task[None]) -> None:
        self._attempts.pop(attempt, None)
        self.wake.set()

    async def _send(self, delivery: Delivery) -> None:
        try:
            await self._storage.deliveries.settle([await self._attempt(delivery)])
        except Exception:
            # An outage of the storage, or a defect: the delivery is due again after its lease.
            log.exception("delivery_interrupted", extra={"delivery": delivery.id, "target": delivery.target})

    async def _attempt(self, delivery: Delivery) -> DeliveryResult:
        try:
            url = await self._addresses.find(delivery)
        except (SecretError, RowUnreadable) as error:
            return _result(delivery, Answer(False, error.message))
        if url is None:
            return DeliveryResult(delivery.id, DeliveryState.DROPPED, _DROPPED)
        return _result(delivery, await self._deliver(delivery, url))

    async def _deliver(self, delivery: Delivery, url: str) -> Answer:
        notifier = self._notifiers.get(delivery.target)
        if notifier is None:
            return Answer(False, f'this version has no notifier for "{delivery.target}"')
        try:
            return await notifier.deliver(Message(delivery.id, delivery.document), url)
        except FoliotError as error:
            return Answer(False, error.message)


def _result(delivery: Delivery, answer: Answer) -> DeliveryResult:
    attempts = delivery.attempts + 1
    if answer.is_accepted:
        return DeliveryResult(delivery.id, DeliveryState.DELIVERED, answer.text)
    delay = None if answer.is_final else delay_after(attempts)
    facts = {"delivery": delivery.id, "target": delivery.target, "attempts": attempts, "answer": answer.text}
    if delay is None:
        log.error("notification_failed", extra={**facts, "hint": _HINT})
        return DeliveryResult(delivery.id, DeliveryState.FAILED, answer.text)
    if attempts == _WARN_AFTER:
        log.warning("notification_delayed", extra={**facts, "hint": _HINT})
    return DeliveryResult(delivery.id, DeliveryState.PENDING, answer.text, delay)
