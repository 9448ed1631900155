"""What is due, and what of it cannot be read, whatever the database."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from foliot.adapters.storage.documents import decode_schedule_spec, read_column
from foliot.adapters.storage.rows import Row, revision_of, sort_out
from foliot.domain.firing import DueSchedule
from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.job import Job
from foliot.domain.payload import UNREADABLE
from foliot.domain.schedule import Revision, ScheduleSpec
from foliot.errors import RowUnreadable
from foliot.ports.schedules import DueBatch, Unreadable

Written = tuple[ScheduleUid, ScheduleId, str]
"""Whose document it is, and the document."""


def read_specs(written: Sequence[Written]) -> tuple[dict[str, ScheduleSpec], list[Unreadable]]:
    """What documents say: schedules that say the same share one specification."""
    try:
        return {document: decode_schedule_spec(document) for document in {document for _, _, document in written}}, []
    except UNREADABLE:
        return _read_one_by_one(written)


def _read_one_by_one(written: Iterable[Written]) -> tuple[dict[str, ScheduleSpec], list[Unreadable]]:
    specs: dict[str, ScheduleSpec] = {}
    unreadable: list[Unreadable] = []
    for uid, schedule_id, document in written:
        try:
            specs[document] = read_column(decode_schedule_spec, document, "schedule", schedule_id)
        except RowUnreadable as error:
            unreadable.append(Unreadable(uid, schedule_id, error.place_in(uid, schedule_id)))
    return specs, unreadable


def read_revisions(
    found: Mapping[ScheduleUid, Sequence[Row]], names: Mapping[ScheduleUid, ScheduleId], unreadable: list[Unreadable]
) -> dict[ScheduleUid, list[Revision]]:
    """Revisions of schedules, which `names` has. Whose cannot be read is added to `unreadable`, unless it is there."""
    known = {one.uid for one in unreadable}
    revisions: dict[ScheduleUid, list[Revision]] = {}
    for uid, rows in found.items():
        revisions[uid], errors = sort_out(revision_of, rows)
        if errors and uid not in known:
            unreadable.append(Unreadable(uid, names[uid], errors[0].place_in(uid, names[uid])))
    return revisions


def due_batch(
    now: Instant,
    schedules: Sequence[DueSchedule],
    unreadable: Sequence[Unreadable],
    jobs: Sequence[Job],
    errors: Sequence[RowUnreadable],
) -> DueBatch:
    """`errors` are about jobs. Who starts one of those is set apart with what cannot be read itself."""
    known = {job.id: job for job in jobs}
    if not errors:
        return DueBatch(now, schedules, known, unreadable)
    apart = list(_without_job(schedules, {JobId(error.name): error for error in errors}))
    uids = {one.uid for one in apart}
    return DueBatch(now, [one for one in schedules if one.uid not in uids], known, [*unreadable, *apart])


def _without_job(schedules: Sequence[DueSchedule], errors: Mapping[JobId, RowUnreadable]) -> Iterator[Unreadable]:
    for schedule in schedules:
        targets = [revision.spec.target for revision in schedule.revisions]
        error = next((errors[target] for target in targets if target in errors), None)
        if error is not None:
            yield Unreadable(schedule.uid, schedule.id, error)
