"""Rows about runs become what people see of them, whatever the database. One that cannot be read stops nobody."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct

from foliot.adapters.storage.shared.documents import check_overrides, decode, decode_limits, read_column, read_number
from foliot.adapters.storage.shared.row_types import Count, Moment, Tries, instant_of, sight, tick_in, written
from foliot.adapters.storage.shared.rows import Row
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.run.logs import LogChunk, Stream
from foliot.domain.run.run import AttemptRecord, Run, Status
from foliot.errors import RowUnreadable
from foliot.ports.queries import LogSummary

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


# -- Rows about what runs print, whatever the database.


class ChunkRow(Struct, array_like=True, frozen=True, gc=False):
    run_id: RunId
    token: Token
    seq: int
    at: Moment
    stream: Stream
    data: bytes


def chunks_of(rows: Iterable[Any]) -> list[LogChunk]:
    """A chunk that cannot be read says so. One that does not say where it belongs is left out: nobody could read on
    behind it."""
    return [_chunk(row) for row in rows if isinstance(row[1], int) and isinstance(row[2], int)]


def _chunk(row: Any) -> LogChunk:
    known, error = sight(ChunkRow, row, "log chunk", row[2])
    if error is not None:
        return LogChunk(known.run_id, known.token, known.seq, Instant(known.at), "meta", f"{error.message}\n".encode())
    return LogChunk(known.run_id, known.token, known.seq, Instant(known.at), known.stream, known.data)


def summary_of(starts: Sequence[Any], first: Sequence[Any], last: Sequence[Any], token: Token | None) -> LogSummary:
    """Of rows: the starts, the first chunk from the start `token` on, and the last chunk."""
    begins = [chunk for chunk in chunks_of(first) if chunk.token == token]
    ends = chunks_of(last)
    tokens = [Token(row[0]) for row in starts if isinstance(row[0], int)]
    return LogSummary(tokens, begins[0] if begins else None, ends[0] if ends else None)


def kept_from(moment: object) -> Instant | None:
    """Since when all logs are kept, as it stands in the database."""
    return None if moment is None else Instant(read_number(moment, "setting", "logs_kept_from"))
