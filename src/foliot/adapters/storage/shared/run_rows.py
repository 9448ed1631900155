"""Decodes rows of runs, attempts and logs for display. A row that cannot be read is shown with an error."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct

from foliot.adapters.storage.shared.documents import check_overrides, decode, decode_limits, read_column, read_number
from foliot.adapters.storage.shared.row_types import Count, Moment, Tries, as_text, instant_of, salvage_row, tick_in
from foliot.adapters.storage.shared.rows import Row
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.run.lane import split_lane
from foliot.domain.run.logs import LogChunk, Stream
from foliot.domain.run.progress import SavedProgress
from foliot.domain.run.run import AttemptRecord, Run, Status
from foliot.errors import RowUnreadable
from foliot.ports.pages import LogSummary

T = TypeVar("T")

UNREADABLE_ATTEMPT: Final = "unreadable"


class RunRow(Struct, array_like=True, frozen=True, gc=False):
    """`status` is the displayed one; `overrides` and `limits` are only checked."""

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
    progress: float | None
    progress_text: str | None
    progress_at: Moment | None


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
    """Decode the columns of `RunRow`."""
    known, error = salvage_row(RunRow, row, "run", row[0])
    reading = _ColumnReader(known.id, error)
    tick = reading.read(tick_in, known)
    payload, output = reading.read(decode, known.payload), reading.read(decode, known.output)
    reading.read(check_overrides, known.overrides)
    reading.read(decode_limits, known.limits)
    queue, needs = split_lane(known.queue)
    return Run(
        known.id,
        project,
        known.job_id,
        _status(known),
        known.reason,
        queue,
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
        _progress(known),
        needs=needs,
    )


def _progress(row: RunRow) -> SavedProgress | None:
    if row.progress is None or row.progress_at is None:
        return None
    return SavedProgress(row.progress, row.progress_text, Instant(row.progress_at))


class _ColumnReader:
    """Decodes the remaining columns of a row, and keeps the first error."""

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
    """Return the status. If it cannot be read, `finished_at` decides between failed and scheduled."""
    if isinstance(row.status, Status):
        return row.status
    return Status.SCHEDULED if row.finished_at is None else Status.FAILED


def attempt_of(row: Row) -> AttemptRecord:
    """Decode the columns of `AttemptRow`."""
    known, error = salvage_row(AttemptRow, row, "attempt", f"{as_text(row[1])} of {as_text(row[0])}")
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


# -- logs


class ChunkRow(Struct, array_like=True, frozen=True, gc=False):
    run_id: RunId
    token: Token
    seq: int
    at: Moment
    stream: Stream
    data: bytes


def chunks_of(rows: Iterable[Any]) -> list[LogChunk]:
    """Decode log chunks. A chunk that cannot be read contains the error instead.

    A chunk without a valid position is omitted: reading could not continue after it.
    """
    return [_chunk(row) for row in rows if isinstance(row[1], int) and isinstance(row[2], int)]


def _chunk(row: Any) -> LogChunk:
    known, error = salvage_row(ChunkRow, row, "log chunk", row[2])
    if error is not None:
        return LogChunk(known.run_id, known.token, known.seq, Instant(known.at), "meta", f"{error.message}\n".encode())
    return LogChunk(known.run_id, known.token, known.seq, Instant(known.at), known.stream, known.data)


def summary_of(starts: Sequence[Any], first: Sequence[Any], last: Sequence[Any], token: Token | None) -> LogSummary:
    """Build the summary from the tokens of the attempts, the first chunk of attempt `token`, and the last chunk."""
    begins = [chunk for chunk in chunks_of(first) if chunk.token == token]
    ends = chunks_of(last)
    tokens = [Token(row[0]) for row in starts if isinstance(row[0], int)]
    return LogSummary(tokens, begins[0] if begins else None, ends[0] if ends else None)


def kept_from(moment: object) -> Instant | None:
    """Return the moment since which all logs are kept, as stored."""
    return None if moment is None else Instant(read_number(moment, "setting", "logs_kept_from"))
