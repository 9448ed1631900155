"""Rows become values. Queries select the columns in the order given here, whatever the database."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from msgspec.structs import replace

from foliot.adapters.storage.documents import (
    decode,
    decode_job_spec,
    decode_schedule_spec,
    encode_limits,
    limit_keys,
    read_column,
)
from foliot.adapters.storage.verdicts import end_unreadable
from foliot.domain.events import Event, EventKind
from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.job import Job
from foliot.domain.lease import Claim, Finish
from foliot.domain.limits import Limit
from foliot.domain.run import AttemptRecord, Run, Status, Tick
from foliot.domain.schedule import Pause, Revision, Schedule, ScheduleSpec, ScheduleType
from foliot.domain.tick import PlannedTick, TickOutcome, TickReason, TickRecord
from foliot.errors import RowUnreadable
from foliot.ports.schedules import Ledger

Row = Sequence[Any]
T = TypeVar("T")

_STATUS: Final = {status.value: status for status in Status}
SOME_LIMIT: Final = encode_limits([Limit("?", 1)])
"""Stands for limits that cannot be read: their run may hold places, and is to give them back."""
_NO_RULE: Final = ScheduleSpec(type=ScheduleType.MANUAL, source="")
"""Stands for a rule that cannot be read."""


def sort_out(make: Callable[[Row], T], rows: Sequence[Row]) -> tuple[list[T], list[RowUnreadable]]:
    """What the rows say, and what is wrong with those that cannot be read. Nobody pays for these but where some are."""
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


def job_of(project: str, row: Row) -> Job:
    """id, spec, revision, created_at, updated_at"""
    job_id, spec, revision, created_at, updated_at = row
    return Job(
        id=JobId(job_id),
        project=project,
        spec=read_column(decode_job_spec, spec, "job", job_id),
        revision=revision,
        created_at=created_at,
        updated_at=updated_at,
    )


def schedule_of(project: str, row: Row) -> Schedule:
    """uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until,
    next_run_at, wake_at, last_scheduled_at, behind_since, ledger_from"""
    _, schedule_id, _, number, opened_at, spec, *_ = row
    spec = read_column(decode_schedule_spec, spec, "schedule", schedule_id)
    return _schedule(project, row, Revision(number, opened_at, spec))


def _schedule(project: str, row: Row, revision: Revision) -> Schedule:
    uid, schedule_id, version, _, _, _, enabled, *rest = row
    return Schedule(uid, ScheduleId(schedule_id), project, version, revision, bool(enabled), *rest)


class StoredSchedules(NamedTuple):
    """Schedules, and the uids of those whose own row cannot be read."""

    schedules: Sequence[Schedule]
    mended: Collection[ScheduleUid] = ()
    errors: Mapping[ScheduleUid, RowUnreadable] = {}
    """Of those whose rule is nowhere to be read. They can be shown and deleted, and another may take their place."""

    @property
    def lost(self) -> list[Schedule]:
        return [one for one in self.schedules if one.uid in self.errors]

    @property
    def sure(self) -> Sequence[Schedule]:
        """For whoever goes by what they say."""
        for error in self.errors.values():
            raise error
        return self.schedules

    @property
    def shown(self) -> list[Schedule]:
        """As people see them."""
        return [replace(one, is_unreadable=True) if one.uid in self.mended else one for one in self.schedules]


def mended_schedules(project: str, rows: Iterable[Row], revisions: Mapping[Any, Sequence[Row]]) -> StoredSchedules:
    """A row that cannot be read says what it was copied from: its current revision, one of the rows given for it."""
    schedules: list[Schedule] = []
    mended: list[ScheduleUid] = []
    errors: dict[ScheduleUid, RowUnreadable] = {}
    for row in rows:
        try:
            schedules.append(schedule_of(project, row))
        except RowUnreadable as error:
            uid, number = row[0], row[3]
            copied = sort_out(revision_of, [one for one in revisions.get(uid, ()) if one[0] == number])[0]
            mended.append(uid)
            if not copied:
                errors[uid] = error.place_in(uid, row[1])
            schedules.append(_schedule(project, row, copied[0] if copied else Revision(number, row[4], _NO_RULE)))
    return StoredSchedules(schedules, mended, errors)


def revision_of(row: Row) -> Revision:
    """number, opened_at, spec"""
    number, opened_at, spec = row
    return Revision(number, opened_at, read_column(decode_schedule_spec, spec, "revision", number))


def ledger_of(
    project: str,
    row: Row,
    deleted_at: Instant | None,
    revisions: Iterable[Row],
    pauses: Iterable[Row],
    planned: Iterable[Row],
) -> Ledger:
    """The row of a schedule, and those that belong to it."""
    try:
        schedule = schedule_of(project, row)
        ruling = [revision_of(one) for one in revisions]
    except RowUnreadable as error:
        raise error.place_in(row[0], row[1]) from error.__cause__
    return Ledger(schedule, deleted_at, ruling, [pause_of(one) for one in pauses], [planned_of(one) for one in planned])


def pause_of(row: Row) -> Pause:
    """since, until"""
    return Pause(*row)


def planned_of(row: Row) -> PlannedTick:
    """scheduled_for, fire_at, revision"""
    return PlannedTick(*row)


def tick_of(row: Row) -> TickRecord:
    """scheduled_for, until, count, outcome, reason, fire_at, revision, run_id, into_tick"""
    scheduled_for, until, count, outcome, reason, *rest = row
    ending = (
        read_column(TickOutcome, outcome, "tick", scheduled_for),
        read_column(TickReason, reason, "tick", scheduled_for),
    )
    return TickRecord(scheduled_for, until, count, *ending, *rest)


def run_of(project: str, row: Row) -> Run:
    """id, job_id, status as people see it, reason, queue, priority, trigger, schedule_uid, schedule_id,
    scheduled_for, tick_key, payload, output, due_at, created_at, started_at, finished_at, attempt, lost,
    exit_code, error, worker_id, token, root_id, role, item"""
    run_id, job_id, status, reason, queue, priority, trigger, uid, schedule_id, moment, key, payload, output, *rest = (
        row
    )
    tick = None if uid is None else Tick(uid, schedule_id, Instant(moment), key)
    shown = _STATUS.get(status) or read_column(Status, status, "run", run_id)
    what = run_id, project, job_id, shown, reason, queue, priority, trigger, tick
    given, gave = read_column(decode, payload, "run", run_id), read_column(decode, output, "run", run_id)
    return Run._make((*what, given, gave, *rest, moment))


def claim_of(row: Row) -> Claim:
    """run_id, token, worker_id, job_id, job_revision, attempt, lost, queue, priority, due_at, started_at,
    payload, overrides, limits, schedule_uid, schedule_id, scheduled_for, tick_key, root_id, role, item; payload and
    overrides as bytes"""
    limits, uid, schedule_id, moment, key = row[13:18]
    if limits is None and uid is None:
        return Claim(*(*row[:13], (), None, *row[18:21], moment))
    tick = None if uid is None else Tick(uid, schedule_id, Instant(moment), key)
    keys = () if limits is None else read_column(limit_keys, limits, "run", row[0])
    return Claim(*(*row[:13], keys, tick, *row[18:21], moment))


def lease_of(row: Row) -> Claim:
    """The same of a lease that somebody holds, which must come to an end, whatever its limits say."""
    try:
        return claim_of(row)
    except RowUnreadable:
        return claim_of((*row[:13], SOME_LIMIT, *row[14:]))


def sort_claims(rows: Sequence[Row]) -> tuple[list[Claim], list[Finish]]:
    """Claims that were granted, and the ends of those that nobody can carry out, for their rows cannot be read."""
    claims, errors = sort_out(claim_of, rows)
    if not errors:
        return claims, []
    leases = {row[0]: row for row in rows}
    return claims, [end_unreadable(lease_of(leases[error.name]), error) for error in errors]


def attempt_of(row: Row) -> AttemptRecord:
    """run_id, number, token, worker_id, started_at, finished_at, status, reason, exit_code, error"""
    return AttemptRecord(*row)


def event_of(row: Row) -> Event:
    """seq, at, kind, items"""
    seq, at, kind, items = row
    return Event(seq, at, read_column(EventKind, kind, "event", seq), read_column(decode, items, "event", seq))
