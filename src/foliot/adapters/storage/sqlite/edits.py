"""How people change schedules: `domain.schedule.edit`, saved."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from foliot.adapters.storage.shared.documents import as_stored_schedule, encode, encode_names
from foliot.adapters.storage.shared.event_items import about_schedules
from foliot.adapters.storage.shared.new_schedules import starts
from foliot.adapters.storage.shared.rows import (
    Row,
    StoredSchedules,
    mended_schedules,
    planned_of,
    revision_of,
    schedule_of,
)
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Session
from foliot.adapters.storage.sqlite.events import add_event
from foliot.adapters.storage.sqlite.ticks import add_ticks
from foliot.domain.cron import tzdata_version
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.schedule import edit
from foliot.domain.schedule.schedule import Revision, Schedule, ScheduleSpec
from foliot.domain.schedule.tick import PlannedTick
from foliot.errors import RowUnreadable
from foliot.ports.definitions import NewSchedule
from foliot.ports.topic import Topic

T = TypeVar("T")

SQL: Final = load_queries(Path(__file__).parent / "sql" / "schedules.sql")


def read_schedules(session: Session, project: str, rows: Sequence[Row]) -> StoredSchedules:
    """Schedules of rows, those mended that cannot be read."""
    try:
        return StoredSchedules([schedule_of(project, row) for row in rows])
    except RowUnreadable:
        return mended_schedules(project, rows, by_uid(session, "revisions", [row[0] for row in rows]))


def get_schedules(session: Session, project: str, schedule_ids: Collection[ScheduleId]) -> dict[ScheduleId, Schedule]:
    return {schedule.id: schedule for schedule in named(session, project, schedule_ids).schedules}


def named(session: Session, project: str, schedule_ids: Collection[ScheduleId]) -> StoredSchedules:
    rows = session.rows(SQL["get_schedules"], (project, encode_names(schedule_ids)))
    return read_schedules(session, project, rows)


def schedules_of_jobs(session: Session, project: str, job_ids: Collection[JobId]) -> Sequence[Schedule]:
    rows = session.rows(SQL["schedules_of_jobs"], (project, encode_names(job_ids)))
    return read_schedules(session, project, rows).schedules


def put(tx: Transaction, project: str, schedules: Sequence[NewSchedule], now: Instant) -> list[Schedule]:
    """Create or edit each, in order; equal specifications change nothing."""
    stored = named(tx, project, [schedule_id for _, schedule_id, _ in schedules])
    lost = stored.lost
    delete(tx, lost, now)
    known = {schedule.id: schedule for schedule in stored.schedules if schedule.uid not in stored.errors}
    created: dict[ScheduleUid, Schedule] = {}
    edited: dict[ScheduleUid, Schedule] = {}
    answers = []
    start = starts(schedules, now)
    for uid, schedule_id, given in schedules:
        schedule = known.get(schedule_id)
        if schedule is None:
            schedule = created[uid] = start(given, schedule_id).create(uid, schedule_id, project)
        elif not edit.is_same_rule(schedule, spec := as_stored_schedule(given)):
            schedule = edited[schedule.uid] = _edit(tx, schedule, spec, now)
        elif schedule.uid in stored.mended and schedule.uid not in edited:
            schedule = edited[schedule.uid] = edit.renew(schedule, now)
        known[schedule_id] = schedule
        answers.append(schedule)
    _create(tx, created.values())
    _change(tx, edited.values())
    add_event(tx, now, EventKind.SCHEDULE_CHANGED, about_schedules((created | edited).values()))
    # What was paused is so again.
    paused = {one.id: one for one in pause(tx, [known[one.id] for one in lost if one.paused_at], now, paused=True)}
    return [paused.get(one.id, one) for one in answers] if paused else answers


def pause(tx: Transaction, schedules: Iterable[Schedule], now: Instant, *, paused: bool) -> list[Schedule]:
    """Pause or resume those that are not already; returns all as they are now."""
    answers = []
    changed = []
    for schedule in schedules:
        if (schedule.paused_at is not None) is paused:
            answers.append(schedule)
            continue
        after = edit.pause(schedule, now) if paused else edit.resume(schedule, now)
        changed.append(after)
        answers.append(after)
    _change(tx, changed)
    if paused:
        tx.run_many(SQL["begin_pause"], [(schedule.uid, schedule.paused_at) for schedule in changed])
    else:
        tx.run_many(SQL["end_pause"], [(now, schedule.uid) for schedule in changed])
    kind = EventKind.SCHEDULE_PAUSED if paused else EventKind.SCHEDULE_RESUMED
    add_event(tx, now, kind, about_schedules(changed))
    return answers


def delete(tx: Transaction, schedules: Sequence[Schedule], now: Instant) -> None:
    """Delete schedules; what was planned is cancelled, the ledger stays."""
    planned = planned_ticks(tx, [schedule.uid for schedule in schedules])
    for schedule in schedules:
        ticks = [tick.cancelled() for tick in planned.get(schedule.uid, ())]
        add_ticks(tx, schedule.uid, schedule.id, ticks, now)
    clear_planned(tx, planned)
    tx.run_many(SQL["delete_schedules"], [(now, now, schedule.uid) for schedule in schedules])
    add_event(tx, now, EventKind.SCHEDULE_DELETED, about_schedules(schedules))


def clear_planned(tx: Transaction, uids: Collection[ScheduleUid]) -> None:
    if uids:
        tx.run(SQL["clear_planned"], (encode_names(uids),))


def revisions(session: Session, uids: Collection[ScheduleUid]) -> dict[ScheduleUid, list[Revision]]:
    return _made(revision_of, by_uid(session, "revisions", uids))


def planned_ticks(session: Session, uids: Collection[ScheduleUid]) -> dict[ScheduleUid, list[PlannedTick]]:
    return _made(planned_of, by_uid(session, "planned", uids))


def by_uid(session: Session, query: str, uids: Collection[ScheduleUid]) -> dict[ScheduleUid, list[Row]]:
    """The rows of each schedule, without its uid."""
    found: dict[ScheduleUid, list[Row]] = {}
    if uids:
        for uid, *rest in session.rows(SQL[query], (encode_names(uids),)):
            found.setdefault(uid, []).append(rest)
    return found


def _made(make: Callable[[Row], T], found: Mapping[ScheduleUid, list[Row]]) -> dict[ScheduleUid, list[T]]:
    return {uid: [make(row) for row in rows] for uid, rows in found.items()}


def _edit(tx: Transaction, schedule: Schedule, spec: ScheduleSpec, now: Instant) -> Schedule:
    known: Mapping[ScheduleUid, Sequence[Revision]] = {}
    if schedule.settled_until < schedule.revision.opened_at:
        known = revisions(tx, [schedule.uid])
    after = edit.edit(schedule, spec, known.get(schedule.uid, (schedule.revision,)), now)
    tx.run(SQL["add_revisions"], _revision_row(after))
    return after


def _create(tx: Transaction, schedules: Collection[Schedule]) -> None:
    if not schedules:
        return
    _announce(tx, schedules)
    newest = tx.value(SQL["newest_schedule"])
    tx.run_many(SQL["create_schedules"], [_new_row(schedule) for schedule in schedules])
    tx.run(SQL["begin_revisions"], (newest, tzdata_version()))


def _change(tx: Transaction, schedules: Collection[Schedule]) -> None:
    _announce(tx, schedules)
    tx.run_many(SQL["change_schedules"], [_changed_row(schedule) for schedule in schedules])


def _announce(tx: Transaction, schedules: Iterable[Schedule]) -> None:
    """Ring for what is to wake the scheduler earlier than all that is stored."""
    wakes = [schedule.wake_at for schedule in schedules if schedule.wake_at is not None]
    if wakes and ((next_wake := tx.value(SQL["next_wake"])) is None or min(wakes) < next_wake):
        tx.ring(Topic.SCHEDULES)


def _new_row(schedule: Schedule) -> tuple[Any, ...]:
    _, now, spec = schedule.revision
    who = (schedule.uid, schedule.id, schedule.project, spec.target)
    return (*who, now, encode(spec), schedule.next_run_at, schedule.wake_at)


def _changed_row(schedule: Schedule) -> tuple[Any, ...]:
    number, opened_at, spec = schedule.revision
    rule = (schedule.version, spec.target, number, opened_at, encode(spec), schedule.enabled)
    return (schedule.uid, *rule, schedule.paused_at, schedule.updated_at, schedule.next_run_at, schedule.wake_at)


def _revision_row(schedule: Schedule) -> tuple[Any, ...]:
    number, opened_at, spec = schedule.revision
    return (schedule.uid, number, opened_at, encode(spec), tzdata_version())
