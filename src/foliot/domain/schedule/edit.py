"""How a schedule's row changes when it is created, edited, paused or resumed.

Every change raises `version`, so that a firing decided before the change cannot be saved after it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.schedule.schedule import Revision, Schedule, ScheduleSpec, anchored, canonical, first_fire
from foliot.domain.schedule.timetable import Timetable


class InitialState(NamedTuple):
    """The first state of a new schedule: the same for all schedules created together with one specification."""

    revision: Revision
    next_run_at: Instant | None
    wake_at: Instant | None

    def create(self, uid: ScheduleUid, schedule_id: ScheduleId, project: str) -> Schedule:
        revision, next_run_at, wake_at = self
        now = revision.opened_at
        return Schedule(uid, schedule_id, project, 1, revision, True, None, now, now, now, next_run_at, wake_at, None)


def initial_state(spec: ScheduleSpec, schedule_id: ScheduleId, now: Instant) -> InitialState:
    """Return the first state of a schedule created now."""
    revision = Revision(1, now, anchored(spec, now))
    next_run_at = first_fire(revision.spec, schedule_id, now)
    return InitialState(revision, next_run_at, _wake(next_run_at, revision))


def create(uid: ScheduleUid, schedule_id: ScheduleId, project: str, spec: ScheduleSpec, now: Instant) -> Schedule:
    return initial_state(spec, schedule_id, now).create(uid, schedule_id, project)


def edit(schedule: Schedule, spec: ScheduleSpec, open_revisions: Sequence[Revision], now: Instant) -> Schedule:
    """Return the schedule with a new revision.

    `open_revisions` are the revisions with moments that are not decided yet, the current one last. Moments planned up
    to the edit keep the rule they had, decided or not.
    """
    current = schedule.revision
    # The clock may have been set back since the last edit: revisions must not overlap.
    opened_at = max(now, schedule.settled_until, current.opened_at)
    revision = Revision(current.number + 1, opened_at, anchored(spec, now, current.spec))
    next_run_at = Timetable(schedule.id, (*open_revisions, revision)).next(schedule.settled_until)
    wake_at = None if schedule.paused_at is not None else _earlier(schedule, _wake(next_run_at, revision))
    return replace(
        schedule,
        version=schedule.version + 1,
        revision=revision,
        enabled=True,
        updated_at=now,
        next_run_at=next_run_at,
        wake_at=wake_at,
    )


def renew(schedule: Schedule, now: Instant) -> Schedule:
    """Return a schedule whose row could not be read, with the same rule. It is due immediately, to decide about the
    moments that were left undecided."""
    wake_at = None if schedule.paused_at is not None else now
    return replace(schedule, version=schedule.version + 1, updated_at=now, wake_at=wake_at)


def is_same_rule(schedule: Schedule, spec: ScheduleSpec) -> bool:
    """Return whether saving `spec` would change nothing, so that applying a file twice opens no revision."""
    current = schedule.revision.spec
    return anchored(spec, schedule.created_at, current) == current


def is_stored(schedule_id: ScheduleId, spec: ScheduleSpec, stored: Mapping[ScheduleId, Schedule]) -> bool:
    """Return whether a schedule is stored with this rule."""
    return schedule_id in stored and is_same_rule(stored[schedule_id], canonical(spec, schedule_id))


def pause(schedule: Schedule, now: Instant) -> Schedule:
    """Return the schedule paused. Moments that are decided stay so, also if the clock has been set back since."""
    paused_at = max(now, schedule.settled_until)
    return replace(schedule, version=schedule.version + 1, paused_at=paused_at, updated_at=now, wake_at=None)


def resume(schedule: Schedule, now: Instant) -> Schedule:
    """Return the schedule resumed. It is due immediately: the next firing records the paused moments."""
    return replace(schedule, version=schedule.version + 1, paused_at=None, updated_at=now, wake_at=now)


def _wake(next_run_at: Instant | None, revision: Revision) -> Instant | None:
    return None if next_run_at is None else Instant(next_run_at - revision.spec.early)


def _earlier(schedule: Schedule, wake_at: Instant | None) -> Instant | None:
    """Return the earlier wake time: planned ticks of the former revision keep their fire time."""
    known = [wake for wake in (schedule.wake_at, wake_at) if wake is not None]
    return min(known, default=None)
