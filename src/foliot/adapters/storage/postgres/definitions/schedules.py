"""Stores, reads, pauses and deletes schedules."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction, merge_lists
from foliot.adapters.storage.postgres.database.values import by_uid, columns, shared
from foliot.adapters.storage.postgres.ledger import add_ticks
from foliot.adapters.storage.postgres.rows.schedules import (
    lock_schedules,
    lock_stored,
    pause_stored,
    read_schedules,
    save_schedules,
)
from foliot.adapters.storage.postgres.rows.watch import watch_jobs
from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.documents import as_stored_schedule, encode
from foliot.adapters.storage.shared.event_items import about_schedules
from foliot.adapters.storage.shared.expected import refuse_changed_schedules
from foliot.adapters.storage.shared.new_schedules import initial_states
from foliot.adapters.storage.shared.rows import (
    planned_of,
    revision_of,
)
from foliot.domain.cron import tzdata_version
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant, Millis
from foliot.domain.schedule import edit
from foliot.domain.schedule.schedule import Revision, Schedule, ScheduleType
from foliot.ports.definitions import NewSchedule
from foliot.ports.topic import Topic


class ScheduleDefinitions:
    """The calls about schedules, see `PostgresDefinitions`."""

    _database: Database
    _project: str

    async def put_schedules(
        self,
        schedules: Sequence[NewSchedule],
        *,
        expected: Mapping[ScheduleId, int] | None = None,
        at: Instant | None = None,
    ) -> list[Schedule]:
        put: dict[ScheduleId, Schedule] = {}
        for batch in _distinct(schedules):
            work = partial(put_schedules, project=self._project, batch=batch, at=at, expected=expected)
            put |= await self._database.write("put_schedules", work)
        return [put[schedule.id] for schedule in schedules]

    async def pause_schedules(
        self, schedule_ids: Collection[ScheduleId], *, paused: bool, at: Instant | None = None
    ) -> list[Schedule]:
        if not schedule_ids:
            return []

        async def work(transaction: Transaction) -> list[Schedule]:
            now = await transaction.now(at)
            stored = await lock_stored(transaction, self._project, schedule_ids)
            known = {schedule.id: schedule for schedule in stored.checked}
            known |= await pause_stored(transaction, known.values(), now, paused=paused)
            return [known[schedule_id] for schedule_id in dict.fromkeys(schedule_ids) if schedule_id in known]

        return await self._database.write("pause", work)

    async def delete_schedules(
        self, schedule_ids: Collection[ScheduleId], *, at: Instant | None = None
    ) -> list[ScheduleId]:
        if not schedule_ids:
            return []

        async def work(transaction: Transaction) -> list[ScheduleId]:
            now = await transaction.now(at)
            return await delete_schedules(transaction, self._project, schedule_ids, now)

        return await self._database.write("delete_schedules", work, merge=merge_lists)

    async def get_schedules(self, schedule_ids: Collection[ScheduleId]) -> dict[ScheduleId, Schedule]:
        if not schedule_ids:
            return {}
        rows = await self._database.rows("get_schedules", self._project, list(schedule_ids))
        return {
            schedule.id: schedule for schedule in (await read_schedules(self._database.rows, self._project, rows)).shown
        }

    async def page_schedules(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> list[Schedule]:
        if job_id is None:
            rows = await self._database.rows("list_schedules", self._project, after or "", limit)
        else:
            rows = await self._database.rows("list_schedules_of_job", self._project, job_id, after or "", limit)
        return (await read_schedules(self._database.rows, self._project, rows)).shown

    async def page_declared_schedules(self, *, after: ScheduleId | None = None, limit: int = 100) -> list[Schedule]:
        rows = await self._database.rows("list_declared_schedules", self._project, after or "", limit)
        return (await read_schedules(self._database.rows, self._project, rows)).shown


async def put_schedules(
    transaction: Transaction,
    *,
    project: str,
    batch: Mapping[ScheduleId, NewSchedule],
    at: Instant | None,
    expected: Mapping[ScheduleId, int] | None = None,
) -> dict[ScheduleId, Schedule]:
    """Create or edit schedules. Each id occurs once."""
    now = await transaction.now(at)
    found = await lock_stored(transaction, project, batch)
    unrepairable, repaired = found.unrepairable, found.repaired
    await delete_schedules(transaction, project, [schedule.id for schedule in unrepairable], now)
    stored = [schedule for schedule in found.schedules if schedule.uid not in found.errors]
    known = {schedule.id: schedule for schedule in stored}
    refuse_changed_schedules(known, batch.values(), expected)
    created: dict[ScheduleId, Schedule] = {}
    while missing := [new for new in batch.values() if new.id not in known and new.id not in created]:
        created |= await _create(transaction, project, missing, now)
        # Another process may create a schedule with this id first: then this one is an edit.
        if beaten := [new.id for new in missing if new.id not in created]:
            known |= await lock_schedules(transaction, project, beaten)
    edited = await _edit(transaction, known, batch, now)
    renewed = [edit.renew(one, now) for one in stored if one.uid in repaired and one.id not in edited]
    if renewed:
        await save_schedules(transaction, renewed)
        edited |= {schedule.id: schedule for schedule in renewed}
    changed = created | edited
    rebooting = {one.uid for one in known.values() if one.revision.spec.type is ScheduleType.REBOOT}
    # The boot of this host is over: the first tick is for the next one.
    begun = [one.uid for one in changed.values() if one.revision.spec.type is ScheduleType.REBOOT]
    if boots := [(uid, transaction.clock.boot_id, None) for uid in begun if uid not in rebooting]:
        await transaction.run("add_boots", *columns(boots))
    skipping = [one.revision.spec for one in changed.values() if one.revision.spec.skip_if_successful]
    await watch_jobs(transaction, project, {spec.target: Millis(0) for spec in skipping})
    transaction.add_event(EventKind.SCHEDULE_CHANGED, about_schedules(changed.values()))
    transaction.record(changes.put_schedules(known.values(), changed.values()))
    if changed:
        transaction.topics.add(Topic.SCHEDULES)
    # A schedule that was created in place of an unreadable paused one is paused as well.
    changed |= await pause_stored(
        transaction, [changed[one.id] for one in unrepairable if one.paused_at], now, paused=True
    )
    return known | changed


async def _create(
    transaction: Transaction, project: str, new: Sequence[NewSchedule], now: Instant
) -> dict[ScheduleId, Schedule]:
    start = initial_states(new, now)
    schedules = [start(spec, schedule_id).create(uid, schedule_id, project) for uid, schedule_id, spec in new]
    specs = [schedule.revision.spec for schedule in schedules]
    arrays, values = shared(
        [
            *([spec.target for spec in specs], [encode(spec) for spec in specs]),
            *([one.next_run_at for one in schedules], [one.wake_at for one in schedules]),
        ]
    )
    names = [one.uid for one in schedules], [one.id for one in schedules]
    known = project, now, tzdata_version()
    inserted = set(await transaction.column("create_schedules", *known, *names, *arrays, *values))
    return {schedule.id: schedule for schedule in schedules if schedule.uid in inserted}


async def delete_schedules(
    transaction: Transaction, project: str, schedule_ids: Collection[ScheduleId], now: Instant
) -> list[ScheduleId]:
    """Delete schedules. Their planned ticks become cancelled, so that the ledger has no gap."""
    known = await lock_schedules(transaction, project, schedule_ids)
    if not known:
        return []
    uids = [schedule.uid for schedule in known.values()]
    names = {schedule.uid: schedule.id for schedule in known.values()}
    planned = await transaction.rows("take_planned", uids)
    cancelled = [(row["uid"], planned_of(row[1:]).cancelled()) for row in planned]
    await add_ticks(transaction, names, cancelled, now)
    await transaction.run("delete_schedules", uids, now)
    transaction.add_event(EventKind.SCHEDULE_DELETED, about_schedules(known.values()))
    transaction.record(changes.deleted_schedules(known.values()))
    return [schedule_id for schedule_id in dict.fromkeys(schedule_ids) if schedule_id in known]


def _distinct(schedules: Sequence[NewSchedule]) -> list[dict[ScheduleId, NewSchedule]]:
    """Divide a batch at repeated ids: the second schedule with an id edits the first one."""
    batches: list[dict[ScheduleId, NewSchedule]] = []
    for schedule in schedules:
        if not batches or schedule.id in batches[-1]:
            batches.append({})
        batches[-1][schedule.id] = schedule
    return batches


async def _edit(
    transaction: Transaction,
    known: Mapping[ScheduleId, Schedule],
    batch: Mapping[ScheduleId, NewSchedule],
    now: Instant,
) -> dict[ScheduleId, Schedule]:
    specs = {schedule_id: as_stored_schedule(batch[schedule_id].spec) for schedule_id in known}
    changed = [one for one in known.values() if not edit.is_same_rule(one, specs[one.id])]
    if not changed:
        return {}
    ruling = await _open_revisions(transaction, changed)
    edited = [edit.edit(one, specs[one.id], ruling.get(one.uid, [one.revision]), now) for one in changed]
    await save_schedules(transaction, edited)
    rows = [(one.uid, one.revision.number, one.revision.opened_at, encode(one.revision.spec)) for one in edited]
    await transaction.run("add_revisions", *columns(rows), tzdata_version())
    return {schedule.id: schedule for schedule in edited}


async def _open_revisions(transaction: Transaction, schedules: Iterable[Schedule]) -> dict[str, list[Revision]]:
    """Return the revisions of unsettled moments, for schedules that have more than the current one."""
    behind = [one for one in schedules if one.revision.opened_at > one.settled_until]
    if not behind:
        return {}
    asked = [(one.uid, one.settled_until, one.revision.number) for one in behind]
    rows = by_uid(await transaction.rows("revisions_since", *columns(asked)))
    return {uid: [revision_of(row) for row in found] for uid, found in rows.items()}
