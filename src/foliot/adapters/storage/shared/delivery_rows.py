"""Deliveries as rows."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.ports.deliveries import Delivery, DeliveryState

LONGEST_ANSWER: Final = 500


def delivery_of(row: Sequence[Any]) -> Delivery:
    """Return the delivery of a row with the columns of the queries `take_deliveries` and `get_deliveries`."""
    (id_, target, owner, run_id, receiver, document, state, attempts, due_at, created_at, finished_at, answer) = row
    return Delivery(
        id=id_,
        target=target,
        owner=None if owner is None else JobId(owner),
        run_id=None if run_id is None else RunId(run_id),
        receiver=receiver,
        document=msgspec.json.decode(document),
        state=DeliveryState(state),
        attempts=attempts,
        due_at=Instant(due_at),
        created_at=Instant(created_at),
        finished_at=None if finished_at is None else Instant(finished_at),
        answer=answer,
    )


def storable(text: str) -> str:
    """Return an answer as both databases can store it: PostgreSQL has no NUL, and no database has lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()[:LONGEST_ANSWER]
