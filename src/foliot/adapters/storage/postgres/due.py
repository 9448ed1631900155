"""Which schedules ask for a decision, and everything the decision depends on.

The schedules are read first, with their versions. Whatever is read after that and has changed in between has raised a
version, and the decision made from it will not be saved; so no transaction is needed, and no lock.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from foliot.adapters.storage.documents import decode_schedule_spec, legible
from foliot.adapters.storage.due_batch import due_batch
from foliot.adapters.storage.postgres.arrays import by_uid, columns
from foliot.adapters.storage.postgres.database import Database
from foliot.adapters.storage.rows import job_of, pause_of, planned_of, revision_of, sort_out
from foliot.domain.firing import DueSchedule
from foliot.domain.instant import Instant
from foliot.domain.limits import overlap_key
from foliot.domain.schedule import Revision
from foliot.errors import RowUnreadable
from foliot.ports.schedules import DueBatch, Illegible

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
    illegible: list[Illegible] = []
    schedules = [
        DueSchedule(
            uid=row["uid"],
            id=row["id"],
            version=row["version"],
            created_at=row["created_at"],
            revisions=revisions,
            settled_until=row["settled_until"],
            in_flight=in_flight.get(overlap_key(row["uid"]), 0),
            pauses=tuple(pause_of(found) for found in pauses.get(row["uid"], ())),
            planned=tuple(planned_of(found) for found in planned.get(row["uid"], ())),
            behind_since=row["behind_since"],
        )
        for row, revisions in _ruled(rows, earlier, illegible)
    ]
    job_ids = {revision.spec.target for schedule in schedules for revision in schedule.revisions}
    found = await database.rows("get_jobs", project, list(job_ids))
    return due_batch(now, schedules, illegible, *sort_out(partial(job_of, project), found))


def _ruled(
    rows: Iterable[Any], earlier: _Found, illegible: list[Illegible]
) -> Iterator[tuple[Any, tuple[Revision, ...]]]:
    """Each schedule with the revisions that rule it. What cannot be read is added to `illegible`."""
    for row in rows:
        uid, schedule_id = row["uid"], row["id"]
        older = earlier.get(uid)
        try:
            own = _own_revision(row)
            ruling = tuple(map(revision_of, older)) if older else (own,)
        except RowUnreadable as error:
            illegible.append(Illegible(uid, schedule_id, error.place_in(uid, schedule_id)))
        else:
            yield row, ruling


def _own_revision(row: Any) -> Revision:
    """The current one, of which the schedule itself has a copy."""
    spec = legible(decode_schedule_spec, row["spec"], "schedule", row["id"])
    return Revision(row["revision"], row["opened_at"], spec)


async def _pauses(database: Database, rows: Iterable[Any], planned: _Found) -> _Found:
    asked = [(row["uid"], _first_open(row, planned)) for row in rows]
    return by_uid(await database.rows("pauses_since", *columns(asked)))


async def _earlier_revisions(database: Database, rows: Iterable[Any], planned: _Found) -> _Found:
    """All ruling revisions of schedules for which the current one is not enough."""
    asked = []
    for row in rows:
        number = min([row["revision"], *(found[2] for found in planned.get(row["uid"], ()))])
        if row["opened_at"] > row["settled_until"] or number < row["revision"]:
            asked.append((row["uid"], row["settled_until"], number))
    if not asked:
        return {}
    return by_uid(await database.rows("revisions_since", *columns(asked)))


def _first_open(row: Any, planned: _Found) -> Instant:
    """The first moment that is not decided yet."""
    return Instant(min([row["settled_until"], *(found[0] for found in planned.get(row["uid"], ()))]))
