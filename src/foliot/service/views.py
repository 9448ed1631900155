"""What people and programs see: the same names in Python, on the command line and over HTTP.

Moments are aware datetimes in UTC, spans are seconds, statuses and reasons are words. Nothing in a view is internal:
no token, no revision of a lease, no uid.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.domain.job import Job
from foliot.domain.lease import WorkerState
from foliot.domain.run import AttemptRecord, Run, Status
from foliot.domain.tick import TickOutcome, TickReason, TickRecord


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """A run."""

    id: str
    job_id: str
    job_schedule_id: str | None
    """The schedule that made it; None for one that somebody asked for."""
    status: Status
    reason: str | None
    scheduled_for: datetime | None
    """The planned moment it was made for. None without a schedule."""
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
    duration: float | None
    """Seconds of the latest attempt, from start to end. None while it lasts."""
    lag: float | None
    """Seconds from the moment it was planned or due for to its start."""


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

    scheduled_for: datetime
    until: datetime
    """The last of a row of moments; the same as `scheduled_for` for a single one."""
    count: int
    outcome: TickOutcome
    reason: TickReason
    fire_at: datetime
    """When it fired or would have: jitter included."""
    run_id: str | None
    coalesced_into: datetime | None
    """The moment whose run stands for this one as well."""


class JobView(msgspec.Struct, frozen=True, kw_only=True):
    """A job with its latest run. `spec` and `options` hold what its definition says beside the defaults."""

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


def view_run(run: Run) -> RunView:
    tick = run.tick
    planned_at = run.due_at if tick is None else tick.scheduled_for
    return RunView(
        id=run.id,
        job_id=run.job_id,
        job_schedule_id=None if tick is None else tick.schedule_id,
        status=run.status,
        reason=run.reason,
        scheduled_for=None if tick is None else to_datetime(tick.scheduled_for),
        due_at=to_datetime(run.due_at),
        created_at=to_datetime(run.created_at),
        started_at=moment(run.started_at),
        finished_at=moment(run.finished_at),
        updated_at=to_datetime(run.finished_at or run.started_at or run.created_at),
        attempt=run.attempt,
        lost=run.lost,
        input_payload=run.payload,
        output_payload=run.output,
        error_message=run.error,
        exit_code=run.exit_code,
        trigger=run.trigger,
        queue=run.queue,
        priority=run.priority,
        worker_id=run.worker_id,
        idempotency_key=None if tick is None else tick.key,
        duration=_seconds(run.started_at, run.finished_at),
        lag=_seconds(planned_at, run.started_at),
    )


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


def view_tick(tick: TickRecord) -> TickView:
    return TickView(
        scheduled_for=to_datetime(tick.scheduled_for),
        until=to_datetime(tick.until),
        count=tick.count,
        outcome=tick.outcome,
        reason=tick.reason,
        fire_at=to_datetime(tick.fire_at),
        run_id=tick.run_id,
        coalesced_into=moment(tick.into),
    )


def view_job(job: Job, latest: Run | None = None) -> JobView:
    spec = job.spec
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
        spec=spec.spec,
        payload_template=spec.payload_template,
        options=msgspec.to_builtins(spec.options),
        revision=job.revision,
        created_at=to_datetime(job.created_at),
        updated_at=to_datetime(job.updated_at),
        latest_run=None if latest is None else view_run(latest),
    )


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
    """A view as plain JSON values: moments as ISO 8601 text."""
    plain: dict[str, Any] = msgspec.to_builtins(view)
    return plain


def moment(instant: Instant | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)


def _seconds(begin: Instant | None, end: Instant | None) -> float | None:
    return None if begin is None or end is None else (end - begin) / SECOND
