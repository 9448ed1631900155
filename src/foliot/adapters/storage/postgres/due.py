"""Which schedules ask for a decision, and everything the decision depends on.

The schedules are read first, with their versions. Whatever is read after that and has changed in between has raised a
version, and the decision made from it will not be saved; so no transaction is needed, and no lock.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from foliot.adapters.storage.postgres.arrays import by_uid, columns
from foliot.adapters.storage.postgres.database import Database
from foliot.adapters.storage.shared.ledger import (
    DueRow,
    Further,
    due_batch,
    due_schedule,
    read_belongings,
    read_due,
    read_specs,
)
from foliot.adapters.storage.shared.rows import job_of, pause_of, planned_of, revision_of, sort_out
from foliot.domain.ids import ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.run.limits import OVERLAP_PREFIX, overlap_key
from foliot.domain.schedule.schedule import Revision
from foliot.domain.schedule.tick import PlannedTick
from foliot.ports.ledger import DueBatch, Unreadable

_Planned = Mapping[ScheduleUid, Sequence[PlannedTick]]


async def due_schedules(database: Database, project: str, limit: int, at: Instant | None) -> DueBatch:
    now = await database.now(at)
    found = await database.rows("due_schedules", now, limit)
    if not found:
        return DueBatch(now, [], {})
    rows, unreadable = read_due(found)
    specs = read_specs(rows, unreadable)
    further = await _further(database, rows, unreadable)
    holds = await database.rows("count_in_flight", [overlap_key(row.uid) for row in rows])
    in_flight = {key.removeprefix(OVERLAP_PREFIX): runs for key, runs in holds}
    apart = {one.uid for one in unreadable}
    schedules = [due_schedule(row, specs, further, in_flight.get(row.uid, 0)) for row in rows if row.uid not in apart]
    job_ids = {revision.spec.target for schedule in schedules for revision in schedule.revisions}
    jobs = await database.rows("get_jobs", project, list(job_ids))
    return due_batch(now, schedules, unreadable, *sort_out(partial(job_of, project), jobs))


async def _further(database: Database, rows: Sequence[DueRow], unreadable: list[Unreadable]) -> Further:
    """What cannot be read of it is added to `unreadable`."""
    names = {row.uid: row.id for row in rows}
    ahead = by_uid(await database.rows("planned_ticks", list(names)))
    planned = read_belongings(planned_of, ahead, names, unreadable)
    since = [_first_open(row, planned) for row in rows]
    resting = by_uid(await database.rows("pauses_since", list(names), since))
    pauses = read_belongings(pause_of, resting, names, unreadable)
    return Further(await _earlier_revisions(database, rows, planned, unreadable), pauses, planned)


def _first_open(row: DueRow, planned: _Planned) -> int:
    """The first moment that is not decided yet."""
    return min([row.settled_until, *(tick.scheduled_for for tick in planned.get(row.uid, ()))])


async def _earlier_revisions(
    database: Database, rows: Sequence[DueRow], planned: _Planned, unreadable: list[Unreadable]
) -> dict[ScheduleUid, list[Revision]]:
    """All ruling revisions of schedules for which the current one is not enough."""
    asked = []
    for row in rows:
        oldest = min([row.number, *(tick.revision for tick in planned.get(row.uid, ()))])
        if row.opened_at > row.settled_until or oldest < row.number:
            asked.append((row.uid, row.settled_until, oldest))
    if not asked:
        return {}
    found = by_uid(await database.rows("revisions_since", *columns(asked)))
    return read_belongings(revision_of, found, {row.uid: row.id for row in rows}, unreadable)
