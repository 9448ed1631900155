"""The coming fire times of several schedules, in order."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from foliot.domain.instant import HOUR, MINUTE, Instant, to_datetime
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.schedule import Schedule
from foliot.domain.schedule.timetable import Timetable
from foliot.errors import InvalidInput

_COUNTED: Final = 5_000


class NextFire(msgspec.Struct, frozen=True, kw_only=True):
    """A coming fire time of a schedule."""

    at: datetime
    schedule_id: str
    job_id: str
    """The job or workflow that it starts."""


class NextHour(msgspec.Struct, frozen=True, kw_only=True):
    """How often schedules fire in the next hour."""

    count: int
    is_complete: bool
    """False: counting stopped at 5,000 fire times or 200 schedules."""
    minutes: list[int]
    """The fire times in each of the next 60 minutes."""


def next_fires(schedules: Iterable[Schedule], now: Instant, pause: ProjectPause | None, limit: int) -> list[NextFire]:
    """Return the next fire times by the current rules."""
    found = [
        (at, schedule.id, schedule.revision.spec.target)
        for schedule in schedules
        for at in _upcoming(schedule, now, pause, limit)
    ]
    return [
        NextFire(at=to_datetime(at), schedule_id=schedule_id, job_id=job_id)
        for at, schedule_id, job_id in sorted(found)[:limit]
    ]


def next_hour(schedules: Sequence[Schedule], now: Instant, pause: ProjectPause | None, most: int) -> NextHour:
    """Count fire times. `schedules`: those that are due next, in that order, at most `most` of them."""
    until = Instant(now + HOUR)
    minutes = [0] * 60
    left = _COUNTED
    for schedule in schedules:
        for at in fires_within(schedule, now, pause, until, left):
            minutes[min(59, (at - now - 1) // MINUTE)] += 1
            left -= 1
    is_cut = len(schedules) >= most and (schedules[-1].wake_at or until) < until
    return NextHour(count=_COUNTED - left, is_complete=left > 0 and not is_cut, minutes=minutes)


def fires_at(schedule: Schedule, times: Sequence[Instant], now: Instant, pause: ProjectPause | None) -> list[Instant]:
    """Return those of the times at which a schedule fires by its current rule."""
    timetable = _timetable(schedule, now, pause)
    try:
        return [] if timetable is None else [at for at in times if [*timetable.upcoming(Instant(at - 1), 1)] == [at]]
    except InvalidInput:
        return []


def fires_within(
    schedule: Schedule, now: Instant, pause: ProjectPause | None, until: Instant, limit: int
) -> Sequence[Instant]:
    """Return the coming fire times of a schedule until a moment, at most `limit` of them."""
    timetable = _timetable(schedule, now, pause)
    found: list[Instant] = []
    try:
        for stretch in () if timetable is None else timetable.stretches(max(now, schedule.settled_until), until):
            if not stretch.is_paused and len(found) < limit:
                found += stretch.rule.between(stretch.first, min(stretch.last, until), limit - len(found))
    except InvalidInput:
        return ()
    return found


def _upcoming(schedule: Schedule, now: Instant, pause: ProjectPause | None, limit: int) -> Sequence[Instant]:
    timetable = _timetable(schedule, now, pause)
    try:
        return () if timetable is None else timetable.upcoming(max(now, schedule.settled_until), limit)
    except InvalidInput:
        return ()


def _timetable(schedule: Schedule, now: Instant, pause: ProjectPause | None) -> Timetable | None:
    """Return the timetable by the current rule. None: the schedule does not fire. A rule that cannot be parsed raises
    `InvalidInput` when it is used."""
    is_off = schedule.paused_at is not None or not schedule.enabled or not schedule.revision.spec.enabled
    if is_off or schedule.is_unreadable:
        return None
    pauses = (pause.pause_of(schedule.uid),) if pause is not None and pause.is_in_force(now) else ()
    return Timetable(schedule.id, (schedule.revision,), project_pauses=pauses)
