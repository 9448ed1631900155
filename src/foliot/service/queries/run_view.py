"""A run and its attempts, as people and programs see them."""

from datetime import datetime
from typing import Any

import msgspec

from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.domain.run.run import BEGUN, AttemptRecord, Run, Status
from foliot.domain.schedule.tick_run import SCHEDULE_TRIGGER
from foliot.domain.workflow.start import NO_START_INPUT, StartInput
from foliot.service.queries.documents import moment, seconds


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
    parent_id: str | None
    """The tree that the run is a child of: the execution of a step."""
    root_id: str | None
    """The outermost tree."""
    child_key: str | None
    """What it is to its parent: the name of a step."""
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


def view_run(run: Run, start_input: StartInput = NO_START_INPUT) -> RunView:
    """A run, with what was given when it was started, where that was read."""
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
        updated_at=to_datetime(changed_at(run)),
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
        idempotency_key=key_of(run, start_input),
        user_id=start_input.user_id,
        duration=seconds(run.started_at, run.finished_at),
        lag=seconds(planned_at, run.started_at),
        parent_id=run.parent_id,
        root_id=run.root_id,
        child_key=run.child_key,
        unreadable=run.unreadable is not None,
    )


def key_of(run: Run, start_input: StartInput) -> str | None:
    """Its idempotency key. One that repeats another run was given the same, but not made for that key."""
    if run.tick is not None:
        return run.tick.key
    return start_input.idempotency_key if run.trigger == SCHEDULE_TRIGGER else None


def changed_at(run: Run) -> Instant:
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
