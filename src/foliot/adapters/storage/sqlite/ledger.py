"""Reads due schedules, and saves their firings: ticks, runs and watermark in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Final

from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.documents import decode_schedule_spec, encode, encode_names
from foliot.adapters.storage.shared.ledger import (
    DueRow,
    ScheduleParts,
    due_batch,
    due_schedule,
    first_undecided,
    is_punctual,
    read_due,
    read_schedule_parts,
    read_specs,
    skipping,
)
from foliot.adapters.storage.shared.project_pauses import project_pauses_of
from foliot.adapters.storage.shared.row_types import instant_of
from foliot.adapters.storage.shared.rows import job_of, pause_of, planned_of, read_rows, revision_of
from foliot.adapters.storage.sqlite.database.context import PortBase
from foliot.adapters.storage.sqlite.database.errors import UNSTORABLE
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Row, Session
from foliot.adapters.storage.sqlite.rows.admit import admit_keys
from foliot.adapters.storage.sqlite.rows.cancel import cancel_runs
from foliot.adapters.storage.sqlite.rows.create import insert_runs
from foliot.adapters.storage.sqlite.rows.place import place
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import LATEST, Instant
from foliot.domain.run.limits import OVERLAP_PREFIX, overlap_key
from foliot.domain.run.run import PRIORITY_STEP, NewRun
from foliot.domain.schedule.firing import Firing
from foliot.domain.schedule.tick import PlannedTick
from foliot.ports.ledger import DueBatch, Unreadable
from foliot.ports.topic import topics_of_ready

_OWN: Final = 9
"""The number of columns of `due_schedules` that belong to `DueRow`."""
_IN_FLIGHT, _HAS_PAUSES, _HAS_PLANNED = range(3)


class SqliteLedger(PortBase):
    """Fills `ports.ledger.Ledger`."""

    async def due(self, limit: int, *, at: Instant | None = None) -> DueBatch:
        def query(session: Session) -> DueBatch:
            now = self._context.now(at)
            found = session.rows(SQL["due_schedules"], (OVERLAP_PREFIX, now, limit, self._project))
            return _batch(session, self._project, found, now)

        return await self._reader.read(query)

    async def due_after_boot(
        self, boot_id: str, booted_at: Instant, limit: int, *, at: Instant | None = None
    ) -> DueBatch:
        def query(session: Session) -> DueBatch:
            found = session.rows(SQL["due_after_boot"], (OVERLAP_PREFIX, boot_id, booted_at, limit))
            return _batch(session, self._project, found, self._context.now(at))

        return await self._reader.read(query)

    async def commit_firings(
        self, firings: Sequence[Firing], *, pause_version: int | None = None, at: Instant | None = None
    ) -> list[ScheduleUid]:
        def work(tx: Transaction) -> list[ScheduleUid]:
            if pause_version is not None and tx.value(SQL["pause_version"], (self._project,)) != pause_version:
                return []
            return _commit_firings(tx, self._project, firings, tx.now(at))

        return await self._writer.submit("commit_firings", work)

    async def next_wake(self, *, besides: Collection[ScheduleUid] = ()) -> Instant | None:
        if besides:
            values = (self._project, encode_names(besides))
            row = self._reader.peek(lambda session: session.row(SQL["next_wake_besides"], values))
        else:
            row = self._reader.peek(lambda session: session.row(SQL["next_wake"], (self._project,)))
        return None if row is None else instant_of(row[0])


# -- due


def _batch(session: Session, project: str, found: Sequence[Row], now: Instant) -> DueBatch:
    """Decode due schedules. Most need one row; pauses, planned ticks and older revisions are read only for a few."""
    rows, unreadable = read_due([row[:_OWN] for row in found])
    extra_columns = {row[0]: row[_OWN:] for row in found}
    specs = read_specs(rows, unreadable)
    parts = _schedule_parts(session, project, rows, extra_columns, unreadable)
    if asking := skipping(rows, specs):
        found_at = session.rows(SQL["last_successes"], (project, encode(asking)))
        parts = parts._replace(succeeded_at={uid: at for uid, at in found_at if at is not None})
    unreadable_uids = {one.uid for one in unreadable}
    schedules = [
        due_schedule(row, specs, parts, extra_columns[row.uid][_IN_FLIGHT])
        for row in rows
        if row.uid not in unreadable_uids
    ]
    targets = {spec.target for spec in specs.values()}
    targets |= {revision.spec.target for revisions in parts.revisions.values() for revision in revisions}
    jobs = read_rows(partial(job_of, project), session.rows(SQL["get_jobs"], (project, encode_names(targets))))
    return due_batch(now, schedules, unreadable, *jobs, pause_version=parts.project_pauses.version)


def _schedule_parts(
    session: Session,
    project: str,
    rows: Sequence[DueRow],
    extra_columns: Mapping[ScheduleUid, Row],
    unreadable: list[Unreadable],
) -> ScheduleParts:
    """Read the parts of schedules. Schedules with an unreadable row are added to `unreadable`."""
    with_pauses = {row.uid: row.id for row in rows if extra_columns[row.uid][_HAS_PAUSES]}
    with_planned = {row.uid: row.id for row in rows if extra_columns[row.uid][_HAS_PLANNED]}
    pauses = read_schedule_parts(pause_of, _of_schedules(session, "pauses", with_pauses), with_pauses, unreadable)
    planned = read_schedule_parts(
        planned_of, _of_schedules(session, "planned_ticks", with_planned), with_planned, unreadable
    )
    edited = {row.uid: row.id for row in rows if _needs_older(row, planned)}
    revisions = read_schedule_parts(revision_of, _of_schedules(session, "revisions", edited), edited, unreadable)
    undecided = min((first_undecided(row, planned) for row in rows), default=LATEST)
    project_pauses = project_pauses_of(session.rows(SQL["project_pauses"], (project, undecided)))
    return ScheduleParts(revisions, pauses, planned, project_pauses, {})


def _of_schedules(session: Session, query: str, uids: Collection[ScheduleUid]) -> Mapping[ScheduleUid, list[Row]]:
    return session.grouped(SQL[query], (encode_names(uids),)) if uids else {}


def _needs_older(row: DueRow, planned: Mapping[ScheduleUid, Sequence[PlannedTick]]) -> bool:
    """Whether undecided moments belong to an earlier revision."""
    if row.settled_until < row.opened_at:
        return True
    return any(tick.revision != row.number for tick in planned.get(row.uid, ()))


# -- commit_firings


class _OutOfDate(Exception):
    """A schedule has another version than its firing was decided for."""


def _commit_firings(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> list[ScheduleUid]:
    """Save each firing whose schedule still has the version it was decided for. The others change nothing."""
    saved = firings
    if not _try_save(tx, project, saved, now):
        saved = _current(tx, firings)
        if not _try_save(tx, project, saved, now):
            # A tick that is already in the ledger, or a run that cannot be stored: only its own firing is refused.
            saved = [firing for firing in saved if _try_save(tx, project, [firing], now)]
    tx.add_event(now, EventKind.TICKS_SETTLED, event_items.settled(saved))
    return [firing.uid for firing in saved]


def _current(tx: Transaction, firings: Sequence[Firing]) -> list[Firing]:
    """Return the firings whose schedule has the expected version; for one schedule only the first."""
    uids = encode_names({firing.uid for firing in firings})
    versions: dict[ScheduleUid, int] = dict(tx.rows(SQL["versions"], (uids,)))
    current = []
    for firing in firings:
        if versions.get(firing.uid) == firing.version:
            current.append(firing)
            del versions[firing.uid]  # a second firing in one batch was decided before the first was saved
    return current


def _try_save(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> bool:
    """Save all firings, or no firing. Return whether they were saved."""
    try:
        with tx.savepoint():
            _advance(tx, firings)
            are_punctual = all(is_punctual(firing) and firing.runs[0].due_at <= now for firing in firings)
            save = save_punctual if are_punctual else save_any
            save(tx, project, firings, now)
    except (_OutOfDate, *UNSTORABLE):
        return False
    return True


def _advance(tx: Transaction, firings: Sequence[Firing]) -> None:
    """Advance the schedules. This compares the versions: a row is updated only in the version that was read."""
    exhausted = _exhausted(tx, [firing for firing in firings if firing.next_run_at is None])
    rows = [
        (
            firing.uid,
            firing.version,
            firing.settled_until,
            firing.next_run_at,
            firing.wake_at,
            firing.last_scheduled_at,
            firing.behind_since,
            firing.uid in exhausted,
        )
        for firing in firings
    ]
    if tx.run_many(SQL["advance_schedules"], rows) != len(rows):
        raise _OutOfDate


def _exhausted(tx: Transaction, firings: Sequence[Firing]) -> set[ScheduleUid]:
    if not firings:
        return set()
    rows = tx.rows(SQL["specs"], (encode_names(firing.uid for firing in firings),))
    kinds = {uid: decode_schedule_spec(spec).type for uid, spec in rows}
    return {firing.uid for firing in firings if firing.uid in kinds and firing.is_exhausted(kinds[firing.uid])}


def save_any(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> None:
    """Save ticks and runs of firings of any kind, after their schedules were advanced."""
    for firing in firings:
        if firing.cancels_running:
            cancel_runs(tx, tx.column(SQL["runs_in_flight"], (overlap_key(firing.uid),)), now)
    tx.rows(SQL["take_planned"], (encode_names(firing.uid for firing in firings),))
    tx.run_many(SQL["add_planned"], [(firing.uid, *tick) for firing in firings for tick in firing.planned])
    tx.run_many(SQL["add_boots"], [(firing.uid, *firing.boot) for firing in firings if firing.boot is not None])
    _add_ticks(tx, firings, now)
    _create_runs(tx, project, [firing for firing in firings if firing.runs], now)


def _add_ticks(tx: Transaction, firings: Sequence[Firing], now: Instant) -> None:
    """Add the rows of the ledger. A tick with a run has the key of its run; for others the schedule's id is needed."""
    keys: dict[RunId | None, str] = {
        run.id: run.tick.key for firing in firings for run in firing.runs if run.tick is not None
    }
    quiet = {firing.uid for firing in firings if len(firing.ticks) != len(firing.runs)}
    names: dict[ScheduleUid, ScheduleId] = dict(tx.rows(SQL["names"], (encode_names(quiet),))) if quiet else {}
    rows = [
        (firing.uid, *tick, keys.get(tick.run_id) or tick.key(names[firing.uid]), now)
        for firing in firings
        for tick in firing.ticks
    ]
    tx.run_many(SQL["add_ticks"], rows)


def _create_runs(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> None:
    runs = [run for firing in firings for run in firing.runs]
    waiting: set[RunId] = set().union(*(firing.waiting for firing in firings))
    placements = insert_runs(tx, project, runs, now, waiting)
    holds = [
        (overlap_key(run.tick.uid), run.id not in waiting, run.tick.scheduled_for, run.id)
        for run in runs
        if run.tick is not None
    ]
    tx.run_many(SQL["add_holds"], holds)
    keys = place(tx, placements, now)
    # A run that was in flight when the firing was decided may have ended by now.
    overlaps = {overlap_key(firing.uid) for firing in firings if firing.waiting}
    admit_keys(tx, keys | overlaps)


def save_punctual(tx: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> None:
    """Save ticks and runs of punctual firings, whose runs are due, after their schedules were advanced.

    The runs are written one by one. The rows of ledger, holds and queue are written by one statement each, which reads
    the runs again: that takes half the time of binding the values of each row.
    """
    alike: dict[tuple[int, str], list[NewRun]] = {}
    for firing in firings:
        [tick], [run] = firing.ticks, firing.runs
        alike.setdefault((tick.revision, tick.reason.value), []).append(run)
    for (revision, reason), runs in alike.items():
        newest = tx.value(SQL["newest_run"])
        tx.run_many(SQL["create_punctual_runs"], [_punctual_row(run, project, now) for run in runs])
        tx.run(SQL["add_punctual_ticks"], (newest, reason, revision, now))
        tx.run(SQL["hold_punctual_runs"], (newest, OVERLAP_PREFIX))
        tx.run(SQL["ready_punctual_runs"], (newest, PRIORITY_STEP))
        tx.ring(*topics_of_ready(run.options.lane for run in runs))
    tx.add_event(now, EventKind.RUNS_CREATED, event_items.created(firing.runs[0] for firing in firings))


def _punctual_row(run: NewRun, project: str, now: Instant) -> tuple[object, ...]:
    options = run.options
    what = (run.id, project, run.job_id, options.lane, options.priority, run.trigger, run.due_at, now, run.payload)
    return (*what, *(run.tick or ()))
