"""What is due, and what of it cannot be read, whatever the database."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from msgspec import Struct, ValidationError, convert

from foliot.adapters.storage.shared.documents import decode_schedule_spec, read_column
from foliot.adapters.storage.shared.row_types import Moment, instant_of, read_row, written
from foliot.adapters.storage.shared.rows import Row, sort_out
from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.run.run import NewRun
from foliot.domain.schedule.firing import DueSchedule, Firing
from foliot.domain.schedule.schedule import Pause, Revision, ScheduleSpec
from foliot.domain.schedule.tick import PlannedTick, TickOutcome
from foliot.errors import RowUnreadable
from foliot.ports.ledger import DueBatch, Unreadable

T = TypeVar("T")


class DueRow(Struct, array_like=True, frozen=True, gc=False):
    """The row of a schedule, as far as it is needed to decide about its moments."""

    uid: ScheduleUid
    id: ScheduleId
    version: int
    created_at: Moment
    number: int
    opened_at: Moment
    spec: Any
    settled_until: Moment
    behind_since: Moment | None


class Further(NamedTuple):
    """What only few schedules have, by uid."""

    revisions: Mapping[ScheduleUid, Sequence[Revision]]
    pauses: Mapping[ScheduleUid, Sequence[Pause]]
    planned: Mapping[ScheduleUid, Sequence[PlannedTick]]


def read_due(rows: Sequence[Row]) -> tuple[list[DueRow], list[Unreadable]]:
    """The columns of `DueRow`."""
    try:
        return convert([tuple(row) for row in rows], list[DueRow]), []
    except ValidationError:
        pass
    known, unreadable = [], []
    for row in rows:
        try:
            known.append(read_row(DueRow, row, "schedule", row[1]))
        except RowUnreadable as error:
            unreadable.append(_apart(written(row[0]), written(row[1]), error))
    return known, unreadable


def read_specs(rows: Sequence[DueRow], unreadable: list[Unreadable]) -> dict[str, ScheduleSpec]:
    """What documents say: schedules that say the same share one specification. Whose cannot be read is added to
    `unreadable`."""
    try:
        return {document: decode_schedule_spec(document) for document in {row.spec for row in rows}}
    except UNREADABLE:
        return _read_one_by_one(rows, unreadable)


def _read_one_by_one(rows: Iterable[DueRow], unreadable: list[Unreadable]) -> dict[str, ScheduleSpec]:
    specs: dict[str, ScheduleSpec] = {}
    for row in rows:
        try:
            specs[row.spec] = read_column(decode_schedule_spec, row.spec, "schedule", row.id)
        except RowUnreadable as error:
            unreadable.append(_apart(row.uid, row.id, error))
    return specs


def read_belongings(
    make: Callable[[Row], T],
    found: Mapping[Any, Sequence[Row]],
    names: Mapping[ScheduleUid, ScheduleId],
    unreadable: list[Unreadable],
) -> dict[ScheduleUid, list[T]]:
    """What belongs to schedules, which `names` has. Whose cannot be read is added to `unreadable`, unless it is
    there."""
    apart = {one.uid for one in unreadable}
    belongings: dict[ScheduleUid, list[T]] = {}
    for uid, rows in found.items():
        belongings[uid], errors = sort_out(make, rows)
        if errors and uid not in apart:
            unreadable.append(_apart(uid, names[uid], errors[0]))
    return belongings


def _apart(uid: str, schedule_id: str, error: RowUnreadable) -> Unreadable:
    return Unreadable(ScheduleUid(uid), ScheduleId(schedule_id), error.place_in(uid, schedule_id))


def due_schedule(row: DueRow, specs: Mapping[str, ScheduleSpec], further: Further, in_flight: int) -> DueSchedule:
    uid = row.uid
    revisions, pauses, planned = further
    return DueSchedule(
        uid,
        row.id,
        row.version,
        Instant(row.created_at),
        # The schedule has a copy of its current revision, which is all that most need.
        tuple(revisions[uid]) if uid in revisions else (Revision(row.number, Instant(row.opened_at), specs[row.spec]),),
        Instant(row.settled_until),
        in_flight,
        tuple(pauses[uid]) if uid in pauses else (),
        tuple(planned[uid]) if uid in planned else (),
        instant_of(row.behind_since),
    )


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


# -- Which firings a storage can save the short way, whatever the database.

_RAN: Final = TickOutcome.RAN


def is_punctual(firing: Firing) -> bool:
    """Whether it has one tick and nothing else, and the run of that tick is ready when it is due."""
    if len(firing.ticks) != 1 or len(firing.runs) != 1 or firing.waiting or firing.planned or firing.cancels_running:
        return False
    moment, [tick], [run] = firing.settled_until, firing.ticks, firing.runs
    return (
        firing.next_run_at is not None
        and firing.wake_at == firing.next_run_at
        and firing.behind_since is None
        and firing.last_scheduled_at == moment
        and tick == (moment, moment, 1, _RAN, tick.reason, moment, tick.revision, run.id, None)
        and run.tick is not None
        and (run.tick.uid, run.tick.scheduled_for) == (firing.uid, moment)
        and _is_plain(run)
    )


def _is_plain(run: NewRun) -> bool:
    options = run.options
    is_free = options.max_concurrent is None and options.concurrency_key is None and run.dedupe_key is None
    return is_free and run.overrides is None and run.parent_id is None and not run.is_gated
