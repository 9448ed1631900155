"""Decodes due schedules with their parts, and decides which firings an adapter can save in one statement."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from msgspec import Struct, ValidationError, convert

from foliot.adapters.storage.shared.documents import decode_schedule_spec, read_column
from foliot.adapters.storage.shared.project_pauses import ProjectPauses
from foliot.adapters.storage.shared.row_types import Moment, as_text, instant_of, read_row
from foliot.adapters.storage.shared.rows import Row, read_rows
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
    """The columns of a schedule that are needed to plan its firing."""

    uid: ScheduleUid
    id: ScheduleId
    version: int
    created_at: Moment
    number: int
    opened_at: Moment
    spec: Any
    settled_until: Moment
    behind_since: Moment | None


class ScheduleParts(NamedTuple):
    """Rows that only few schedules have, by uid."""

    revisions: Mapping[ScheduleUid, Sequence[Revision]]
    pauses: Mapping[ScheduleUid, Sequence[Pause]]
    planned: Mapping[ScheduleUid, Sequence[PlannedTick]]
    project_pauses: ProjectPauses
    succeeded_at: Mapping[ScheduleUid, Instant]


def first_undecided(row: DueRow, planned: Mapping[ScheduleUid, Sequence[PlannedTick]]) -> Instant:
    """Return a moment up to which nothing of the schedule is undecided. Planned ticks are before the watermark."""
    moments = [tick.scheduled_for - 1 for tick in planned.get(row.uid, ())]
    return Instant(min([row.settled_until, *moments]))


def read_due(rows: Sequence[Row]) -> tuple[list[DueRow], list[Unreadable]]:
    """Decode rows with the columns of `DueRow`."""
    try:
        return convert([tuple(row) for row in rows], list[DueRow]), []
    except ValidationError:
        pass
    known, unreadable = [], []
    for row in rows:
        try:
            known.append(read_row(DueRow, row, "schedule", row[1]))
        except RowUnreadable as error:
            unreadable.append(_unreadable(as_text(row[0]), as_text(row[1]), error))
    return known, unreadable


def read_specs(rows: Sequence[DueRow], unreadable: list[Unreadable]) -> dict[str, ScheduleSpec]:
    """Decode the specifications, by document: schedules with the same document share one specification.

    Schedules whose document cannot be read are added to `unreadable`.
    """
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
            unreadable.append(_unreadable(row.uid, row.id, error))
    return specs


def read_schedule_parts(
    make: Callable[[Row], T],
    found: Mapping[Any, Sequence[Row]],
    names: Mapping[ScheduleUid, ScheduleId],
    unreadable: list[Unreadable],
) -> dict[ScheduleUid, list[T]]:
    """Decode rows of schedules by uid. Schedules with an unreadable row are added to `unreadable`, once.

    `names` has the id of each schedule.
    """
    reported = {one.uid for one in unreadable}
    belongings: dict[ScheduleUid, list[T]] = {}
    for uid, rows in found.items():
        belongings[uid], errors = read_rows(make, rows)
        if errors and uid not in reported:
            unreadable.append(_unreadable(uid, names[uid], errors[0]))
    return belongings


def _unreadable(uid: str, schedule_id: str, error: RowUnreadable) -> Unreadable:
    return Unreadable(ScheduleUid(uid), ScheduleId(schedule_id), error.place_in(uid, schedule_id))


def due_schedule(row: DueRow, specs: Mapping[str, ScheduleSpec], parts: ScheduleParts, in_flight: int) -> DueSchedule:
    uid = row.uid
    revisions, pauses, planned, (project_pauses, _), succeeded_at = parts
    return DueSchedule(
        uid,
        row.id,
        row.version,
        Instant(row.created_at),
        # The row contains a copy of the current revision, and most schedules need no other one.
        tuple(revisions[uid]) if uid in revisions else (Revision(row.number, Instant(row.opened_at), specs[row.spec]),),
        Instant(row.settled_until),
        in_flight,
        _all_pauses(row, parts) if project_pauses else tuple(pauses[uid]) if uid in pauses else (),
        tuple(planned[uid]) if uid in planned else (),
        instant_of(row.behind_since),
        succeeded_at.get(uid),
    )


def skipping(rows: Sequence[DueRow], specs: Mapping[str, ScheduleSpec]) -> list[tuple[ScheduleUid, JobId]]:
    """Return the schedules with `skip_if_successful`, and their jobs."""
    known = [(row.uid, specs[row.spec]) for row in rows if row.spec in specs]
    return [(uid, spec.target) for uid, spec in known if spec.skip_if_successful]


def _all_pauses(row: DueRow, parts: ScheduleParts) -> tuple[Pause, ...]:
    """Return the schedule's pauses and those of the project that have undecided moments."""
    after = first_undecided(row, parts.planned)
    open_pauses = [one for one in parts.project_pauses.pauses if one.until is None or one.until > after]
    return (*parts.pauses.get(row.uid, ()), *(one.pause_of(row.uid) for one in open_pauses))


def due_batch(
    now: Instant,
    schedules: Sequence[DueSchedule],
    unreadable: Sequence[Unreadable],
    jobs: Sequence[Job],
    errors: Sequence[RowUnreadable],
    *,
    pause_version: int,
) -> DueBatch:
    """Return the due schedules. A schedule that starts a job of `errors` is reported as unreadable."""
    known = {job.id: job for job in jobs}
    if not errors:
        return DueBatch(now, schedules, known, unreadable, pause_version)
    without_job = list(_without_job(schedules, {JobId(error.name): error for error in errors}))
    uids = {one.uid for one in without_job}
    readable = [one for one in schedules if one.uid not in uids]
    return DueBatch(now, readable, known, [*unreadable, *without_job], pause_version)


def _without_job(schedules: Sequence[DueSchedule], errors: Mapping[JobId, RowUnreadable]) -> Iterator[Unreadable]:
    for schedule in schedules:
        targets = [revision.spec.target for revision in schedule.revisions]
        error = next((errors[target] for target in targets if target in errors), None)
        if error is not None:
            yield Unreadable(schedule.uid, schedule.id, error)


# -- the fast path for firings

_RAN: Final = TickOutcome.RAN


def is_punctual(firing: Firing) -> bool:
    """Whether the firing has one tick that is on time, and its run has no limits, overrides, gate or dedupe key."""
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
