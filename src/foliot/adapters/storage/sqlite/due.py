"""Which schedules ask for a decision, with everything the decision depends on."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Final

from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.shared.ledger import (
    DueRow,
    Further,
    due_batch,
    due_schedule,
    read_belongings,
    read_due,
    read_specs,
)
from foliot.adapters.storage.shared.rows import job_of, ledger_of, pause_of, planned_of, revision_of, sort_out
from foliot.adapters.storage.sqlite import edits
from foliot.adapters.storage.sqlite.connection import Row, Session
from foliot.adapters.storage.sqlite.jobs import job_rows
from foliot.adapters.storage.sqlite.ticks import SQL
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.run.limits import OVERLAP_PREFIX
from foliot.domain.schedule.tick import PlannedTick
from foliot.ports.ledger import DueBatch, Unreadable
from foliot.ports.queries import ScheduleLedger

_OWN: Final = 9
"""How many columns are the schedule's own."""
_IN_FLIGHT, _HAS_PAUSES, _HAS_PLANNED = range(3)


def due(session: Session, project: str, limit: int, now: Instant) -> DueBatch:
    """Most schedules need one row; what only a few have is fetched for those."""
    found = session.rows(SQL["due_schedules"], (OVERLAP_PREFIX, now, limit))
    rows, unreadable = read_due([row[:_OWN] for row in found])
    beside = {row[0]: row[_OWN:] for row in found}
    specs = read_specs(rows, unreadable)
    further = _further(session, rows, beside, unreadable)
    apart = {one.uid for one in unreadable}
    schedules = [due_schedule(row, specs, further, beside[row.uid][_IN_FLIGHT]) for row in rows if row.uid not in apart]
    targets = {spec.target for spec in specs.values()}
    targets |= {revision.spec.target for revisions in further.revisions.values() for revision in revisions}
    jobs = sort_out(partial(job_of, project), job_rows(session, project, targets))
    return due_batch(now, schedules, unreadable, *jobs)


def _further(
    session: Session, rows: Sequence[DueRow], beside: Mapping[ScheduleUid, Row], unreadable: list[Unreadable]
) -> Further:
    """What cannot be read of it is added to `unreadable`."""
    resting = {row.uid: row.id for row in rows if beside[row.uid][_HAS_PAUSES]}
    ahead = {row.uid: row.id for row in rows if beside[row.uid][_HAS_PLANNED]}
    pauses = read_belongings(pause_of, edits.by_uid(session, "pauses", resting), resting, unreadable)
    planned = read_belongings(planned_of, edits.by_uid(session, "planned", ahead), ahead, unreadable)
    edited = {row.uid: row.id for row in rows if _needs_older(row, planned)}
    revisions = read_belongings(revision_of, edits.by_uid(session, "revisions", edited), edited, unreadable)
    return Further(revisions, pauses, planned)


def _needs_older(row: DueRow, planned: Mapping[ScheduleUid, Sequence[PlannedTick]]) -> bool:
    """Whether moments that are not decided yet belong to an earlier revision."""
    if row.settled_until < row.opened_at:
        return True
    return any(tick.revision != row.number for tick in planned.get(row.uid, ()))


def ledgers(
    session: Session, project: str, after: ScheduleUid | None, limit: int, ids: Collection[ScheduleId] | None
) -> list[ScheduleLedger]:
    """Schedules by uid, deleted ones included, with all that rules their ticks."""
    if ids is None:
        rows = session.rows(SQL["ledgers"], (after or "", limit))
    else:
        rows = session.rows(SQL["ledgers_of"], (after or "", limit, project, encode_names(ids)))
    return _ledgers(session, project, rows)


def _ledgers(session: Session, project: str, rows: Sequence[Row]) -> list[ScheduleLedger]:
    uids = [row[1] for row in rows]
    belongings = [edits.by_uid(session, table, uids) for table in ("revisions", "pauses", "planned")]
    return [ledger_of(project, row[1:], row[0], *(of.get(row[1], ()) for of in belongings)) for row in rows]
