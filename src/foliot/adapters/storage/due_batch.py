"""What is due, and what of it cannot be read, whatever the database."""

from collections.abc import Iterator, Mapping, Sequence

from foliot.domain.firing import DueSchedule
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job import Job
from foliot.errors import RowUnreadable
from foliot.ports.schedules import DueBatch, Illegible


def due_batch(
    now: Instant,
    schedules: Sequence[DueSchedule],
    illegible: Sequence[Illegible],
    jobs: Sequence[Job],
    errors: Sequence[RowUnreadable],
) -> DueBatch:
    """`errors` are about jobs. Who starts one of those is set apart with what cannot be read itself."""
    known = {job.id: job for job in jobs}
    if not errors:
        return DueBatch(now, schedules, known, illegible)
    apart = list(_without_job(schedules, {JobId(error.name): error for error in errors}))
    uids = {one.uid for one in apart}
    return DueBatch(now, [one for one in schedules if one.uid not in uids], known, [*illegible, *apart])


def _without_job(schedules: Sequence[DueSchedule], errors: Mapping[JobId, RowUnreadable]) -> Iterator[Illegible]:
    for schedule in schedules:
        targets = [revision.spec.target for revision in schedule.revisions]
        error = next((errors[target] for target in targets if target in errors), None)
        if error is not None:
            yield Illegible(schedule.uid, schedule.id, error)
