"""Reads, locks and changes rows of schedules, and pauses them."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.database.values import by_uid, columns, storable_names
from foliot.adapters.storage.shared import changes
from foliot.adapters.storage.shared.documents import encode
from foliot.adapters.storage.shared.event_items import about_schedules
from foliot.adapters.storage.shared.rows import Row, StoredSchedules, repair_schedules, schedule_of
from foliot.domain.access.trail import AuditKind
from foliot.domain.events import EventKind
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.schedule import edit
from foliot.domain.schedule.schedule import Schedule
from foliot.errors import RowUnreadable
from foliot.ports.topic import Topic


async def pause_stored(
    transaction: Transaction, schedules: Iterable[Schedule], now: Instant, *, paused: bool
) -> dict[ScheduleId, Schedule]:
    """Pause or resume the schedules that need it. Returns the changed ones."""
    change = edit.pause if paused else edit.resume
    changed = [change(schedule, now) for schedule in schedules if (schedule.paused_at is None) == paused]
    if changed:
        uids = [one.uid for one in changed]
        if paused:
            await transaction.run("begin_pauses", uids, [one.paused_at for one in changed])
        else:
            await transaction.run("end_pauses", uids, now)
            jobs = sorted({one.revision.spec.target for one in changed})
            await transaction.run("restart_jobs", changed[0].project, jobs, now)
        await save_schedules(transaction, changed)
        transaction.topics.add(Topic.SCHEDULES)
    kind = EventKind.SCHEDULE_PAUSED if paused else EventKind.SCHEDULE_RESUMED
    transaction.add_event(kind, about_schedules(changed))
    transaction.record(changes.paused(AuditKind.SCHEDULE, [one.id for one in changed], is_paused=paused))
    return {schedule.id: schedule for schedule in changed}


async def lock_schedules(
    transaction: Transaction, project: str, ids: Iterable[ScheduleId]
) -> dict[ScheduleId, Schedule]:
    return {schedule.id: schedule for schedule in (await lock_stored(transaction, project, ids)).schedules}


async def lock_stored(transaction: Transaction, project: str, ids: Iterable[ScheduleId]) -> StoredSchedules:
    rows = await transaction.rows("lock_schedules_by_id", project, storable_names(ids))
    return await read_schedules(transaction.rows, project, rows)


async def read_schedules(
    ask: Callable[..., Awaitable[Sequence[Row]]], project: str, rows: Sequence[Row]
) -> StoredSchedules:
    """Decode schedules. An unreadable row is repaired from its revisions."""
    try:
        return StoredSchedules([schedule_of(project, row) for row in rows])
    except RowUnreadable:
        return repair_schedules(project, rows, by_uid(await ask("revisions", [row[0] for row in rows])))


async def save_schedules(transaction: Transaction, schedules: Iterable[Schedule]) -> None:
    await transaction.run("change_schedules", *columns(map(_changed_row, schedules)))


def _changed_row(schedule: Schedule) -> tuple[object, ...]:
    number, opened_at, spec = schedule.revision
    return (
        *(schedule.uid, schedule.version, spec.target, number, opened_at, encode(spec), schedule.enabled),
        *(schedule.paused_at, schedule.updated_at, schedule.next_run_at, schedule.wake_at),
    )
