"""A schedule and its ticks, as people and programs see them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from foliot.domain.ids import ScheduleId
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.run.run import Run, Status
from foliot.domain.schedule.schedule import Revision, Schedule, ScheduleSpec, ScheduleType, compiled
from foliot.domain.schedule.tick import TickOutcome, TickReason
from foliot.domain.schedule.timetable import Timetable
from foliot.errors import InvalidInput
from foliot.ports.queries import LedgerRow
from foliot.service.queries.documents import moment
from foliot.service.queries.run_view import changed_at

PREVIEW: Final = 5
"""Fire times that are shown of a schedule."""


class ScheduleView(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule as people see it, with its next fire times."""

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
    created_at: datetime
    updated_at: datetime
    preview: list[datetime]
    """The next fire times by its current rule."""
    description: str | None
    """Its cron expression in words. None: it has no such expression, or one that cannot be understood any more."""
    unreadable: bool = False
    """Something else has written its row, or its expression or zone cannot be understood any more: it does not fire
    until that is mended."""

    @property
    def cron_expr(self) -> str | None:
        return self.schedule_expr if self.schedule_type == ScheduleType.CRON else None


class TickView(msgspec.Struct, frozen=True, kw_only=True):
    """One planned moment of a schedule, or many in a row that ended the same way."""

    schedule_id: str
    scheduled_for: datetime
    until: datetime
    """The last of a row of moments; the same as `scheduled_for` for a single one."""
    count: int
    outcome: TickOutcome
    reason: TickReason
    fire_at: datetime
    """When it fired or would have: jitter included."""
    run_id: str | None
    status: Status | None
    """Where its run stands. None: it has none, or that is forgotten."""
    coalesced_into: datetime | None
    """The moment whose run stands for this one as well."""
    idempotency_key: str | None
    """What a launcher is given for it, and its run shows. None: many moments in a row have none of their own."""
    created_at: datetime
    """When it was decided. Nothing about it changes afterwards but where its run stands."""
    updated_at: datetime
    """When its run last began or ended; the same as `created_at` where there is none."""
    unreadable: bool = False
    """Something other than Foliot has written its row: the other fields are what can be told all the same."""


def view_ruled_schedule(schedule: Schedule, revisions: Sequence[Revision], now: Instant) -> ScheduleView:
    """A schedule with the times at which it would fire next, were it not paused."""
    # A moment that fired early, by its jitter, is over although it is still to come.
    after = max(now, schedule.settled_until)
    return view_schedule(schedule, _preview(Timetable(schedule.id, revisions), after))


def view_listed_schedule(schedule: Schedule, now: Instant) -> ScheduleView:
    """A schedule with its next fire times by the current rule: none while paused, and none of a schedule that is
    over or cannot be read."""
    if schedule.paused_at is not None or not schedule.enabled or schedule.is_unreadable:
        return view_schedule(schedule, ())
    after = max(now, schedule.settled_until)
    return view_schedule(schedule, _preview(Timetable(schedule.id, (schedule.revision,)), after))


def _preview(timetable: Timetable, after: Instant) -> Sequence[Instant]:
    """The next fire times. A rule that cannot be understood has none, and keeps no other schedule from being shown."""
    try:
        return timetable.upcoming(after, PREVIEW)
    except InvalidInput:
        return ()


def view_schedule(schedule: Schedule, preview: Sequence[Instant]) -> ScheduleView:
    spec = schedule.revision.spec
    description = _in_words(spec, schedule.id)
    is_understood = spec.type is not ScheduleType.CRON or description is not None
    is_unreadable = schedule.is_unreadable or not is_understood
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
        next_run_at=None if is_unreadable else moment(schedule.next_run_at),
        last_scheduled_at=moment(schedule.last_scheduled_at),
        enabled=schedule.enabled,
        paused=schedule.paused_at is not None,
        jitter_ms=spec.jitter,
        overlap_policy=spec.overlap,
        catchup_policy=spec.catchup,
        created_at=to_datetime(schedule.created_at),
        updated_at=to_datetime(schedule.updated_at),
        preview=[to_datetime(planned) for planned in preview],
        description=description,
        unreadable=is_unreadable,
    )


def _in_words(spec: ScheduleSpec, schedule_id: ScheduleId) -> str | None:
    """What was compiled for firing, in words: only that knows the day rule, and the name that H is drawn from."""
    if spec.type is not ScheduleType.CRON:
        return None
    try:
        return compiled(spec, schedule_id).describe()
    except InvalidInput:
        return None


def view_tick(schedule_id: ScheduleId, seen: LedgerRow, run: Run | None = None) -> TickView:
    tick, key, decided_at, error = seen
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
