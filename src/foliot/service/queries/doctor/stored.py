"""Probes of the database. Each reads, and one writes a single row."""

from collections.abc import AsyncIterator, Iterator
from typing import Final

from foliot.domain.clock import ClockFault, ClockFaultKind, skew_of
from foliot.domain.cron import tzdata_version
from foliot.domain.instant import DAY, MINUTE, Instant, to_datetime
from foliot.domain.job.job import Job
from foliot.domain.schedule.schedule import Schedule, ScheduleType
from foliot.domain.schedule.timetable import Timetable
from foliot.errors import FoliotError, RowUnreadable
from foliot.ports.health import HealthDetails
from foliot.ports.storage import Storage
from foliot.service.paging import PAGE, each_of, job_id_of, page_of_jobs, stored_schedules
from foliot.service.queries.clock_notices import ClockNotice, clock_notices
from foliot.service.queries.doctor.findings import (
    LogsLarge,
    LongRun,
    MovedTick,
    RowsUnreadable,
    RunsLong,
    StorageDamaged,
    StorageReadOnly,
    TicksMoved,
    WorkersLost,
)
from foliot.service.queries.documents import moment
from foliot.service.queries.unreadable_rows import unreadable_rows

LOST: Final = 5 * MINUTE
"""A worker that was not seen for this time should have been removed."""
LONG: Final = DAY
LARGE_LOGS: Final = 1 << 30
MOST_CHECKED: Final = 1 << 30
"""Bytes. The file of a larger database is not checked for damage: that takes too long."""
HERE: Final = "this machine"
_NAMED: Final = 20


async def probe_storage(
    storage: Storage, health: HealthDetails
) -> AsyncIterator[StorageReadOnly | StorageDamaged | LogsLarge]:
    try:
        await storage.upkeep.probe()
    except FoliotError as error:
        yield StorageReadOnly(message=error.message, hint=error.hint)
    if health.size.database <= MOST_CHECKED and (damages := await storage.upkeep.damages()):
        yield StorageDamaged(damages=tuple(damages))
    if health.size.logs > LARGE_LOGS:
        yield LogsLarge(size=health.size.logs)


def probe_leases(health: HealthDetails, now: Instant) -> Iterator[WorkersLost]:
    lost = [one for one in health.workers if not one.is_alive and now - one.seen_at > LOST]
    if lost:
        yield WorkersLost(
            workers=tuple(one.worker.name for one in lost[:_NAMED]), running=sum(one.running for one in lost)
        )


async def probe_runs(storage: Storage, now: Instant) -> AsyncIterator[RunsLong]:
    runs = await storage.queries.long_runs(Instant(now - LONG), limit=_NAMED)
    if runs:
        yield RunsLong(
            runs=tuple(LongRun(run_id=run.id, job_id=run.job_id, started_at=moment(run.started_at)) for run in runs)
        )


async def probe_rows(storage: Storage, now: Instant) -> AsyncIterator[RowsUnreadable]:
    """Check definitions, open executions and open runs. `foliot verify` also checks what is over."""
    found = [error.message async for error in unreadable_rows(storage, now)]
    found += [
        f'schedule "{schedule.id}" cannot be read'
        async for schedule in stored_schedules(storage)
        if schedule.is_unreadable
    ]
    if found:
        yield RowsUnreadable(rows=tuple(found[:_NAMED]), count=len(found))


async def probe_time_zones(storage: Storage) -> AsyncIterator[TicksMoved]:
    moved = [tick async for schedule in stored_schedules(storage) for tick in _moved_tick(schedule)]
    if moved:
        yield TicksMoved(tzdata=tzdata_version(), ticks=tuple(moved[:_NAMED]), count=len(moved))


def _moved_tick(schedule: Schedule) -> Iterator[MovedTick]:
    """Yield the next tick if the rule has another one than what is stored. Only time zones change without an edit."""
    revision, stored = schedule.revision, schedule.next_run_at
    is_compared = revision.spec.type is ScheduleType.CRON and not schedule.is_unreadable
    if not is_compared or stored is None or stored <= revision.opened_at:
        return
    now = Timetable(schedule.id, (revision,)).next(schedule.settled_until)
    if now != stored:
        yield MovedTick(schedule_id=schedule.id, stored=to_datetime(stored), now=moment(now))


async def probe_clock(storage: Storage, health: HealthDetails, now: Instant) -> AsyncIterator[ClockNotice]:
    """Return what processes have reported, what waits although none has, and the difference on this machine."""
    skew = skew_of(await storage.upkeep.read_clocks())
    here = () if skew is None else (ClockFault(HERE, ClockFaultKind.SKEW, skew, now),)
    effects = await storage.queries.clock_effects(now, limit=_NAMED)
    for notice in clock_notices((*here, *health.clock_faults), effects, now):
        yield notice


async def readable_jobs(storage: Storage) -> list[Job]:
    """Return all jobs that can be read; `probe_rows` reports the others."""
    found = each_of(lambda after: page_of_jobs(storage, after, PAGE), job_id_of)
    return [job async for job in found if not isinstance(job, RowUnreadable)]
