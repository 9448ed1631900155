"""The view of a run in lists that show many: without its payload and its output."""

from datetime import datetime

import msgspec

from foliot.domain.instant import to_datetime
from foliot.domain.run.run import BEGUN, Run, Status
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.service.queries.documents import moment, seconds
from foliot.service.queries.run_view import ProgressView, view_progress


class RunBrief(msgspec.Struct, frozen=True, kw_only=True):
    """A run, without its payload and its output. The fields mean the same as in `RunView`."""

    id: str
    job_id: str
    job_schedule_id: str | None
    kind: RunKind
    status: Status
    reason: str | None
    trigger: str
    scheduled_for: datetime | None
    due_at: datetime
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    duration: float | None
    lag: float | None
    attempt: int
    exit_code: int | None
    error_message: str | None
    """At most the first 500 characters."""
    worker_id: str | None
    parent_id: str | None
    progress: ProgressView | None = None
    unreadable: bool = False


def view_brief(run: Run) -> RunBrief:
    tick = run.tick
    is_running = run.status in BEGUN
    problem = None if run.unreadable is None else run.unreadable.message
    return RunBrief(
        id=run.id,
        job_id=run.job_id,
        job_schedule_id=None if tick is None else tick.schedule_id,
        kind=kind_of(run),
        status=run.status,
        reason=None if is_running else run.reason,
        trigger=run.trigger,
        scheduled_for=moment(run.scheduled_for),
        due_at=to_datetime(run.due_at),
        created_at=to_datetime(run.created_at),
        started_at=moment(run.started_at),
        finished_at=moment(run.finished_at),
        duration=seconds(run.started_at, run.finished_at),
        lag=seconds(run.due_at if tick is None else tick.scheduled_for, run.started_at),
        attempt=run.attempt,
        exit_code=None if is_running else run.exit_code,
        error_message=problem or (None if is_running else run.error),
        worker_id=run.worker_id,
        parent_id=run.parent_id,
        progress=None if run.progress is None else view_progress(run.progress),
        unreadable=run.unreadable is not None,
    )
