"""Decodes rows into values. Queries of all databases select the columns in the order of these structs."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

from msgspec import MsgspecError, Struct, json
from msgspec.structs import replace

from foliot.adapters.storage.shared.definition_cache import Reference
from foliot.adapters.storage.shared.documents import (
    decode,
    decode_job_spec,
    decode_schedule_spec,
    limit_keys,
    read_column,
)
from foliot.adapters.storage.shared.finish_plan import end_unreadable
from foliot.adapters.storage.shared.row_types import Count, Moment, as_text, instant_of, read_row, salvage_row
from foliot.domain.events import Event, EventKind
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.job.definition import job_definition_id
from foliot.domain.job.job import Job
from foliot.domain.run.lease import Claim, Finish, Order, Worker, WorkerFacts, WorkerState
from foliot.domain.run.run import Tick
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.schedule import Pause, Revision, Schedule, ScheduleSpec, ScheduleType
from foliot.domain.schedule.tick import PlannedTick, TickOutcome, TickReason, TickRecord
from foliot.errors import RowUnreadable
from foliot.ports.ticks import LedgerRow, ScheduleLedger

Row = Sequence[Any]
T = TypeVar("T")

_ATTEMPT: Final = 5
_FACTS: Final = json.Decoder(WorkerFacts)
_NO_RULE: Final = ScheduleSpec(type=ScheduleType.MANUAL, source="")
"""Replaces a rule that cannot be read."""


def read_rows(make: Callable[[Row], T], rows: Sequence[Row]) -> tuple[list[T], list[RowUnreadable]]:
    """Decode rows. Returns the values, and the errors of rows that cannot be read. Fast if every row can be read."""
    try:
        return [make(row) for row in rows], []
    except RowUnreadable:
        pass
    read: list[T] = []
    errors: list[RowUnreadable] = []
    for row in rows:
        try:
            read.append(make(row))
        except RowUnreadable as error:
            errors.append(error)
    return read, errors


class JobRow(Struct, array_like=True, frozen=True, gc=False):
    id: JobId
    spec: Any
    revision: int
    created_at: Moment
    updated_at: Moment
    leads: str = ""
    paused_at: Moment | None = None
    stopped_at: Moment | None = None


def job_of(project: str, row: Row) -> Job:
    """Decode the columns of `JobRow`."""
    known = read_row(JobRow, row, "job", row[0])
    return Job(
        id=known.id,
        project=project,
        spec=read_column(decode_job_spec, known.spec, "job", known.id),
        revision=known.revision,
        created_at=Instant(known.created_at),
        updated_at=Instant(known.updated_at),
        leads=known.leads,
        paused_at=instant_of(known.paused_at),
        stopped_at=instant_of(known.stopped_at),
    )


class ScheduleRow(Struct, array_like=True, frozen=True, gc=False):
    uid: ScheduleUid
    id: ScheduleId
    version: int
    revision: int
    opened_at: Moment
    spec: Any
    enabled: bool | int
    paused_at: Moment | None
    created_at: Moment
    updated_at: Moment
    settled_until: Moment
    next_run_at: Moment | None
    wake_at: int | None
    last_scheduled_at: Moment | None
    behind_since: Moment | None
    ledger_from: Moment | None


def schedule_of(project: str, row: Row) -> Schedule:
    """Decode the columns of `ScheduleRow`."""
    known = read_row(ScheduleRow, row, "schedule", row[1])
    spec = read_column(decode_schedule_spec, known.spec, "schedule", known.id)
    return _schedule(project, known, Revision(known.revision, Instant(known.opened_at), spec))


def _schedule(project: str, row: ScheduleRow, revision: Revision) -> Schedule:
    return Schedule(
        row.uid,
        row.id,
        project,
        row.version,
        revision,
        bool(row.enabled),
        instant_of(row.paused_at),
        Instant(row.created_at),
        Instant(row.updated_at),
        Instant(row.settled_until),
        instant_of(row.next_run_at),
        instant_of(row.wake_at),
        instant_of(row.last_scheduled_at),
        instant_of(row.behind_since),
        instant_of(row.ledger_from),
    )


class StoredSchedules(NamedTuple):
    """Schedules, and the uids of those that were repaired because their own row cannot be read."""

    schedules: Sequence[Schedule]
    repaired: Collection[ScheduleUid] = ()
    errors: Mapping[ScheduleUid, RowUnreadable] = {}
    """The schedules whose rule cannot be read anywhere, or whose row is invalid in another column. They can be shown,
    deleted and replaced."""

    @property
    def unrepairable(self) -> list[Schedule]:
        return [one for one in self.schedules if one.uid in self.errors]

    @property
    def checked(self) -> Sequence[Schedule]:
        """All schedules. Raises if one of them could not be repaired, for callers that use their rules."""
        for error in self.errors.values():
            raise error
        return self.schedules

    @property
    def shown(self) -> list[Schedule]:
        """All schedules, for display."""
        return [replace(one, is_unreadable=True) if one.uid in self.repaired else one for one in self.schedules]


def repair_schedules(project: str, rows: Iterable[Row], revisions: Mapping[Any, Sequence[Row]]) -> StoredSchedules:
    """Decode schedules. An unreadable rule is replaced by the copy in the current revision, one of `revisions`."""
    schedules: list[Schedule] = []
    repaired: list[ScheduleUid] = []
    errors: dict[ScheduleUid, RowUnreadable] = {}
    for row in rows:
        try:
            schedules.append(schedule_of(project, row))
        except RowUnreadable as error:
            known, beside = salvage_row(ScheduleRow, row, "schedule", row[1])
            copied = read_rows(revision_of, [one for one in revisions.get(row[0], ()) if one[0] == known.revision])[0]
            repaired.append(known.uid)
            if beside is not None or not copied:
                errors[known.uid] = error.place_in(known.uid, known.id)
            nothing = Revision(known.revision, Instant(known.opened_at), _NO_RULE)
            schedules.append(_schedule(project, known, copied[0] if copied else nothing))
    return StoredSchedules(schedules, repaired, errors)


class RevisionRow(Struct, array_like=True, frozen=True, gc=False):
    number: int
    opened_at: Moment
    spec: Any


def revision_of(row: Row) -> Revision:
    """Decode the columns of `RevisionRow`."""
    known = read_row(RevisionRow, row, "revision", row[0])
    spec = read_column(decode_schedule_spec, known.spec, "revision", known.number)
    return Revision(known.number, Instant(known.opened_at), spec)


def ledger_of(
    project: str,
    row: Row,
    deleted_at: Instant | None,
    revisions: Iterable[Row],
    pauses: Iterable[Row],
    planned: Iterable[Row],
    boots: Iterable[Row],
    project_pauses: Iterable[ProjectPause],
) -> ScheduleLedger:
    """Decode the row of a schedule, and its revisions, pauses, planned ticks and boots."""
    try:
        schedule = schedule_of(project, row)
        read_revisions = [revision_of(one) for one in revisions]
        read_pauses, read_planned = [pause_of(one) for one in pauses], [planned_of(one) for one in planned]
        read_boots = [Instant(read_row(BootRow, one, "boot", row[1]).at) for one in boots]
    except RowUnreadable as error:
        raise error.place_in(as_text(row[0]), as_text(row[1])) from error.__cause__
    of_project = [pause.pause_of(schedule.uid) for pause in project_pauses]
    return ScheduleLedger(schedule, deleted_at, read_revisions, read_pauses, read_planned, read_boots, of_project)


class BootRow(Struct, array_like=True, frozen=True, gc=False):
    at: Moment


class PauseRow(Struct, array_like=True, frozen=True, gc=False):
    since: Moment
    until: Moment | None


def pause_of(row: Row) -> Pause:
    """Decode the columns of `PauseRow`."""
    known = read_row(PauseRow, row, "pause", row[0])
    return Pause(Instant(known.since), instant_of(known.until))


class PlannedRow(Struct, array_like=True, frozen=True, gc=False):
    scheduled_for: Moment
    fire_at: Moment
    revision: int


def planned_of(row: Row) -> PlannedTick:
    """Decode the columns of `PlannedRow`."""
    known = read_row(PlannedRow, row, "planned tick", row[0])
    return PlannedTick(Instant(known.scheduled_for), Instant(known.fire_at), known.revision)


class TickRow(Struct, array_like=True, frozen=True, gc=False):
    scheduled_for: Moment
    until: Moment
    count: Count
    outcome: TickOutcome
    reason: TickReason
    fire_at: Moment
    revision: int
    run_id: RunId | None
    into_tick: Moment | None


def tick_of(row: Row) -> TickRecord:
    """Decode the columns of `TickRow`."""
    return _tick(read_row(TickRow, row, "tick", row[0]))


class LedgerTickRow(TickRow, array_like=True, frozen=True, gc=False):
    key: str | None
    decided_at: Moment


def ledger_row_of(row: Row) -> LedgerRow:
    """Decode the columns of `LedgerTickRow`, for display."""
    known, error = salvage_row(LedgerTickRow, row, "tick", row[0])
    record = _tick(known)
    if error is not None:
        # An enum that cannot be read is 0 here: it has no placeholder.
        outcome, reason = record.outcome or TickOutcome.FAILED, record.reason or TickReason.LAUNCH_FAILED
        record = record._replace(outcome=outcome, reason=reason)
    return LedgerRow(record, known.key, Instant(known.decided_at), error)


def _tick(row: TickRow) -> TickRecord:
    return TickRecord(
        Instant(row.scheduled_for),
        Instant(row.until),
        row.count,
        row.outcome,
        row.reason,
        Instant(row.fire_at),
        row.revision,
        row.run_id,
        instant_of(row.into_tick),
    )


class WorkerRow(Struct, array_like=True, frozen=True, gc=False):
    id: WorkerId
    name: str
    queues: Any
    slots: Count
    registered_at: Moment
    seen_at: Moment
    is_alive: bool | int | None
    running: Count
    is_draining: bool | int | None
    facts: Any
    orders: Any


def worker_of(row: Row, queues: Sequence[str]) -> WorkerState:
    """Decode the columns of `WorkerRow` for display. `queues` are decoded by the caller."""
    known, error = salvage_row(WorkerRow, row, "worker", row[0])
    name = known.name if error is None else "unreadable"
    worker = Worker(known.id, name, tuple(queues), known.slots, facts=facts_of(known.facts))
    return WorkerState(
        worker,
        Instant(known.registered_at),
        Instant(known.seen_at),
        bool(known.is_alive),
        known.running,
        bool(known.is_draining),
        Order(known.orders) if known.orders in set(Order) else Order.NONE,
    )


@lru_cache(maxsize=1_024)
def facts_of(column: str) -> WorkerFacts:
    """Decode the facts of a worker. If they cannot be read, it is a local one without labels."""
    try:
        return _FACTS.decode(column)
    except (MsgspecError, TypeError):
        return WorkerFacts()


def encode_facts(facts: WorkerFacts) -> str:
    return json.encode(facts).decode()


def claim_of(row: Row) -> Claim:
    """Decode run_id, token, worker_id, job_id, revision of the job, attempt, lost, queue, priority, due_at, started_at,
    payload, overrides, limits, schedule_uid, schedule_id, scheduled_for, tick_key, parent_id, child_key, definition_id.

    Payload and overrides are bytes. The attempt is 0 if a counter in the row is out of range.
    """
    limits, uid, schedule_id, moment, key, parent_id, child_key, definition_id = row[13:21]
    if not row[_ATTEMPT]:
        raise attempts_out_of_range(row[0])
    named = definition_id or job_definition_id(row[3], row[4])
    if limits is None and uid is None:
        return Claim(*(*row[:4], named, *row[5:13], (), None, parent_id, child_key, moment))
    tick = None if uid is None else Tick(uid, schedule_id, Instant(moment), key)
    keys = () if limits is None else read_column(limit_keys, limits, "run", row[0])
    return Claim(*(*row[:4], named, *row[5:13], keys, tick, parent_id, child_key, moment))


def references_in(rows: Iterable[Row]) -> list[Reference]:
    """Return which definitions the rows of claims refer to."""
    return [Reference(row[3], row[4], row[20]) for row in rows]


def attempts_out_of_range(run_id: RunId) -> RowUnreadable:
    """Return the error of a run whose counters are out of range, found when it was claimed."""
    return RowUnreadable("run", run_id, ValueError("its number of attempts or lost attempts is out of range"))


def read_claims(rows: Sequence[Row]) -> tuple[list[Claim], list[Finish]]:
    """Decode claims. Returns the granted claims, and a finish for each run whose row cannot be read."""
    claims, errors = read_rows(claim_of, rows)
    if not errors:
        return claims, []
    leases = {row[0]: row for row in rows}
    return claims, [_end(leases[error.name], error) for error in errors]


def _end(row: Row, error: RowUnreadable) -> Finish:
    run_id, token, worker_id, *_ = row
    return end_unreadable(run_id, worker_id, token, error)


def event_of(row: Row) -> Event:
    """seq, at, kind, items"""
    seq, at, kind, items = row
    return Event(seq, at, read_column(EventKind, kind, "event", seq), read_column(decode, items, "event", seq))
