"""The deliveries port: messages that wait to be sent, and those that were sent or failed for good.

A delivery is one message to one target. Its row has no URL: the sender finds the URL when it sends, so a changed URL
applies to waiting messages too, and the table contains no secret.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant, Millis


class DeliveryState(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    """The last attempt failed, or the target was refused for good."""
    DROPPED = "dropped"
    """Its target is not configured any more."""


class NewDelivery(NamedTuple):
    """A message to send."""

    id: str
    """The same for the same event, run and receiver: adding it twice has no effect."""
    target: str
    """The kind of target, which chooses the notifier."""
    owner: JobId | None
    """The job whose option names the target. None: [notifications] does."""
    run_id: RunId | None
    """The run that it is about. None: an alert."""
    receiver: str
    """A name for the address that does not reveal it. Deliveries to a receiver that does not answer wait together."""
    document: dict[str, Any]


class Delivery(NamedTuple):
    """A stored delivery."""

    id: str
    target: str
    owner: JobId | None
    run_id: RunId | None
    receiver: str
    document: dict[str, Any]
    state: DeliveryState
    attempts: int
    """How many have ended."""
    due_at: Instant
    created_at: Instant
    finished_at: Instant | None
    answer: str | None
    """What the receiver answered last, or why it could not be reached."""


class DeliveryResult(NamedTuple):
    """The result of an attempt to send a delivery."""

    id: str
    state: DeliveryState
    answer: str
    delay: Millis | None = None
    """If it is still pending: the time until the next attempt."""


class Deliveries(Protocol):
    async def add(self, deliveries: Sequence[NewDelivery], *, at: Instant | None = None) -> int:
        """Store deliveries that are due now. Return how many are new: one whose id is stored is left as it is."""
        ...

    async def take(
        self, limit: int, *, lease: Millis, per_receiver: int, busy: Collection[str] = (), at: Instant | None = None
    ) -> list[Delivery]:
        """Return due deliveries, the oldest first, and make each due again after `lease`: no other process takes
        one before that.

        At most `per_receiver` of each receiver, and none of the receivers in `busy`.
        """
        ...

    async def settle(self, results: Sequence[DeliveryResult], *, at: Instant | None = None) -> None:
        """Save the results of attempts. A delivery that is not pending any more is left as it is."""
        ...

    async def next_due(self) -> Instant | None:
        """Return when the next delivery is due. None: none is pending."""
        ...

    async def get(self, delivery_ids: Collection[str]) -> list[Delivery]:
        """Return the deliveries that exist, by id."""
        ...

    async def failed(self, since: Instant, *, limit: int) -> list[Delivery]:
        """Return deliveries that have failed for good since then, newest first. A receiver that has accepted a later
        delivery is left out."""
        ...
