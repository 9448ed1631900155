"""Which schedules ask for a decision, with everything the decision depends on."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from foliot.adapters.storage.documents import encode_names
from foliot.adapters.storage.due_batch import due_batch, read_revisions, read_specs
from foliot.adapters.storage.rows import job_of, ledger_of, sort_out
from foliot.adapters.storage.sqlite import edits
from foliot.adapters.storage.sqlite.connection import Row, Session
from foliot.adapters.storage.sqlite.jobs import job_rows
from foliot.adapters.storage.sqlite.ticks import SQL
from foliot.domain.firing import DueSchedule
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.limits import OVERLAP_PREFIX
from foliot.domain.schedule import Pause, Revision, ScheduleSpec
from foliot.domain.tick import PlannedTick
from foliot.ports.schedules import DueBatch, Ledger, Unreadable

_UID: Final = 0
_ID: Final = 1
_NUMBER: Final = 4
_OPENED_AT: Final = 5
_SPEC: Final = 6
_SETTLED_UNTIL: Final = 7
_HAS_PAUSES: Final = -2
_HAS_PLANNED: Final = -1


class _Further(NamedTuple):
    """What only few schedules have, by uid."""

    revisions: Mapping[ScheduleUid, Sequence[Revision]]
    pauses: Mapping[ScheduleUid, Sequence[Pause]]
    planned: Mapping[ScheduleUid, Sequence[PlannedTick]]


def due(session: Session, project: str, limit: int, now: Instant) -> DueBatch:
    """Most schedules need one row; what only a few have is fetched for those."""
    rows = session.rows(SQL["due_schedules"], (OVERLAP_PREFIX, now, limit))
    specs, unreadable = read_specs([(row[_UID], row[_ID], row[_SPEC]) for row in rows])
    further = _further(session, rows, unreadable)
    apart = {one.uid for one in unreadable}
    schedules = [_due_schedule(row, specs, further) for row in rows if row[_UID] not in apart]
    targets = {spec.target for spec in specs.values()}
    targets |= {revision.spec.target for revisions in further.revisions.values() for revision in revisions}
    jobs = sort_out(partial(job_of, project), job_rows(session, project, targets))
    return due_batch(now, schedules, unreadable, *jobs)


def _further(session: Session, rows: Sequence[Row], unreadable: list[Unreadable]) -> _Further:
    """What cannot be read of it is added to `unreadable`."""
    pauses = edits.pauses(session, [row[_UID] for row in rows if row[_HAS_PAUSES]])
    planned = edits.planned_ticks(session, [row[_UID] for row in rows if row[_HAS_PLANNED]])
    edited = {row[_UID]: row[_ID] for row in rows if _needs_older(row, planned)}
    revisions = read_revisions(edits.by_uid(session, "revisions", edited), edited, unreadable)
    return _Further(revisions, pauses, planned)


def _needs_older(row: Row, planned: Mapping[ScheduleUid, Sequence[PlannedTick]]) -> bool:
    """Whether moments that are not decided yet belong to an earlier revision."""
    if row[_SETTLED_UNTIL] < row[_OPENED_AT]:
        return True
    return row[_HAS_PLANNED] and any(tick.revision != row[_NUMBER] for tick in planned[row[_UID]])


def _due_schedule(row: Row, specs: Mapping[str, ScheduleSpec], further: _Further) -> DueSchedule:
    uid, schedule_id, version, created_at, number, opened_at, spec, settled_until, behind_since, in_flight, *_ = row
    revisions, pauses, planned = further
    return DueSchedule(
        uid,
        schedule_id,
        version,
        created_at,
        tuple(revisions[uid]) if uid in revisions else (Revision(number, opened_at, specs[spec]),),
        settled_until,
        in_flight,
        tuple(pauses[uid]) if uid in pauses else (),
        tuple(planned[uid]) if uid in planned else (),
        behind_since,
    )


def ledgers(
    session: Session, project: str, after: ScheduleUid | None, limit: int, ids: Collection[ScheduleId] | None
) -> list[Ledger]:
    """Schedules by uid, deleted ones included, with all that rules their ticks."""
    if ids is None:
        rows = session.rows(SQL["ledgers"], (after or "", limit))
    else:
        rows = session.rows(SQL["ledgers_of"], (after or "", limit, project, encode_names(ids)))
    uids = [row[1] for row in rows]
    belongings = [edits.by_uid(session, table, uids) for table in ("revisions", "pauses", "planned")]
    return [ledger_of(project, row[1:], row[0], *(of.get(row[1], ()) for of in belongings)) for row in rows]
