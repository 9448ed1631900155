"""Which schedules ask for a decision, with everything the decision depends on."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from foliot.adapters.storage.documents import decode_schedule_spec, encode_names
from foliot.adapters.storage.rows import schedule_of
from foliot.adapters.storage.sqlite import edits
from foliot.adapters.storage.sqlite.connection import Row, Session
from foliot.adapters.storage.sqlite.jobs import get_jobs
from foliot.adapters.storage.sqlite.ticks import SQL
from foliot.domain.firing import DueSchedule
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.limits import OVERLAP_PREFIX
from foliot.domain.schedule import Pause, Revision
from foliot.domain.tick import PlannedTick
from foliot.ports.storage import DueBatch, Ledger

_HAS_PAUSES: Final = -2
_HAS_PLANNED: Final = -1


def due(session: Session, project: str, limit: int, now: Instant) -> DueBatch:
    """Most schedules need one row; what only a few have is fetched for those."""
    rows = session.rows(SQL["due_schedules"], (OVERLAP_PREFIX, now, limit))
    pauses = edits.pauses(session, [row[0] for row in rows if row[_HAS_PAUSES]])
    planned = edits.planned_ticks(session, [row[0] for row in rows if row[_HAS_PLANNED]])
    older = edits.revisions(session, [row[0] for row in rows if _needs_older(row, planned.get(row[0], ()))])
    schedules = [_due_schedule(row, older, pauses, planned) for row in rows]
    targets = {revision.spec.target for schedule in schedules for revision in schedule.revisions}
    jobs = get_jobs(session, project, targets)
    return DueBatch(now, schedules, jobs)


def _needs_older(row: Row, planned: Sequence[PlannedTick]) -> bool:
    """Whether moments that are not decided yet belong to an earlier revision."""
    _, _, _, _, number, opened_at, _, settled_until, *_ = row
    return bool(settled_until < opened_at) or any(tick.revision != number for tick in planned)


def _due_schedule(
    row: Row,
    older: Mapping[ScheduleUid, list[Revision]],
    pauses: Mapping[ScheduleUid, list[Pause]],
    planned: Mapping[ScheduleUid, list[PlannedTick]],
) -> DueSchedule:
    uid, schedule_id, version, created_at, number, opened_at, spec, settled_until, behind_since, in_flight, *_ = row
    revisions = older.get(uid) or (Revision(number, opened_at, decode_schedule_spec(spec)),)
    return DueSchedule(
        uid,
        schedule_id,
        version,
        created_at,
        tuple(revisions),
        settled_until,
        in_flight,
        tuple(pauses.get(uid, ())),
        tuple(planned.get(uid, ())),
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
    schedules = [(schedule_of(project, row[1:]), row[0]) for row in rows]
    uids = [schedule.uid for schedule, _ in schedules]
    revisions = edits.revisions(session, uids)
    pauses = edits.pauses(session, uids)
    planned = edits.planned_ticks(session, uids)
    return [
        Ledger(
            schedule,
            deleted_at,
            revisions.get(schedule.uid, ()),
            pauses.get(schedule.uid, ()),
            planned.get(schedule.uid, ()),
        )
        for schedule, deleted_at in schedules
    ]
