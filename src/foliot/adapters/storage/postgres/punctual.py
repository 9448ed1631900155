"""Save firings that are as simple as most of them are (`shared.ledger`): one statement saves them all."""

from collections.abc import Sequence

from foliot.adapters.storage.postgres.arrays import shared
from foliot.adapters.storage.postgres.database import Transaction
from foliot.domain.ids import ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.run.limits import OVERLAP_PREFIX
from foliot.domain.run.run import PRIORITY_STEP
from foliot.domain.schedule.firing import Firing
from foliot.ports.topic import Topic, topics_of_ready


async def settle_punctual(
    transaction: Transaction, project: str, firings: Sequence[Firing], at: Instant | None
) -> list[ScheduleUid]:
    """Save those that are still current; the uids of those come back. A run that is there already is bad data."""
    ordered = sorted({firing.uid: firing for firing in firings}.values(), key=lambda firing: firing.uid)
    ticks = [firing.ticks[0] for firing in ordered]
    runs = [firing.runs[0] for firing in ordered]
    options = [run.options for run in runs]
    arrays, values = shared(
        [
            *([firing.version for firing in ordered], [firing.wake_at for firing in ordered]),
            *([tick.scheduled_for for tick in ticks], [tick.reason for tick in ticks]),
            [tick.revision for tick in ticks],
            *([run.job_id for run in runs], [one.queue for one in options], [one.priority for one in options]),
            *([run.trigger for run in runs], [run.due_at for run in runs]),
            [None if run.payload is None else run.payload.decode() for run in runs],
        ]
    )
    [[now, saved]] = await transaction.rows(
        "settle_punctual",
        *(project, at, PRIORITY_STEP, OVERLAP_PREFIX),
        *([firing.uid for firing in ordered], [run.id for run in runs], [run.tick.key for run in runs if run.tick]),
        *(*arrays, *values),
    )
    if not saved:
        return []
    transaction.topics |= topics_of_ready(one.queue for one in options)
    transaction.topics |= {Topic.LATER} if any(run.due_at > now for run in runs) else set()
    return [ScheduleUid(uid) for uid in saved.split()]
