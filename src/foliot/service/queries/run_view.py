"""Views of a run and its attempts."""

from base64 import b64encode
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from foliot.domain.fanout.item import item_bytes
from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.domain.run.progress import SavedProgress
from foliot.domain.run.report import LaunchRecord
from foliot.domain.run.run import BEGUN, AttemptRecord, Run, Status
from foliot.domain.schedule.tick_run import SCHEDULE_TRIGGER
from foliot.domain.secrets import public_document
from foliot.domain.tree.run_kind import FanoutRole, RunKind, kind_of, role_of
from foliot.domain.workflow.start import NO_START_INPUT, StartInput
from foliot.service.queries.documents import moment, seconds


class ProgressView(msgspec.Struct, frozen=True, kw_only=True):
    """What a running attempt has reported."""

    fraction: float
    """From 0 to 1."""
    text: str | None
    at: datetime
    """When it was saved."""


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """A run, as it was when it was read."""

    id: str
    """The id of the run."""
    job_id: str
    """The id of its job, or of its workflow."""
    job_schedule_id: str | None
    """The schedule that created it, or None."""
    status: Status
    """Its status: scheduled, queued, running, cancelling, success, partial, failed, timeout, cancelled or skipped."""
    reason: str | None
    """Why it ended as it did, or None."""
    scheduled_for: datetime | None
    """The planned time: that of its tick, or `run_at`. None if it was not planned."""
    due_at: datetime
    """The earliest start; a retry moves it."""
    created_at: datetime
    """When it was created."""
    started_at: datetime | None
    """When its latest attempt began."""
    finished_at: datetime | None
    """When it ended, or None."""
    updated_at: datetime
    """When it was created, started or ended, whichever is latest."""
    attempt: int
    """The number of attempts so far."""
    lost: int
    """The number of attempts that ended because their worker was lost."""
    input_payload: Any
    """The payload it was created with."""
    output_payload: Any
    """What the function returned, or the parsed output of a command or request with `output`."""
    error_message: str | None
    """Why its latest attempt failed, or None."""
    exit_code: int | None
    """The exit code of its latest attempt, or None."""
    trigger: str
    """What created it: schedule, api, cli, workflow, fanout, reducer, or the retry or mark of another run."""
    queue: str
    """The queue that workers claim it from."""
    priority: int
    """Its priority; higher starts earlier."""
    worker_id: str | None
    """The worker of its latest attempt, or None."""
    idempotency_key: str | None
    """The key of its tick, or the key given to the launcher. Lists contain only the former."""
    user_id: str | None
    """The user for whom a schedule or a launcher started it. Always None in lists."""
    duration: float | None
    """Seconds of the latest attempt, from start to end. None while it runs."""
    lag: float | None
    """Seconds from the planned or due time to the start. None before the start."""
    parent_id: str | None
    """The run that started it: the execution of a step, or the fanout of an item."""
    root_id: str | None
    """The outermost of the runs that started it."""
    child_key: str | None
    """Its name within its parent: the name of the step, or the number of the item."""
    kind: RunKind
    """Whether it is a run of a job alone, an execution of a workflow, a fanout, or a part of one of them."""
    role: FanoutRole | None = None
    """What it is in a fanout: its parent, a child or the reducer. None: it belongs to no fanout."""
    item: str | None = None
    """The item of a child of a fanout, as its process gets it. None if it is not text: see `item_base64`."""
    item_base64: str | None = None
    """An item that is not text, as Base64. None: it is text, or the run has no item."""
    item_index: int | None = None
    """The position of the item in its fanout, from 0."""
    progress: ProgressView | None = None
    """The latest report of the attempt that runs. None: the job reports nothing, or no attempt runs."""
    executor_run_id: str | None = None
    """The id of the run in the executor of the application, if its launcher returned one. Always None in lists."""
    executor_started_at: datetime | None = None
    """When the executor reported the start. Always None in lists."""
    unreadable: bool = False
    """Its row was not written by Foliot: `error_message` has the problem, and the other fields what could be read."""


class AttemptView(msgspec.Struct, frozen=True, kw_only=True):
    """A finished attempt of a run."""

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


class ItemText(NamedTuple):
    """An item as it is shown: as text, or in base64 if it is not UTF-8."""

    text: str | None
    base64: str | None = None


NO_ITEM: Final = ItemText(None)


def view_item(document: Any) -> ItemText:
    """Return an item, given as a decoded document of `domain.fanout.item`, with *** for possible secrets in JSON."""
    shown = document if isinstance(document, str) else public_document(document)
    data = item_bytes(msgspec.json.encode(shown))
    try:
        return ItemText(data.decode())
    except UnicodeDecodeError:
        return ItemText(None, b64encode(data).decode())


def view_run(run: Run, start_input: StartInput = NO_START_INPUT, launch: LaunchRecord | None = None) -> RunView:
    """Build the view of a run. `start_input` contains the values it was started with, and `launch` what an executor
    has reported, if they were read."""
    tick = run.tick
    planned_at = run.due_at if tick is None else tick.scheduled_for
    # While an attempt runs, the end of the one before is not shown.
    is_running = run.status in BEGUN
    kind = kind_of(run)
    item = view_item(run.payload) if kind is RunKind.ITEM else NO_ITEM
    problem = None if run.unreadable is None else run.unreadable.message
    return RunView(
        id=run.id,
        job_id=run.job_id,
        job_schedule_id=None if tick is None else tick.schedule_id,
        status=run.status,
        reason=None if is_running else run.reason,
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
        error_message=problem or (None if is_running else run.error),
        exit_code=None if is_running else run.exit_code,
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
        kind=kind,
        role=role_of(run),
        item=item.text,
        item_base64=item.base64,
        item_index=int(run.child_key or 0) if kind is RunKind.ITEM else None,
        progress=None if run.progress is None else view_progress(run.progress),
        executor_run_id=None if launch is None else launch.executor_run_id,
        executor_started_at=None if launch is None else moment(launch.started_at),
        unreadable=run.unreadable is not None,
    )


def view_progress(progress: SavedProgress) -> ProgressView:
    return ProgressView(fraction=progress.fraction, text=progress.text, at=to_datetime(progress.at))


def key_of(run: Run, start_input: StartInput) -> str | None:
    """Return the idempotency key of a run. A repeated run has the key of the first one, but was not started for it."""
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
