"""What people and programs see: the same names in Python and on the command line.

Moments are aware datetimes in UTC, spans are seconds, statuses and reasons are words. Nothing in a view is internal:
no token, no revision of a lease, no uid.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.domain.job import DEFAULT_PROJECT, Job, JobSpec
from foliot.domain.launch import SCHEDULE_TRIGGER
from foliot.domain.lease import WorkerState
from foliot.domain.run import BEGUN, AttemptRecord, Run, Status
from foliot.domain.schedule import Schedule, ScheduleSpec, ScheduleType, compiled
from foliot.domain.secrets import public_document, public_spec
from foliot.domain.tick import TickOutcome, TickReason
from foliot.domain.timetable import Timetable
from foliot.domain.workflow.start import NOTHING, Told
from foliot.errors import InvalidInput, RowUnreadable
from foliot.ports.schedules import Ledger, TickSight

PREVIEW: Final = 5
"""Fire times that are shown of a schedule."""
_DOCUMENTS: Final = ("input_payload", "output_payload", "payload", "params")
"""Fields that hold what somebody has given a run, or a run has given back."""


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """A run."""

    id: str
    job_id: str
    job_schedule_id: str | None
    """The schedule that made it; None for one that somebody asked for."""
    status: Status
    reason: str | None
    scheduled_for: datetime | None
    """The planned moment it was made for: that of a tick, or `run_at`. None where nobody has planned it."""
    due_at: datetime
    """When it may start, or could; a retry moves it."""
    created_at: datetime
    started_at: datetime | None
    """When its latest attempt began."""
    finished_at: datetime | None
    updated_at: datetime
    attempt: int
    lost: int
    """How many of its attempts ended because their worker vanished."""
    input_payload: Any
    output_payload: Any
    error_message: str | None
    exit_code: int | None
    trigger: str
    queue: str
    priority: int
    worker_id: str | None
    idempotency_key: str | None
    """That of its tick, or the one that a launcher was given. Lists tell the first alone."""
    user_id: str | None
    """For whom a schedule or a launcher started it. Lists do not tell."""
    duration: float | None
    """Seconds of the latest attempt, from start to end. None while it lasts."""
    lag: float | None
    """Seconds from the moment it was planned or due for to its start."""
    root: str | None
    """The execution that it is a part of."""
    role: str | None
    """What it is there: a step."""
    item: str | None
    """Under which name."""
    unreadable: bool = False
    """Something other than Foliot has written its row: `error_message` says what is wrong with it, and the other fields
    what can be told all the same."""


class AttemptView(msgspec.Struct, frozen=True, kw_only=True):
    """One finished try of a run."""

    run_id: str
    attempt: int
    status: str
    reason: str | None
    worker_id: str
    started_at: datetime
    finished_at: datetime
    duration: float
    exit_code: int | None
    error_message: str | None


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


class JobView(msgspec.Struct, frozen=True, kw_only=True):
    """A job with its latest run. `spec` and `options` hold what its definition says beside the defaults.

    What may be a secret in it is ***; `domain.secrets` says what that is.
    """

    id: str
    kind: str
    name: str
    description: str
    enabled: bool
    source: str
    category: str
    owner: str
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    spec: Mapping[str, Any]
    payload_template: Any
    options: Mapping[str, Any]
    revision: int
    created_at: datetime
    updated_at: datetime
    latest_run: RunView | None = None


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


class WorkerView(msgspec.Struct, frozen=True, kw_only=True):
    """A worker process."""

    id: str
    name: str
    queues: tuple[str, ...]
    slots: int
    running: int
    is_alive: bool
    registered_at: datetime
    seen_at: datetime


def view_run(run: Run, told: Told = NOTHING) -> RunView:
    """A run, with what is told of its beginning, where somebody has looked for that."""
    tick = run.tick
    planned_at = run.due_at if tick is None else tick.scheduled_for
    # How its last attempt ended is no longer news when the next one is under way.
    is_under_way = run.status in BEGUN
    trouble = None if run.unreadable is None else run.unreadable.message
    return RunView(
        id=run.id,
        job_id=run.job_id,
        job_schedule_id=None if tick is None else tick.schedule_id,
        status=run.status,
        reason=None if is_under_way else run.reason,
        scheduled_for=moment(run.scheduled_for),
        due_at=to_datetime(run.due_at),
        created_at=to_datetime(run.created_at),
        started_at=moment(run.started_at),
        finished_at=moment(run.finished_at),
        updated_at=to_datetime(_changed_at(run)),
        attempt=run.attempt,
        lost=run.lost,
        input_payload=run.payload,
        output_payload=run.output,
        error_message=trouble or (None if is_under_way else run.error),
        exit_code=None if is_under_way else run.exit_code,
        trigger=run.trigger,
        queue=run.queue,
        priority=run.priority,
        worker_id=run.worker_id,
        idempotency_key=key_of(run, told),
        user_id=told.user_id,
        duration=_seconds(run.started_at, run.finished_at),
        lag=_seconds(planned_at, run.started_at),
        root=run.root,
        role=run.role,
        item=run.item,
        unreadable=run.unreadable is not None,
    )


def key_of(run: Run, told: Told) -> str | None:
    """Its idempotency key. One that repeats another run was given the same, but not made for that key."""
    if run.tick is not None:
        return run.tick.key
    return told.idempotency_key if run.trigger == SCHEDULE_TRIGGER else None


def _changed_at(run: Run) -> Instant:
    return run.finished_at or run.started_at or run.created_at


def view_attempt(record: AttemptRecord) -> AttemptView:
    return AttemptView(
        run_id=record.run_id,
        attempt=record.number,
        status=record.status,
        reason=record.reason,
        worker_id=record.worker_id,
        started_at=to_datetime(record.started_at),
        finished_at=to_datetime(record.finished_at),
        duration=(record.finished_at - record.started_at) / SECOND,
        exit_code=record.exit_code,
        error_message=record.error,
    )


def view_tick(schedule_id: ScheduleId, seen: TickSight, run: Run | None = None) -> TickView:
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
        updated_at=to_datetime(decided_at if run is None else max(decided_at, _changed_at(run))),
        unreadable=error is not None,
    )


def view_job(job: Job, latest: Run | None = None) -> JobView:
    spec, shown = job.spec, job.spec.as_written
    return JobView(
        id=job.id,
        kind=spec.kind,
        name=spec.name,
        description=spec.description,
        enabled=spec.enabled,
        source=spec.source,
        category=spec.category,
        owner=spec.owner,
        tags=spec.tags,
        labels=spec.labels,
        spec=public_spec(shown.spec),
        payload_template=public_document(shown.payload_template),
        options=msgspec.to_builtins(spec.options),
        revision=job.revision,
        created_at=to_datetime(job.created_at),
        updated_at=to_datetime(job.updated_at),
        latest_run=None if latest is None else view_run(latest),
    )


def view_unreadable_job(error: RowUnreadable) -> JobView:
    """A job of which nothing is known but that it is there."""
    spec = JobSpec(kind="unreadable", description=error.message, enabled=False, source="")
    return view_job(
        Job(
            id=JobId(error.name),
            project=DEFAULT_PROJECT,
            spec=spec,
            revision=0,
            created_at=Instant(0),
            updated_at=Instant(0),
        )
    )


def view_ledger(ledger: Ledger, now: Instant) -> ScheduleView:
    """A schedule with the times at which it would fire next, were it not paused."""
    # A moment that fired early, by its jitter, is over although it is still to come.
    after = max(now, ledger.schedule.settled_until)
    return view_schedule(ledger.schedule, preview_of(Timetable(ledger.schedule.id, ledger.revisions), after))


def preview_of(timetable: Timetable, after: Instant) -> Sequence[Instant]:
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


def view_worker(state: WorkerState) -> WorkerView:
    return WorkerView(
        id=state.worker.id,
        name=state.worker.name,
        queues=state.worker.queues,
        slots=state.worker.slots,
        running=state.running,
        is_alive=state.is_alive,
        registered_at=to_datetime(state.registered_at),
        seen_at=to_datetime(state.seen_at),
    )


def as_json(view: msgspec.Struct) -> dict[str, Any]:
    """A view as plain JSON values: moments as ISO 8601 text, and *** for what sounds like a secret in what
    a run was given or gave back."""
    return _public(msgspec.to_builtins(view))


def _public(plain: dict[str, Any]) -> dict[str, Any]:
    shown = {name: public_document(value) if name in _DOCUMENTS else value for name, value in plain.items()}
    if isinstance(shown.get("latest_run"), dict):
        shown["latest_run"] = _public(shown["latest_run"])
    return shown


def moment(instant: Instant | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)


def _seconds(begin: Instant | None, end: Instant | None) -> float | None:
    return None if begin is None or end is None else (end - begin) / SECOND
