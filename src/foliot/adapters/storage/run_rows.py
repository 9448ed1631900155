"""Rows about runs become what people see of them, whatever the database. One that cannot be read stops nobody."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from msgspec import Struct

from foliot.adapters.storage.documents import check_overrides, decode, decode_limits, read_column
from foliot.adapters.storage.rows import Row
from foliot.adapters.storage.shapes import Count, Moment, Tries, instant_of, sight, tick_in, written
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.run.run import AttemptRecord, Run, Status
from foliot.errors import RowUnreadable

T = TypeVar("T")

UNREADABLE_ATTEMPT: Final = "unreadable"


class RunRow(Struct, array_like=True, frozen=True, gc=False):
    """`status` as people see it; the last two are only checked."""

    id: RunId
    job_id: JobId
    status: Status
    reason: str | None
    queue: str
    priority: int
    trigger: str
    schedule_uid: ScheduleUid | None
    schedule_id: ScheduleId | None
    scheduled_for: Moment | None
    tick_key: str | None
    payload: Any
    output: Any
    due_at: Moment
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    attempt: Tries
    lost: Tries
    exit_code: int | None
    error: str | None
    worker_id: WorkerId | None
    token: Token | None
    parent_id: RunId | None
    root_id: RunId | None
    child_key: str | None
    overrides: Any
    limits: Any


class AttemptRow(Struct, array_like=True, frozen=True, gc=False):
    run_id: RunId
    number: Count
    token: Token
    worker_id: WorkerId
    started_at: Moment
    finished_at: Moment
    status: str
    reason: str | None
    exit_code: int | None
    error: str | None


def run_of(project: str, row: Row) -> Run:
    """The columns of `RunRow`."""
    known, error = sight(RunRow, row, "run", row[0])
    reading = _Reading(known.id, error)
    tick = reading.read(tick_in, known)
    payload, output = reading.read(decode, known.payload), reading.read(decode, known.output)
    reading.read(check_overrides, known.overrides)
    reading.read(decode_limits, known.limits)
    return Run(
        known.id,
        project,
        known.job_id,
        _status(known),
        known.reason,
        known.queue,
        known.priority,
        known.trigger,
        tick,
        payload,
        output,
        Instant(known.due_at),
        Instant(known.created_at),
        instant_of(known.started_at),
        instant_of(known.finished_at),
        known.attempt,
        known.lost,
        known.exit_code,
        known.error,
        known.worker_id,
        known.token,
        known.parent_id,
        known.root_id,
        known.child_key,
        instant_of(known.scheduled_for),
        reading.error,
    )


class _Reading:
    """Reads what is left of a row, and keeps the first thing that is wrong."""

    def __init__(self, run_id: RunId, error: RowUnreadable | None) -> None:
        self._run_id = run_id
        self.error = error

    def read(self, read: Callable[[Any], T], column: Any) -> T | None:
        try:
            return read_column(read, column, "run", self._run_id)
        except RowUnreadable as error:
            self.error = self.error or error
            return None


def _status(row: RunRow) -> Status:
    """Of one that says none of ours: whether it is over is told by its end."""
    if isinstance(row.status, Status):
        return row.status
    return Status.SCHEDULED if row.finished_at is None else Status.FAILED


def attempt_of(row: Row) -> AttemptRecord:
    """The columns of `AttemptRow`."""
    known, error = sight(AttemptRow, row, "attempt", f"{written(row[1])} of {written(row[0])}")
    record = AttemptRecord(
        known.run_id,
        known.number,
        known.token,
        known.worker_id,
        Instant(known.started_at),
        Instant(known.finished_at),
        known.status,
        known.reason,
        known.exit_code,
        known.error,
    )
    return record if error is None else record._replace(status=UNREADABLE_ATTEMPT, reason=None, error=error.message)
