"""Views of jobs in lists, each with the strip of its newest ticks."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from foliot.domain.ids import RunId
from foliot.domain.instant import MINUTE, Instant, to_datetime
from foliot.domain.job.job import JobSpec
from foliot.domain.job.state import JobState
from foliot.domain.run.results import RunState, usual_duration
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Schedule
from foliot.domain.schedule.tick import TickOutcome, TickReason, TickRecord
from foliot.errors import RowUnreadable
from foliot.ports.job_rows import JobRowDetails, JobRows
from foliot.ports.ticks import ListedTick
from foliot.service.queries.brief_view import RunBrief, view_brief
from foliot.service.queries.documents import moment, seconds
from foliot.service.queries.fires import NextFire, next_fires
from foliot.service.queries.job_view import kind_name
from foliot.service.queries.schedule_view import ScheduleView, view_schedule

GRACE: Final = MINUTE
"""A run that begins longer than this after the time of its tick is late."""
_COMING: Final = 5
_SCHEDULES: Final = 10
_DESCRIPTION: Final = 300
_UNREADABLE: Final = JobSpec(kind="unreadable", enabled=False, source="")


class StripTick(msgspec.Struct, frozen=True, kw_only=True):
    """A planned time, or a range of them, with the run that it has become."""

    schedule_id: str
    scheduled_for: datetime
    until: datetime
    """The last planned time of the range; equal to `scheduled_for` for a single one."""
    count: int
    outcome: TickOutcome
    reason: TickReason
    run_id: str | None
    status: Status | None
    """The status of its run. None: it has no run, or the run was pruned."""
    duration: float | None
    """Seconds of the latest attempt of its run. None: it has no run, or the run has not ended."""
    is_late: bool
    """It ran, but had to catch up, or its run began, or waits, more than a minute after its time."""


class Strip(msgspec.Struct, frozen=True, kw_only=True):
    """The newest and the next planned times of all schedules of a job."""

    ticks: list[StripTick]
    """Oldest first, in the order of their last planned times: at least 30 planned times, if there are so many."""
    next: list[NextFire]
    """The next five."""


class JobSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule of a job. The fields mean the same as in `ScheduleView`."""

    schedule_id: str
    words: str | None
    """Its cron expression in words. None: it has none."""
    schedule_type: str
    schedule_expr: str
    timezone: str
    enabled: bool
    paused: bool
    next_run_at: datetime | None


class JobRow(msgspec.Struct, frozen=True, kw_only=True):
    """A job in a list, with the strip of its newest ticks."""

    id: str
    kind: str
    name: str
    description: str
    """At most its first 300 characters."""
    tags: tuple[str, ...]
    enabled: bool
    paused: bool
    """Whether the job itself is paused."""
    stopped_at: datetime | None
    """When its schedules were paused because of `pause_after_failures`."""
    source: str
    """Who owns the definition, such as file or api."""
    schedules: list[JobSchedule]
    """At most ten, those that fire next first."""
    schedule_count: int
    next_run_at: datetime | None
    latest_run: RunBrief | None
    is_failing: bool
    """Whether its newest result is a failure."""
    usual_duration: float | None
    """The median of the successes among its newest 30 runs, in seconds."""
    strip: Strip
    unreadable: bool = False
    """Its definition cannot be read: `description` has the problem."""


class JobFacets(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs a list has, by what it is filtered by. A job can be in several states, and have several tags."""

    total: int
    states: dict[JobState, int]
    kinds: dict[str, int]
    tags: dict[str, int]
    """At most 200 tags, those of the most jobs."""
    is_complete: bool
    """False: only the first 10,000 jobs were counted."""


def view_rows(found: JobRows, now: Instant) -> list[JobRow]:
    return [_row(row, found, now) for row in found.rows]


def _row(row: JobRowDetails, found: JobRows, now: Instant) -> JobRow:
    job = row.job
    # Of an unreadable definition only the id is known.
    spec = _UNREADABLE if isinstance(job, RowUnreadable) else job.spec
    error = job.message if isinstance(job, RowUnreadable) else None
    schedules = sorted(row.schedules, key=_fires_first)
    coming = next_fires(schedules[:_SCHEDULES], now, found.project_pause, _COMING)
    typical = usual_duration(row.results, len(row.results))
    latest = None if row.latest is None else found.runs.get(row.latest)
    return JobRow(
        id=job.name if isinstance(job, RowUnreadable) else job.id,
        kind=kind_name(spec.kind),
        name=spec.name,
        description=error or spec.description[:_DESCRIPTION],
        tags=spec.tags,
        enabled=spec.enabled,
        paused=not isinstance(job, RowUnreadable) and job.paused_at is not None,
        stopped_at=None if isinstance(job, RowUnreadable) else moment(job.stopped_at),
        source=spec.source,
        schedules=[_schedule(view_schedule(one, ())) for one in schedules[:_SCHEDULES]],
        schedule_count=len(schedules),
        next_run_at=coming[0].at if coming else None,
        latest_run=None if latest is None else view_brief(latest),
        is_failing=row.failing is not None,
        usual_duration=None if typical is None else typical.p50,
        strip=Strip(ticks=view_strip(row.ticks, found.states, now), next=coming),
        unreadable=error is not None,
    )


def view_strip(ticks: Sequence[ListedTick], states: Mapping[RunId, RunState], now: Instant) -> list[StripTick]:
    """Build the views of ticks, which are given newest first."""
    return [_tick(tick, states, now) for tick in reversed(ticks)]


def _tick(tick: ListedTick, states: Mapping[RunId, RunState], now: Instant) -> StripTick:
    record = tick.row.record
    run = None if record.run_id is None else states.get(record.run_id)
    return StripTick(
        schedule_id=tick.schedule_id,
        scheduled_for=to_datetime(record.scheduled_for),
        until=to_datetime(record.until),
        count=record.count,
        outcome=record.outcome,
        reason=record.reason,
        run_id=record.run_id,
        status=None if run is None else run.status,
        duration=None if run is None else seconds(run.started_at, run.finished_at),
        is_late=record.outcome is TickOutcome.RAN and _is_late(record, run, now),
    )


def _is_late(record: TickRecord, run: RunState | None, now: Instant) -> bool:
    if record.reason is TickReason.CAUGHT_UP:
        return True
    if run is None or (run.started_at is None and run.status.is_terminal):
        return False
    return (run.started_at or now) - record.fire_at > GRACE


def _schedule(view: ScheduleView) -> JobSchedule:
    return JobSchedule(
        schedule_id=view.schedule_id,
        words=view.description,
        schedule_type=view.schedule_type,
        schedule_expr=view.schedule_expr,
        timezone=view.timezone,
        enabled=view.enabled,
        paused=view.paused,
        next_run_at=None if view.paused or not view.enabled else view.next_run_at,
    )


def _fires_first(schedule: Schedule) -> tuple[bool, int, str]:
    is_idle = schedule.wake_at is None or schedule.next_run_at is None
    return is_idle, schedule.next_run_at or 0, schedule.id
