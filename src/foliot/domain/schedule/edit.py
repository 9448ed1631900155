"""How a schedule's row changes when people touch it: created, edited, paused, resumed, deleted.

Every change raises `version`, so that a firing decided before the change cannot be saved after it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.schedule.schedule import Revision, Schedule, ScheduleSpec, anchored, first_fire
from foliot.domain.schedule.timetable import Timetable


class Start(NamedTuple):
    """How a schedule begins that is created now: the same for all that share a specification."""

    revision: Revision
    next_run_at: Instant | None
    wake_at: Instant | None

    def create(self, uid: ScheduleUid, schedule_id: ScheduleId, project: str) -> Schedule:
        revision, next_run_at, wake_at = self
        now = revision.opened_at
        return Schedule(uid, schedule_id, project, 1, revision, True, None, now, now, now, next_run_at, wake_at, None)


def start(spec: ScheduleSpec, schedule_id: ScheduleId, now: Instant) -> Start:
    revision = Revision(1, now, anchored(spec, now))
    next_run_at = first_fire(revision.spec, schedule_id, now)
    return Start(revision, next_run_at, _wake(next_run_at, revision))


def create(uid: ScheduleUid, schedule_id: ScheduleId, project: str, spec: ScheduleSpec, now: Instant) -> Schedule:
    return start(spec, schedule_id, now).create(uid, schedule_id, project)


def edit(schedule: Schedule, spec: ScheduleSpec, open_revisions: Sequence[Revision], now: Instant) -> Schedule:
    """Open a revision. `open_revisions` are those that still rule unsettled moments, the current one last.

    Planned moments up to the edit keep the rule they had, also those that are not settled yet.
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
    """The same rule once more, where its row could not be read: what was not decided meanwhile is asked for at once."""
    wake_at = None if schedule.paused_at is not None else now
    return replace(schedule, version=schedule.version + 1, updated_at=now, wake_at=wake_at)


def is_same_rule(schedule: Schedule, spec: ScheduleSpec) -> bool:
    """Whether saving `spec` again would change nothing, so that applying a file twice opens no revision."""
    current = schedule.revision.spec
    return anchored(spec, schedule.created_at, current) == current


def pause(schedule: Schedule, now: Instant) -> Schedule:
    """What is settled stays as it is, also when the clock has been set back since."""
    paused_at = max(now, schedule.settled_until)
    return replace(schedule, version=schedule.version + 1, paused_at=paused_at, updated_at=now, wake_at=None)


def resume(schedule: Schedule, now: Instant) -> Schedule:
    """The paused stretch is settled by the next firing, which is asked for at once."""
    return replace(schedule, version=schedule.version + 1, paused_at=None, updated_at=now, wake_at=now)


def _wake(next_run_at: Instant | None, revision: Revision) -> Instant | None:
    return None if next_run_at is None else Instant(next_run_at - revision.spec.early)


def _earlier(schedule: Schedule, wake_at: Instant | None) -> Instant | None:
    """Planned ticks of the former revision still fire when they said they would."""
    known = [wake for wake in (schedule.wake_at, wake_at) if wake is not None]
    return min(known, default=None)
