"""The notice about notifications that could not be delivered."""

from collections.abc import AsyncIterator
from typing import Final

from foliot.domain.instant import DAY, Instant
from foliot.ports.deliveries import Deliveries
from foliot.service.queries.notice import BaseNotice, State

FAILED_FOR: Final = 7 * DAY
"""How long a failed delivery is reported, unless its receiver accepts a later one."""
_COUNTED: Final = 1_000


class DeliveriesFailed(BaseNotice, frozen=True, kw_only=True, tag="deliveries_failed"):
    """Notifications have failed for good in the last seven days, and their receivers have accepted none since. Counting
    stops at 1,000."""

    count: int
    targets: tuple[str, ...]
    """The kinds of targets: webhook, slack."""
    jobs: tuple[str, ...]
    """The jobs whose own targets these are."""
    answer: str | None
    """What the receiver of the newest answered, or why it could not be reached."""
    state: State = State.ATTENTION


async def delivery_notices(deliveries: Deliveries, now: Instant) -> AsyncIterator[DeliveriesFailed]:
    failed = await deliveries.failed(Instant(now - FAILED_FOR), limit=_COUNTED)
    if failed:
        yield DeliveriesFailed(
            count=len(failed),
            targets=tuple(sorted({one.target for one in failed})),
            jobs=tuple(sorted({one.owner for one in failed if one.owner is not None})),
            answer=failed[0].answer,
        )
