"""Which schedules ask for a decision, and everything the decision depends on.

The schedules are read first, with their versions. Whatever is read after that and has changed in between has raised a
version, and the decision made from it will not be saved; so no transaction is needed, and no lock.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foliot.adapters.storage.postgres.arrays import by_uid, columns
from foliot.adapters.storage.postgres.database import Database
from foliot.adapters.storage.rows import job_of, pause_of, planned_of, revision_of
from foliot.domain.firing import DueSchedule
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job import Job
from foliot.domain.limits import overlap_key
from foliot.domain.schedule import Revision
from foliot.ports.schedules import DueBatch

_Found = Mapping[str, Sequence[Any]]


async def due_schedules(database: Database, project: str, limit: int, at: Instant | None) -> DueBatch:
    now = await database.now(at)
    rows = await database.rows("due_schedules", now, limit)
    if not rows:
        return DueBatch(now, [], {})
    uids = [row["uid"] for row in rows]
    planned = by_uid(await database.rows("planned_ticks", uids))
    pauses = await _pauses(database, rows, planned)
    earlier = await _earlier_revisions(database, rows, planned)
    in_flight = dict(await database.rows("count_in_flight", [overlap_key(uid) for uid in uids]))
    schedules = [
        DueSchedule(
            uid=row["uid"],
            id=row["id"],
            version=row["version"],
            created_at=row["created_at"],
            revisions=earlier.get(row["uid"]) or (revision_of((row["revision"], row["opened_at"], row["spec"])),),
            settled_until=row["settled_until"],
            in_flight=in_flight.get(overlap_key(row["uid"]), 0),
            pauses=tuple(pause_of(found) for found in pauses.get(row["uid"], ())),
            planned=tuple(planned_of(found) for found in planned.get(row["uid"], ())),
            behind_since=row["behind_since"],
        )
        for row in rows
    ]
    return DueBatch(now, schedules, await _jobs(database, project, schedules))


async def _pauses(database: Database, rows: Iterable[Any], planned: _Found) -> _Found:
    asked = [(row["uid"], _first_open(row, planned)) for row in rows]
    return by_uid(await database.rows("pauses_since", *columns(asked)))


async def _earlier_revisions(
    database: Database, rows: Iterable[Any], planned: _Found
) -> dict[str, tuple[Revision, ...]]:
    """All ruling revisions of schedules for which the current one is not enough."""
    asked = []
    for row in rows:
        number = min([row["revision"], *(found[2] for found in planned.get(row["uid"], ()))])
        if row["opened_at"] > row["settled_until"] or number < row["revision"]:
            asked.append((row["uid"], row["settled_until"], number))
    if not asked:
        return {}
    found = by_uid(await database.rows("revisions_since", *columns(asked)))
    return {uid: tuple(revision_of(row) for row in rows) for uid, rows in found.items()}


async def _jobs(database: Database, project: str, schedules: Iterable[DueSchedule]) -> dict[JobId, Job]:
    """The jobs they start. A workflow is looked for under its own name."""
    job_ids = {revision.spec.target for schedule in schedules for revision in schedule.revisions}
    rows = await database.rows("get_jobs", project, list(job_ids))
    return {job.id: job for job in (job_of(project, row) for row in rows)}


def _first_open(row: Any, planned: _Found) -> Instant:
    """The first moment that is not decided yet."""
    return Instant(min([row["settled_until"], *(found[0] for found in planned.get(row["uid"], ()))]))
