"""The next fires of all schedules after a deployment."""

import heapq
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from foliot.domain.deploy.deployment import Action, Changes
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.schedule.schedule import Revision, ScheduleSpec, anchored
from foliot.domain.schedule.timetable import Timetable


class UpcomingFire(NamedTuple):
    """A time at which a schedule would fire."""

    at: Instant
    schedule_id: ScheduleId
    job_id: str


def upcoming_fires(changes: Changes, now: Instant, until: Instant, limit: int) -> Iterator[UpcomingFire]:
    """Yield the next fires of all schedules, in order. Paused schedules and disabled jobs do not fire."""
    enabled: dict[str, bool] = {change.id: change.spec.enabled for change in changes.jobs}
    enabled |= {change.id: change.spec.enabled for change in changes.workflows}
    sequences = [
        _fires_of(change.id, change.spec, now, until)
        for change in changes.schedules
        if change.action is not Action.REMOVED
        and not change.paused
        and change.spec.enabled
        and enabled[change.spec.target]
    ]
    yield from islice(heapq.merge(*sequences), limit)


def _fires_of(schedule_id: ScheduleId, spec: ScheduleSpec, now: Instant, until: Instant) -> Iterator[UpcomingFire]:
    timetable = Timetable(schedule_id, [Revision(1, now, anchored(spec, now))])
    at = timetable.next(now)
    while at is not None and at <= until:
        yield UpcomingFire(at, schedule_id, spec.target)
        at = timetable.next(at)
