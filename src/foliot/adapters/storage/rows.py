"""Rows become values. Queries select the columns in the order given here, whatever the database."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from foliot.adapters.storage.documents import decode, decode_job_spec, decode_schedule_spec, legible, limit_keys
from foliot.domain.events import Event, EventKind
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.job import Job
from foliot.domain.lease import Claim
from foliot.domain.run import AttemptRecord, Run, Status, Tick
from foliot.domain.schedule import Pause, Revision, Schedule
from foliot.domain.tick import PlannedTick, TickOutcome, TickReason, TickRecord
from foliot.errors import RowUnreadable
from foliot.ports.schedules import Ledger

Row = Sequence[Any]

_STATUS: Final = {status.value: status for status in Status}


def job_of(project: str, row: Row) -> Job:
    """id, spec, revision, created_at, updated_at"""
    job_id, spec, revision, created_at, updated_at = row
    return Job(
        id=JobId(job_id),
        project=project,
        spec=legible(decode_job_spec, spec, "job", job_id),
        revision=revision,
        created_at=created_at,
        updated_at=updated_at,
    )


def schedule_of(project: str, row: Row) -> Schedule:
    """uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until,
    next_run_at, wake_at, last_scheduled_at, behind_since, ledger_from"""
    uid, schedule_id, version, number, opened_at, spec, enabled, *rest = row
    revision = Revision(number, opened_at, legible(decode_schedule_spec, spec, "schedule", schedule_id))
    return Schedule(uid, ScheduleId(schedule_id), project, version, revision, bool(enabled), *rest)


def revision_of(row: Row) -> Revision:
    """number, opened_at, spec"""
    number, opened_at, spec = row
    return Revision(number, opened_at, legible(decode_schedule_spec, spec, "revision", number))


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
    ending = legible(TickOutcome, outcome, "tick", scheduled_for), legible(TickReason, reason, "tick", scheduled_for)
    return TickRecord(scheduled_for, until, count, *ending, *rest)


def run_of(project: str, row: Row) -> Run:
    """id, job_id, status as people see it, reason, queue, priority, trigger, schedule_uid, schedule_id,
    scheduled_for, tick_key, payload, output, due_at, created_at, started_at, finished_at, attempt, lost,
    exit_code, error, worker_id, token, root_id, role, item"""
    run_id, job_id, status, reason, queue, priority, trigger, uid, schedule_id, moment, key, payload, output, *rest = (
        row
    )
    tick = None if uid is None else Tick(uid, schedule_id, Instant(moment), key)
    shown = _STATUS.get(status) or legible(Status, status, "run", run_id)
    what = run_id, project, job_id, shown, reason, queue, priority, trigger, tick
    given, gave = legible(decode, payload, "run", run_id), legible(decode, output, "run", run_id)
    return Run._make((*what, given, gave, *rest, moment))


def claim_of(row: Row) -> Claim:
    """run_id, token, worker_id, job_id, job_revision, attempt, lost, queue, priority, due_at, started_at,
    payload, overrides, limits, schedule_uid, schedule_id, scheduled_for, tick_key, root_id, role, item; payload and
    overrides as bytes"""
    limits, uid, schedule_id, moment, key = row[13:18]
    if limits is None and uid is None:
        return Claim._make((*row[:13], (), None, *row[18:21], moment))
    tick = None if uid is None else Tick(uid, schedule_id, Instant(moment), key)
    return Claim._make((*row[:13], limit_keys(limits), tick, *row[18:21], moment))


def attempt_of(row: Row) -> AttemptRecord:
    """run_id, number, token, worker_id, started_at, finished_at, status, reason, exit_code, error"""
    return AttemptRecord(*row)


def event_of(row: Row) -> Event:
    """seq, at, kind, items"""
    seq, at, kind, items = row
    return Event(seq, at, legible(EventKind, kind, "event", seq), legible(decode, items, "event", seq))
