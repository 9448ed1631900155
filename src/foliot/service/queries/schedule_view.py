"""Views of a schedule and its ticks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from foliot.domain.ids import ScheduleId
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.run.run import Run, Status
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.schedule import Revision, Schedule, ScheduleSpec, ScheduleType, compiled
from foliot.domain.schedule.tick import TickOutcome, TickReason
from foliot.domain.schedule.timetable import Timetable
from foliot.errors import InvalidInput
from foliot.ports.ticks import LedgerRow
from foliot.service.queries.documents import moment
from foliot.service.queries.run_view import changed_at

PREVIEW: Final = 5
"""How many fire times of a schedule are shown."""


class ScheduleView(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule with its next fire times."""

    schedule_id: str
    schedule_type: str
    schedule_expr: str
    job_id: str | None
    workflow_id: str | None
    version: int | None
    user_id: str | None
    timezone: str
    start_at: datetime | None
    end_at: datetime | None
    next_run_at: datetime | None
    last_scheduled_at: datetime | None
    enabled: bool
    paused: bool
    jitter_ms: int
    overlap_policy: str
    catchup_policy: str
    revision: int
    """Rises with each change of its rule or its policies."""
    created_at: datetime
    updated_at: datetime
    preview: list[datetime]
    """The next fire times by its current rule."""
    description: str | None
    """Its cron expression in words. None: it has no such expression, or one that can no longer be parsed."""
    all_paused: bool = False
    """Whether all schedules of the project are paused. The next fire times are those after that pause."""
    paused_by: str | None = None
    """Who paused it, such as `cli:anna`. None: it is not paused, or the audit trail does not go back so far."""
    unreadable: bool = False
    """Its row was not written by Foliot, or its expression or time zone can no longer be parsed: it does not fire until
    that is repaired."""

    @property
    def is_paused(self) -> bool:
        """Whether it is paused, by itself or with all schedules."""
        return self.paused or self.all_paused

    @property
    def cron_expr(self) -> str | None:
        return self.schedule_expr if self.schedule_type == ScheduleType.CRON else None


class TickView(msgspec.Struct, frozen=True, kw_only=True):
    """One planned time of a schedule, or a range of planned times with the same outcome."""

    schedule_id: str
    scheduled_for: datetime
    until: datetime
    """The last planned time of the range; equal to `scheduled_for` for a single one."""
    count: int
    outcome: TickOutcome
    reason: TickReason
    fire_at: datetime
    """When it fired or would have fired, jitter included."""
    run_id: str | None
    status: Status | None
    """The status of its run. None: it has no run, or the run was pruned."""
    coalesced_into: datetime | None
    """The planned time whose run also covers this one."""
    idempotency_key: str | None
    """The key that is given to a launcher and shown with the run. None for a range."""
    created_at: datetime
    """When it was decided. Only the status of its run changes afterwards."""
    updated_at: datetime
    """When its run last began or ended; equal to `created_at` without a run."""
    unreadable: bool = False
    """Its row was not written by Foliot: the other fields contain what could be read."""


def view_ruled_schedule(
    schedule: Schedule, revisions: Sequence[Revision], now: Instant, pause: ProjectPause | None = None
) -> ScheduleView:
    """Build the view of a schedule, with the next fire times that it has if it is not paused by itself."""
    return _view(schedule, revisions, now, pause)


def view_listed_schedule(schedule: Schedule, now: Instant, pause: ProjectPause | None = None) -> ScheduleView:
    """Build the view of a schedule, with its next fire times by the current rule. A schedule that is paused, over or
    unreadable has no fire times."""
    if schedule.paused_at is not None or not schedule.enabled or schedule.is_unreadable:
        return view_schedule(schedule, ())
    return _view(schedule, (schedule.revision,), now, pause)


def _view(schedule: Schedule, revisions: Sequence[Revision], now: Instant, pause: ProjectPause | None) -> ScheduleView:
    # With jitter a tick may fire before its planned time: such a tick is decided although that time is in the future.
    after = max(now, schedule.settled_until)
    if pause is None or not pause.is_in_force(now):
        return view_schedule(schedule, _preview(Timetable(schedule.id, revisions), after))
    timetable = Timetable(schedule.id, revisions, project_pauses=(pause.pause_of(schedule.uid),))
    preview = _preview(timetable, after)
    shown = view_schedule(schedule, preview)
    following = to_datetime(preview[0]) if preview else None
    return msgspec.structs.replace(shown, all_paused=True, next_run_at=following)


def _preview(timetable: Timetable, after: Instant) -> Sequence[Instant]:
    """Return the next fire times. A rule that cannot be parsed has none; an error would hide the other schedules."""
    try:
        return timetable.upcoming(after, PREVIEW)
    except InvalidInput:
        return ()


def view_schedule(schedule: Schedule, preview: Sequence[Instant]) -> ScheduleView:
    spec = schedule.revision.spec
    description = rule_in_words(spec, schedule.id)
    is_valid = spec.type is not ScheduleType.CRON or description is not None
    is_unreadable = schedule.is_unreadable or not is_valid
    return ScheduleView(
        schedule_id=schedule.id,
        schedule_type=spec.type,
        schedule_expr=spec.expr,
        job_id=spec.job_id,
        workflow_id=spec.workflow_id,
        version=spec.version,
        user_id=spec.user_id,
        timezone=spec.timezone,
        start_at=moment(spec.start_at),
        end_at=moment(spec.end_at),
        next_run_at=None if is_unreadable or not spec.enabled else moment(schedule.next_run_at),
        last_scheduled_at=moment(schedule.last_scheduled_at),
        enabled=schedule.enabled and spec.enabled,
        paused=schedule.paused_at is not None,
        jitter_ms=spec.jitter,
        overlap_policy=spec.overlap,
        catchup_policy=spec.catchup,
        revision=schedule.revision.number,
        created_at=to_datetime(schedule.created_at),
        updated_at=to_datetime(schedule.updated_at),
        preview=[to_datetime(planned) for planned in preview] if spec.enabled else [],
        description=description,
        unreadable=is_unreadable,
    )


def rule_in_words(spec: ScheduleSpec, schedule_id: ScheduleId) -> str | None:
    """Return the cron expression in words, from its compiled form: only that has the day rule and the name that H is
    derived from."""
    if spec.type is not ScheduleType.CRON:
        return None
    try:
        return compiled(spec, schedule_id).describe()
    except InvalidInput:
        return None


def view_tick(schedule_id: ScheduleId, row: LedgerRow, run: Run | None = None) -> TickView:
    tick, key, decided_at, error = row
    return TickView(
        schedule_id=schedule_id,
        scheduled_for=to_datetime(tick.scheduled_for),
        until=to_datetime(tick.until),
        count=tick.count,
        outcome=tick.outcome,
        reason=tick.reason,
        fire_at=to_datetime(tick.fire_at),
        run_id=tick.run_id,
        status=None if run is None else run.status,
        coalesced_into=moment(tick.into),
        idempotency_key=key,
        created_at=to_datetime(decided_at),
        updated_at=to_datetime(decided_at if run is None else max(decided_at, changed_at(run))),
        unreadable=error is not None,
    )
