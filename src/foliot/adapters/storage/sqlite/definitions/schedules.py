"""Stores, reads, pauses and deletes schedules (`domain.schedule.edit`)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.documents import as_stored_schedule, encode, encode_names
from foliot.adapters.storage.shared.event_items import about_schedules
from foliot.adapters.storage.shared.expected import refuse_changed_schedules
from foliot.adapters.storage.shared.new_schedules import initial_states
from foliot.adapters.storage.shared.rows import (
    planned_of,
    revision_of,
)
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.adapters.storage.sqlite.rows.schedules import (
    announce_schedules,
    change_schedules,
    named_schedules,
    pause_stored,
    read_schedules,
)
from foliot.adapters.storage.sqlite.rows.watch import watch_jobs
from foliot.domain.cron import tzdata_version
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant, Millis
from foliot.domain.schedule import edit
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec, ScheduleType
from foliot.ports.definitions import NewSchedule


class ScheduleDefinitions(PortBase):
    async def put_schedules(
        self,
        schedules: Sequence[NewSchedule],
        *,
        expected: Mapping[ScheduleId, int] | None = None,
        at: Instant | None = None,
    ) -> list[Schedule]:
        return await self._writer.submit(
            "put_schedules", lambda tx: put_schedules(tx, self._project, schedules, tx.now(at), expected=expected)
        )

    async def get_schedules(self, schedule_ids: Collection[ScheduleId]) -> dict[ScheduleId, Schedule]:
        found = await self._reader.read(lambda session: named_schedules(session, self._project, schedule_ids))
        return {schedule.id: schedule for schedule in found.shown}

    async def page_schedules(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> list[Schedule]:
        def query(session: Session) -> list[Schedule]:
            name, of_job = ("list_schedules", ()) if job_id is None else ("list_schedules_of_job", (job_id,))
            rows = session.rows(SQL[name], (self._project, *of_job, after or "", limit))
            return read_schedules(session, self._project, rows).shown

        return await self._reader.read(query)

    async def page_declared_schedules(self, *, after: ScheduleId | None = None, limit: int = 100) -> list[Schedule]:
        def query(session: Session) -> list[Schedule]:
            rows = session.rows(SQL["list_declared_schedules"], (self._project, after or "", limit))
            return read_schedules(session, self._project, rows).shown

        return await self._reader.read(query)

    async def pause_schedules(
        self, schedule_ids: Collection[ScheduleId], *, paused: bool, at: Instant | None = None
    ) -> list[Schedule]:
        def work(tx: Transaction) -> list[Schedule]:
            found = {schedule.id: schedule for schedule in named_schedules(tx, self._project, schedule_ids).checked}
            wanted = [found[schedule_id] for schedule_id in dict.fromkeys(schedule_ids) if schedule_id in found]
            return pause_stored(tx, wanted, tx.now(at), paused=paused)

        return await self._writer.submit("pause", work)

    async def delete_schedules(
        self, schedule_ids: Collection[ScheduleId], *, at: Instant | None = None
    ) -> list[ScheduleId]:
        def work(tx: Transaction) -> list[ScheduleId]:
            found = {one.id: one for one in named_schedules(tx, self._project, schedule_ids).schedules}
            wanted = [schedule_id for schedule_id in dict.fromkeys(schedule_ids) if schedule_id in found]
            delete_schedules(tx, [found[schedule_id] for schedule_id in wanted], tx.now(at))
            return wanted

        return await self._writer.submit("delete_schedules", work)


def put_schedules(
    tx: Transaction,
    project: str,
    schedules: Sequence[NewSchedule],
    now: Instant,
    *,
    expected: Mapping[ScheduleId, int] | None = None,
) -> list[Schedule]:
    """Create or edit schedules, in order. An equal specification changes nothing."""
    stored = named_schedules(tx, project, [schedule_id for _, schedule_id, _ in schedules])
    unrepairable = stored.unrepairable
    delete_schedules(tx, unrepairable, now)
    known = {schedule.id: schedule for schedule in stored.schedules if schedule.uid not in stored.errors}
    former = list(known.values())
    refuse_changed_schedules(known, schedules, expected)
    created: dict[ScheduleUid, Schedule] = {}
    edited: dict[ScheduleUid, Schedule] = {}
    rebooting = {schedule.uid for schedule in known.values() if schedule.revision.spec.type is ScheduleType.REBOOT}
    answers = []
    start = initial_states(schedules, now)
    for uid, schedule_id, given in schedules:
        schedule = known.get(schedule_id)
        if schedule is None:
            schedule = created[uid] = start(given, schedule_id).create(uid, schedule_id, project)
        elif not edit.is_same_rule(schedule, spec := as_stored_schedule(given)):
            schedule = edited[schedule.uid] = _edit(tx, schedule, spec, now)
        elif schedule.uid in stored.repaired and schedule.uid not in edited:
            schedule = edited[schedule.uid] = edit.renew(schedule, now)
        known[schedule_id] = schedule
        answers.append(schedule)
    _create(tx, created.values())
    change_schedules(tx, edited.values())
    # The boot of this host is over: the first tick is for the next one.
    begun = [one.uid for one in (created | edited).values() if one.revision.spec.type is ScheduleType.REBOOT]
    tx.run_many(SQL["add_boots"], [(uid, tx.clock.boot_id, None) for uid in begun if uid not in rebooting])
    skipping = [one.revision.spec for one in (created | edited).values() if one.revision.spec.skip_if_successful]
    watch_jobs(tx, project, {spec.target: Millis(0) for spec in skipping})
    tx.add_event(now, EventKind.SCHEDULE_CHANGED, about_schedules((created | edited).values()))
    tx.record(now, changes.put_schedules(former, (created | edited).values()))
    # A schedule that was created in place of an unreadable paused one is paused as well.
    paused = {
        one.id: one
        for one in pause_stored(tx, [known[one.id] for one in unrepairable if one.paused_at], now, paused=True)
    }
    return [paused.get(one.id, one) for one in answers] if paused else answers


def delete_schedules(tx: Transaction, schedules: Sequence[Schedule], now: Instant) -> None:
    """Delete schedules and cancel their planned ticks; their ledgers are kept."""
    if not schedules:
        return
    uids = encode_names(schedule.uid for schedule in schedules)
    planned = tx.grouped(SQL["take_planned"], (uids,))
    ticks = [
        (schedule.uid, *tick, tick.key(schedule.id), now)
        for schedule in schedules
        for tick in (planned_of(row).cancelled() for row in planned.get(schedule.uid, ()))
    ]
    tx.run_many(SQL["add_ticks"], ticks)
    tx.run_many(SQL["delete_schedules"], [(now, now, schedule.uid) for schedule in schedules])
    tx.add_event(now, EventKind.SCHEDULE_DELETED, about_schedules(schedules))
    tx.record(now, changes.deleted_schedules(schedules))


def _edit(tx: Transaction, schedule: Schedule, spec: ScheduleSpec, now: Instant) -> Schedule:
    revisions = [schedule.revision]
    if schedule.settled_until < schedule.revision.opened_at:
        rows = tx.rows(SQL["revisions"], (encode_names([schedule.uid]),))
        revisions = [revision_of(row[1:]) for row in rows] or revisions
    after = edit.edit(schedule, spec, revisions, now)
    number, opened_at, changed = after.revision
    tx.run(SQL["add_revisions"], (after.uid, number, opened_at, encode(changed), tzdata_version()))
    return after


def _create(tx: Transaction, schedules: Collection[Schedule]) -> None:
    if not schedules:
        return
    announce_schedules(tx, schedules)
    newest = tx.value(SQL["newest_schedule"])
    tx.run_many(SQL["create_schedules"], [_new_row(schedule) for schedule in schedules])
    tx.run(SQL["begin_revisions"], (newest, tzdata_version()))


def _new_row(schedule: Schedule) -> tuple[Any, ...]:
    _, now, spec = schedule.revision
    who = (schedule.uid, schedule.id, schedule.project, spec.target)
    return (*who, now, encode(spec), schedule.next_run_at, schedule.wake_at)
