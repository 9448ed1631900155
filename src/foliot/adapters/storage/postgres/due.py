"""Which schedules ask for a decision, and everything the decision depends on.

The schedules are read first, with their versions. Whatever is read after that and has changed in between has raised a
version, and the decision made from it will not be saved; so no transaction is needed, and no lock.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from foliot.adapters.storage.due_batch import due_batch, read_revisions, read_specs
from foliot.adapters.storage.postgres.arrays import by_uid, columns
from foliot.adapters.storage.postgres.database import Database
from foliot.adapters.storage.rows import job_of, pause_of, planned_of, sort_out
from foliot.domain.firing import DueSchedule
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.limits import OVERLAP_PREFIX, overlap_key
from foliot.domain.schedule import Revision, ScheduleSpec
from foliot.ports.schedules import DueBatch, Unreadable

_Found = Mapping[str, Sequence[Any]]


class _Further(NamedTuple):
    """What only few schedules have, by uid."""

    revisions: Mapping[ScheduleUid, Sequence[Revision]]
    pauses: _Found
    planned: _Found
    in_flight: Mapping[str, int]


async def due_schedules(database: Database, project: str, limit: int, at: Instant | None) -> DueBatch:
    now = await database.now(at)
    rows = await database.rows("due_schedules", now, limit)
    if not rows:
        return DueBatch(now, [], {})
    specs, unreadable = read_specs([(row["uid"], row["id"], row["spec"]) for row in rows])
    further = await _further(database, rows, unreadable)
    apart = {one.uid for one in unreadable}
    schedules = [_due_schedule(row, specs, further) for row in rows if row["uid"] not in apart]
    job_ids = {revision.spec.target for schedule in schedules for revision in schedule.revisions}
    found = await database.rows("get_jobs", project, list(job_ids))
    return due_batch(now, schedules, unreadable, *sort_out(partial(job_of, project), found))


def _due_schedule(row: Any, specs: Mapping[str, ScheduleSpec], further: _Further) -> DueSchedule:
    uid, schedule_id, version, number, opened_at, spec, created_at, settled_until, behind_since = row
    revisions, pauses, planned, in_flight = further
    return DueSchedule(
        uid,
        schedule_id,
        version,
        created_at,
        # The schedule has a copy of its current revision, which is all that most need.
        tuple(revisions[uid]) if uid in revisions else (Revision(number, opened_at, specs[spec]),),
        settled_until,
        in_flight.get(uid, 0),
        tuple(map(pause_of, pauses[uid])) if uid in pauses else (),
        tuple(map(planned_of, planned[uid])) if uid in planned else (),
        behind_since,
    )


async def _further(database: Database, rows: Sequence[Any], unreadable: list[Unreadable]) -> _Further:
    """What cannot be read of it is added to `unreadable`."""
    uids = [row["uid"] for row in rows]
    planned = by_uid(await database.rows("planned_ticks", uids))
    pauses = by_uid(await database.rows("pauses_since", uids, [_first_open(row, planned) for row in rows]))
    revisions = await _earlier_revisions(database, rows, planned, unreadable)
    holds = await database.rows("count_in_flight", [overlap_key(uid) for uid in uids])
    return _Further(revisions, pauses, planned, {key.removeprefix(OVERLAP_PREFIX): runs for key, runs in holds})


def _first_open(row: Any, planned: _Found) -> Instant:
    """The first moment that is not decided yet."""
    uid, settled_until = row["uid"], Instant(row["settled_until"])
    return min([settled_until, *(found[0] for found in planned[uid])]) if uid in planned else settled_until


async def _earlier_revisions(
    database: Database, rows: Sequence[Any], planned: _Found, unreadable: list[Unreadable]
) -> dict[ScheduleUid, list[Revision]]:
    """All ruling revisions of schedules for which the current one is not enough."""
    asked = []
    for uid, _, _, number, opened_at, _, _, settled_until, _ in rows:
        oldest = min([number, *(found[2] for found in planned[uid])]) if uid in planned else number
        if opened_at > settled_until or oldest < number:
            asked.append((uid, settled_until, oldest))
    if not asked:
        return {}
    found = by_uid(await database.rows("revisions_since", *columns(asked)))
    names = {ScheduleUid(row["uid"]): ScheduleId(row["id"]) for row in rows}
    return read_revisions({ScheduleUid(uid): older for uid, older in found.items()}, names, unreadable)
