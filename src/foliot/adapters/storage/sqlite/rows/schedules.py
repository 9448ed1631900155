"""Reads and changes rows of schedules: pauses them, and signals that one may be due earlier."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.documents import encode, encode_names
from foliot.adapters.storage.shared.event_items import about_schedules
from foliot.adapters.storage.shared.rows import Row, StoredSchedules, repair_schedules, schedule_of
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.domain.access.trail import AuditKind
from foliot.domain.events import EventKind
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.schedule import edit
from foliot.domain.schedule.schedule import Schedule
from foliot.errors import RowUnreadable
from foliot.ports.topic import Topic


def read_schedules(session: Session, project: str, rows: Sequence[Row]) -> StoredSchedules:
    """Decode schedules. An unreadable row is repaired from its current revision."""
    try:
        return StoredSchedules([schedule_of(project, row) for row in rows])
    except RowUnreadable:
        uids = encode_names(row[0] for row in rows)
        return repair_schedules(project, rows, session.grouped(SQL["revisions"], (uids,)))


def named_schedules(session: Session, project: str, schedule_ids: Collection[ScheduleId]) -> StoredSchedules:
    rows = session.rows(SQL["get_schedules"], (project, encode_names(schedule_ids)))
    return read_schedules(session, project, rows)


def pause_stored(tx: Transaction, schedules: Iterable[Schedule], now: Instant, *, paused: bool) -> list[Schedule]:
    """Pause or resume the schedules that need it. Returns all of them in their current state."""
    answers = []
    changed = []
    for schedule in schedules:
        if (schedule.paused_at is not None) is paused:
            answers.append(schedule)
            continue
        after = edit.pause(schedule, now) if paused else edit.resume(schedule, now)
        changed.append(after)
        answers.append(after)
    change_schedules(tx, changed)
    if paused:
        tx.run_many(SQL["begin_pauses"], [(schedule.uid, schedule.paused_at) for schedule in changed])
    else:
        tx.run_many(SQL["end_pauses"], [(now, schedule.uid) for schedule in changed])
        for project in {schedule.project for schedule in changed}:
            jobs = encode_names({one.revision.spec.target for one in changed if one.project == project})
            tx.run(SQL["restart_jobs"], (project, jobs, now))
    kind = EventKind.SCHEDULE_PAUSED if paused else EventKind.SCHEDULE_RESUMED
    tx.add_event(now, kind, about_schedules(changed))
    tx.record(now, changes.paused(AuditKind.SCHEDULE, [one.id for one in changed], is_paused=paused))
    return answers


def change_schedules(tx: Transaction, schedules: Collection[Schedule]) -> None:
    announce_schedules(tx, schedules)
    tx.run_many(SQL["change_schedules"], [_changed_row(schedule) for schedule in schedules])


def announce_schedules(tx: Transaction, schedules: Iterable[Schedule]) -> None:
    """Ring if one of these wakes the scheduler earlier than all stored schedules."""
    waking = [(schedule.wake_at, schedule.project) for schedule in schedules if schedule.wake_at is not None]
    if not waking:
        return
    wake_at, project = min(waking)
    next_wake = tx.value(SQL["next_wake"], (project,))
    if next_wake is None or wake_at < next_wake:
        tx.ring(Topic.SCHEDULES)


def _changed_row(schedule: Schedule) -> tuple[Any, ...]:
    number, opened_at, spec = schedule.revision
    rule = (schedule.version, spec.target, number, opened_at, encode(spec), schedule.enabled)
    return (schedule.uid, *rule, schedule.paused_at, schedule.updated_at, schedule.next_run_at, schedule.wake_at)
