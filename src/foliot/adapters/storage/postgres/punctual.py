"""Saving firings that are as simple as most of them are: one tick, on time, whose run starts at once.

Ten thousand schedules that are due at the same second are nearly all like this. One statement saves them, exactly as
the long way (`settling`) would, which has to do with everything else.
"""

from collections.abc import Sequence

from foliot.adapters.storage.postgres.arrays import shared
from foliot.adapters.storage.postgres.database import Transaction
from foliot.domain.firing import Firing
from foliot.domain.ids import ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.limits import OVERLAP_PREFIX
from foliot.domain.run import PRIORITY_STEP, NewRun
from foliot.domain.tick import TickOutcome, TickRecord
from foliot.ports.storage import Topic


def is_punctual(firing: Firing) -> bool:
    """Whether `settle_punctual` will do."""
    if len(firing.ticks) != 1 or len(firing.runs) != 1 or firing.waiting or firing.planned or firing.cancels_running:
        return False
    [tick], [run] = firing.ticks, firing.runs
    return (
        firing.next_run_at is not None
        and firing.wake_at == firing.next_run_at
        and firing.behind_since is None
        and firing.settled_until == firing.last_scheduled_at == tick.scheduled_for
        and _is_single(tick)
        and _is_plain(run, tick)
    )


def _is_single(tick: TickRecord) -> bool:
    is_one = tick.until == tick.scheduled_for == tick.fire_at and tick.count == 1
    return is_one and tick.outcome is TickOutcome.RAN and tick.into is None


def _is_plain(run: NewRun, tick: TickRecord) -> bool:
    """A run that is ready when it is due."""
    is_of_tick = run.tick is not None and run.tick.scheduled_for == tick.scheduled_for and run.id == tick.run_id
    options = run.options
    is_free = options.max_concurrent is None and options.concurrency_key is None and run.dedupe_key is None
    return is_of_tick and is_free and run.overrides is None and run.root is None and not run.is_gated


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
    transaction.topics |= {Topic.RUNS, Topic.LATER} if any(run.due_at > now for run in runs) else {Topic.RUNS}
    return [ScheduleUid(uid) for uid in saved.split()]
