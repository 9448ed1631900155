"""The schedules of a PostgreSQL storage: what people do to them, and what can be read about them."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from foliot.adapters.storage.postgres.admission import Admission
from foliot.adapters.storage.postgres.arrays import by_uid, columns, shared
from foliot.adapters.storage.postgres.database import Database, Transaction, divide
from foliot.adapters.storage.postgres.due import due_schedules
from foliot.adapters.storage.postgres.impossible import possible_ones
from foliot.adapters.storage.postgres.punctual import settle_punctual
from foliot.adapters.storage.postgres.settling import add_ticks, settle_firings
from foliot.adapters.storage.shared.documents import as_stored_schedule, encode
from foliot.adapters.storage.shared.event_items import about_schedules
from foliot.adapters.storage.shared.ledger import is_punctual
from foliot.adapters.storage.shared.new_schedules import starts
from foliot.adapters.storage.shared.rows import (
    Row,
    StoredSchedules,
    ledger_of,
    mended_schedules,
    planned_of,
    revision_of,
    schedule_of,
    tick_of,
)
from foliot.domain.cron import tzdata_version
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.schedule import edit
from foliot.domain.schedule.firing import Firing
from foliot.domain.schedule.schedule import Revision, Schedule
from foliot.domain.schedule.tick import TickRecord
from foliot.errors import RowUnreadable, Unstorable
from foliot.ports.definitions import NewSchedule
from foliot.ports.ledger import DueBatch
from foliot.ports.queries import ScheduleLedger
from foliot.ports.topic import Topic

_SIDE_BY_SIDE: Final = 3
"""How many batches are settled at once: more would only open connections, and wait for each other's pages."""


class PostgresSchedules:
    """Fills `ports.schedules.ScheduleStore`."""

    def __init__(self, database: Database, admission: Admission, project: str) -> None:
        self._database = database
        self._admission = admission
        self._project = project
        self._settling = asyncio.Semaphore(_SIDE_BY_SIDE)

    # -- what people do

    async def put(self, schedules: Sequence[NewSchedule], *, at: Instant | None = None) -> list[Schedule]:
        put: dict[ScheduleId, Schedule] = {}
        for batch in _distinct(schedules):
            work = partial(put_schedules, project=self._project, batch=batch, at=at)
            put |= await self._database.write("put_schedules", work)
        return [put[schedule.id] for schedule in schedules]

    async def pause(
        self, schedule_ids: Collection[ScheduleId], *, paused: bool, at: Instant | None = None
    ) -> list[Schedule]:
        if not schedule_ids:
            return []
        work = partial(self._pause, schedule_ids=schedule_ids, paused=paused, at=at)
        return await self._database.write("pause", work)

    async def _pause(
        self, transaction: Transaction, *, schedule_ids: Collection[ScheduleId], paused: bool, at: Instant | None
    ) -> list[Schedule]:
        now = await transaction.now(at)
        stored = await _lock_stored(transaction, self._project, schedule_ids)
        known = {schedule.id: schedule for schedule in stored.sure}
        known |= await _pause(transaction, known.values(), now, paused=paused)
        return [known[schedule_id] for schedule_id in dict.fromkeys(schedule_ids) if schedule_id in known]

    async def delete(self, schedule_ids: Collection[ScheduleId], *, at: Instant | None = None) -> list[ScheduleId]:
        if not schedule_ids:
            return []

        async def work(transaction: Transaction) -> list[ScheduleId]:
            now = await transaction.now(at)
            return await delete_schedules(transaction, self._project, schedule_ids, now)

        return await self._database.write("delete_schedules", work, merge=lambda one, two: [*dict.fromkeys(one + two)])

    # -- what the scheduler does

    async def due(self, limit: int, *, at: Instant | None = None) -> DueBatch:
        return await due_schedules(self._database, self._project, limit, at)

    async def settle(self, firings: Sequence[Firing], *, at: Instant | None = None) -> list[ScheduleUid]:
        if not firings:
            return []
        async with self._settling:
            saved = set(await divide(firings, partial(self._settle, at=at)))
        return [firing.uid for firing in firings if firing.uid in saved]

    async def _settle(self, firings: Sequence[Firing], at: Instant | None) -> list[ScheduleUid]:
        async def work(transaction: Transaction) -> tuple[list[ScheduleUid], set[str]]:
            return await settle_firings(transaction, self._project, firings, at), transaction.keys

        if all(map(is_punctual, firings)):
            with suppress(Unstorable):
                return await self._settle_punctual(firings, at)
        saved, keys = await self._database.write("settle", work)
        await self._admission.follow(keys, at)
        return saved

    async def _settle_punctual(self, firings: Sequence[Firing], at: Instant | None) -> list[ScheduleUid]:
        """The short way. Should a run of theirs be there already, or be bad data, nothing is saved."""

        async def work(transaction: Transaction) -> list[ScheduleUid]:
            # After a commit in doubt there is more to tell apart than one statement can.
            settle = settle_firings if transaction.is_repeat else settle_punctual
            return await settle(transaction, self._project, firings, at)

        return await self._database.write("settle", work, is_single=True)

    async def next_wake(self, *, besides: Collection[ScheduleUid] = ()) -> Instant | None:
        asked = ("next_wake_besides", list(besides)) if besides else ("next_wake",)
        wake: Instant | None = await self._database.value(*asked)
        return wake

    # -- what can be read

    async def get(self, schedule_ids: Collection[ScheduleId]) -> dict[ScheduleId, Schedule]:
        if not schedule_ids:
            return {}
        rows = await self._database.rows("get_schedules", self._project, list(schedule_ids))
        return {schedule.id: schedule for schedule in await self._read(rows)}

    async def page(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> list[Schedule]:
        query = "page_schedules" if job_id is None else "page_schedules_of_job"
        return await self._read(await self._database.rows(query, self._project, after, limit, job_id))

    async def _read(self, rows: Sequence[Row]) -> list[Schedule]:
        return (await _read(self._database.rows, self._project, rows)).shown

    async def ticks(self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int) -> list[TickRecord]:
        return [tick_of(row) for row in await self._database.rows("ticks", uid, after, until, limit)]

    async def tick_keys(
        self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int
    ) -> list[tuple[Instant, str]]:
        return [(moment, key) for moment, key in await self._database.rows("tick_keys", uid, after, until, limit)]

    async def shared_runs(self, uid: ScheduleUid, *, after: Instant) -> list[RunId]:
        return [RunId(run_id) for (run_id,) in await self._database.rows("shared_runs", uid, after)]

    async def ledgers(
        self, *, after: ScheduleUid | None = None, limit: int = 100, ids: Collection[ScheduleId] | None = None
    ) -> list[ScheduleLedger]:
        query, wanted = ("ledgers", None) if ids is None else ("ledgers_of", list(ids))
        return await self._ledgers(await self._database.rows(query, self._project, after, limit, wanted))

    async def _ledgers(self, rows: Sequence[Any]) -> list[ScheduleLedger]:
        uids = [row["uid"] for row in rows]
        revisions = by_uid(await self._database.rows("revisions", uids)) if uids else {}
        pauses = by_uid(await self._database.rows("pauses", uids)) if uids else {}
        planned = by_uid(await self._database.rows("planned_ticks", uids)) if uids else {}
        return [
            ledger_of(
                self._project,
                row[:-1],
                row["deleted_at"],
                revisions.get(row["uid"], ()),
                pauses.get(row["uid"], ()),
                planned.get(row["uid"], ()),
            )
            for row in rows
        ]


async def put_schedules(
    transaction: Transaction, *, project: str, batch: Mapping[ScheduleId, NewSchedule], at: Instant | None
) -> dict[ScheduleId, Schedule]:
    """Create or edit schedules, each name once."""
    now = await transaction.now(at)
    found = await _lock_stored(transaction, project, batch)
    lost, mended = found.lost, found.mended
    await delete_schedules(transaction, project, [schedule.id for schedule in lost], now)
    stored = [schedule for schedule in found.schedules if schedule.uid not in found.errors]
    known = {schedule.id: schedule for schedule in stored}
    created: dict[ScheduleId, Schedule] = {}
    while missing := [new for new in batch.values() if new.id not in known and new.id not in created]:
        created |= await _create(transaction, project, missing, now)
        # Whoever creates a schedule of that name at the same moment may be faster: then ours is an edit.
        if beaten := [new.id for new in missing if new.id not in created]:
            known |= await _lock(transaction, project, beaten)
    edited = await _edit(transaction, known, batch, now)
    edited |= await _renew(transaction, [one for one in stored if one.uid in mended and one.id not in edited], now)
    changed = created | edited
    transaction.note(EventKind.SCHEDULE_CHANGED, about_schedules(changed.values()))
    if changed:
        transaction.topics.add(Topic.SCHEDULES)
    # What was paused is so again.
    changed |= await _pause(transaction, [changed[one.id] for one in lost if one.paused_at], now, paused=True)
    return known | changed


async def _pause(
    transaction: Transaction, schedules: Iterable[Schedule], now: Instant, *, paused: bool
) -> dict[ScheduleId, Schedule]:
    """Pause or resume those that are not already, which come back as they are now."""
    change = edit.pause if paused else edit.resume
    changed = [change(schedule, now) for schedule in schedules if (schedule.paused_at is None) == paused]
    if changed:
        uids = [one.uid for one in changed]
        if paused:
            await transaction.run("begin_pauses", uids, [one.paused_at for one in changed])
        else:
            await transaction.run("end_pauses", uids, now)
        await _save(transaction, changed)
        transaction.topics.add(Topic.SCHEDULES)
    kind = EventKind.SCHEDULE_PAUSED if paused else EventKind.SCHEDULE_RESUMED
    transaction.note(kind, about_schedules(changed))
    return {schedule.id: schedule for schedule in changed}


async def _lock(transaction: Transaction, project: str, ids: Iterable[ScheduleId]) -> dict[ScheduleId, Schedule]:
    return {schedule.id: schedule for schedule in (await _lock_stored(transaction, project, ids)).schedules}


async def _lock_stored(transaction: Transaction, project: str, ids: Iterable[ScheduleId]) -> StoredSchedules:
    rows = await transaction.rows("lock_schedules_by_id", project, possible_ones(ids))
    return await _read(transaction.rows, project, rows)


async def _read(ask: Callable[..., Awaitable[Sequence[Row]]], project: str, rows: Sequence[Row]) -> StoredSchedules:
    """Schedules of rows, those mended that cannot be read."""
    try:
        return StoredSchedules([schedule_of(project, row) for row in rows])
    except RowUnreadable:
        return mended_schedules(project, rows, by_uid(await ask("revisions", [row[0] for row in rows])))


async def _create(
    transaction: Transaction, project: str, new: Sequence[NewSchedule], now: Instant
) -> dict[ScheduleId, Schedule]:
    start = starts(new, now)
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
    """Delete schedules: what they had planned ends as cancelled, so that the ledger has no hole."""
    known = await _lock(transaction, project, schedule_ids)
    if not known:
        return []
    uids = [schedule.uid for schedule in known.values()]
    names = {schedule.uid: schedule.id for schedule in known.values()}
    planned = await transaction.rows("take_planned", uids)
    cancelled = [(row["uid"], planned_of(row[1:]).cancelled()) for row in planned]
    await add_ticks(transaction, names, cancelled, now)
    await transaction.run("delete_schedules", uids, now)
    transaction.note(EventKind.SCHEDULE_DELETED, about_schedules(known.values()))
    return [schedule_id for schedule_id in dict.fromkeys(schedule_ids) if schedule_id in known]


def _distinct(schedules: Sequence[NewSchedule]) -> list[dict[ScheduleId, NewSchedule]]:
    """Divide a batch where a name comes up again: the second one edits what the first one made."""
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
    await _save(transaction, edited)
    await _add_revisions(transaction, edited)
    return {schedule.id: schedule for schedule in edited}


async def _renew(transaction: Transaction, schedules: Sequence[Schedule], now: Instant) -> dict[ScheduleId, Schedule]:
    renewed = {schedule.id: edit.renew(schedule, now) for schedule in schedules}
    if renewed:
        await _save(transaction, renewed.values())
    return renewed


async def _open_revisions(transaction: Transaction, schedules: Iterable[Schedule]) -> dict[str, list[Revision]]:
    """The revisions that rule what is not settled yet, where that is more than the current one."""
    behind = [one for one in schedules if one.revision.opened_at > one.settled_until]
    if not behind:
        return {}
    asked = [(one.uid, one.settled_until, one.revision.number) for one in behind]
    rows = by_uid(await transaction.rows("revisions_since", *columns(asked)))
    return {uid: [revision_of(row) for row in found] for uid, found in rows.items()}


async def _save(transaction: Transaction, schedules: Iterable[Schedule]) -> None:
    await transaction.run("change_schedules", *columns(map(_changed_row, schedules)))


async def _add_revisions(transaction: Transaction, schedules: Sequence[Schedule]) -> None:
    rows = [(one.uid, one.revision.number, one.revision.opened_at, encode(one.revision.spec)) for one in schedules]
    await transaction.run("add_revisions", *columns(rows), tzdata_version())


def _changed_row(schedule: Schedule) -> tuple[object, ...]:
    number, opened_at, spec = schedule.revision
    return (
        *(schedule.uid, schedule.version, spec.target, number, opened_at, encode(spec), schedule.enabled),
        *(schedule.paused_at, schedule.updated_at, schedule.next_run_at, schedule.wake_at),
    )
