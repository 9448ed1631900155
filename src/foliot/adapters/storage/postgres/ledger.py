"""Turns due schedules into ticks and runs.

Reading takes no lock: the schedules are read first, with their versions. A change of any row that is read later also
raises the version of its schedule, so a decision based on outdated rows is not saved.

Saving locks the schedules in the order of their uids and compares their versions. A decision that was made from another
version changes nothing.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Final

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction, divide
from foliot.adapters.storage.postgres.database.values import by_uid, columns, shared
from foliot.adapters.storage.postgres.rows.admit import Admitter
from foliot.adapters.storage.postgres.rows.cancel import cancel_runs
from foliot.adapters.storage.postgres.rows.create import create_runs
from foliot.adapters.storage.postgres.rows.place import (
    Hold,
    Placement,
    add_holds,
    place,
    put_gated,
    put_later,
    save_limits,
)
from foliot.adapters.storage.shared.documents import decode_schedule_spec
from foliot.adapters.storage.shared.event_items import settled
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
from foliot.adapters.storage.shared.rows import Row, job_of, pause_of, planned_of, read_rows, revision_of
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import LATEST, Instant
from foliot.domain.run.limits import OVERLAP_PREFIX, Limit, overlap_key
from foliot.domain.run.run import PRIORITY_STEP, NewRun
from foliot.domain.schedule.firing import Firing
from foliot.domain.schedule.schedule import Revision
from foliot.domain.schedule.tick import PlannedTick, TickRecord
from foliot.errors import Unstorable
from foliot.ports.ledger import DueBatch, Unreadable
from foliot.ports.topic import Topic, topics_of_ready

_Planned = Mapping[ScheduleUid, Sequence[PlannedTick]]

_CONCURRENT_BATCHES: Final = 3
"""How many batches are saved concurrently. More would only open connections and wait for each other's pages."""


class PostgresLedger:
    """Fills `ports.ledger.Ledger`."""

    def __init__(self, database: Database, admitter: Admitter, project: str) -> None:
        self._database = database
        self._admitter = admitter
        self._project = project
        self._committing = asyncio.Semaphore(_CONCURRENT_BATCHES)

    async def due(self, limit: int, *, at: Instant | None = None) -> DueBatch:
        now = await self._database.now(at)
        return await self._batch(await self._database.rows("due_schedules", now, limit, self._project), now)

    async def due_after_boot(
        self, boot_id: str, booted_at: Instant, limit: int, *, at: Instant | None = None
    ) -> DueBatch:
        now = await self._database.now(at)
        return await self._batch(await self._database.rows("due_after_boot", boot_id, booted_at, limit), now)

    async def _batch(self, found: Sequence[Row], now: Instant) -> DueBatch:
        if not found:
            return DueBatch(now, [], {})
        rows, unreadable = read_due(found)
        specs = read_specs(rows, unreadable)
        parts = await _schedule_parts(self._database, self._project, rows, unreadable)
        if asking := skipping(rows, specs):
            found_at = await self._database.rows("last_successes", self._project, *columns(asking))
            parts = parts._replace(succeeded_at={uid: at for uid, at in found_at if at is not None})
        holds = await self._database.rows("count_in_flight", [overlap_key(row.uid) for row in rows])
        in_flight = {key.removeprefix(OVERLAP_PREFIX): runs for key, runs in holds}
        unreadable_uids = {one.uid for one in unreadable}
        schedules = [
            due_schedule(row, specs, parts, in_flight.get(row.uid, 0)) for row in rows if row.uid not in unreadable_uids
        ]
        job_ids = {revision.spec.target for schedule in schedules for revision in schedule.revisions}
        jobs = await self._database.rows("get_jobs", self._project, list(job_ids))
        read_jobs = read_rows(partial(job_of, self._project), jobs)
        return due_batch(now, schedules, unreadable, *read_jobs, pause_version=parts.project_pauses.version)

    async def commit_firings(
        self, firings: Sequence[Firing], *, pause_version: int | None = None, at: Instant | None = None
    ) -> list[ScheduleUid]:
        if not firings:
            return []
        async with self._committing:
            saved = set(await divide(firings, partial(self._commit_firings, pause_version=pause_version, at=at)))
        return [firing.uid for firing in firings if firing.uid in saved]

    async def _commit_firings(
        self, firings: Sequence[Firing], pause_version: int | None, at: Instant | None
    ) -> list[ScheduleUid]:
        if all(map(is_punctual, firings)):
            with suppress(Unstorable):
                return await self._commit_punctual(firings, pause_version, at)
        work = partial(commit_firings, project=self._project, firings=firings, pause_version=pause_version, at=at)
        return await self._admitter.write("commit_firings", work, at)

    async def _commit_punctual(
        self, firings: Sequence[Firing], pause_version: int | None, at: Instant | None
    ) -> list[ScheduleUid]:
        """Save with one statement (fast path). If one of the runs exists, or cannot be stored, nothing is saved."""

        async def work(transaction: Transaction) -> list[ScheduleUid]:
            # After a commit with a lost reply, one statement cannot find out what was saved.
            commit = commit_firings if transaction.is_repeat else _commit_punctual
            return await commit(transaction, self._project, firings, pause_version, at)

        return await self._database.write("commit_firings", work, is_single=True)

    async def next_wake(self, *, besides: Collection[ScheduleUid] = ()) -> Instant | None:
        asked = ("next_wake_besides", self._project, list(besides)) if besides else ("next_wake", self._project)
        wake: Instant | None = await self._database.value(*asked)
        return wake


# -- due schedules


async def _schedule_parts(
    database: Database, project: str, rows: Sequence[DueRow], unreadable: list[Unreadable]
) -> ScheduleParts:
    """Return planned ticks, pauses and earlier revisions. Unreadable rows are added to `unreadable`."""
    names = {row.uid: row.id for row in rows}
    planned_rows = by_uid(await database.rows("planned_ticks", list(names)))
    planned = read_schedule_parts(planned_of, planned_rows, names, unreadable)
    # The first undecided moment of each schedule.
    since = [first_undecided(row, planned) for row in rows]
    pause_rows = by_uid(await database.rows("pauses_since", list(names), since))
    pauses = read_schedule_parts(pause_of, pause_rows, names, unreadable)
    revisions = await _earlier_revisions(database, rows, planned, unreadable)
    project_pauses = project_pauses_of(await database.rows("project_pauses", project, min(since, default=LATEST)))
    return ScheduleParts(revisions, pauses, planned, project_pauses, {})


async def _earlier_revisions(
    database: Database, rows: Sequence[DueRow], planned: _Planned, unreadable: list[Unreadable]
) -> dict[ScheduleUid, list[Revision]]:
    """Return the open revisions of schedules that need more than the current one."""
    asked = []
    for row in rows:
        oldest = min([row.number, *(tick.revision for tick in planned.get(row.uid, ()))])
        if row.opened_at > row.settled_until or oldest < row.number:
            asked.append((row.uid, row.settled_until, oldest))
    if not asked:
        return {}
    found = by_uid(await database.rows("revisions_since", *columns(asked)))
    return read_schedule_parts(revision_of, found, {row.uid: row.id for row in rows}, unreadable)


# -- firings


async def commit_firings(
    transaction: Transaction, project: str, firings: Sequence[Firing], pause_version: int | None, at: Instant | None
) -> list[ScheduleUid]:
    """Save the firings that are still current, and return their uids."""
    is_current = await transaction.value("pause_version", project) == pause_version or pause_version is None
    now = await transaction.now(at)
    asked = {firing.uid: firing for firing in firings}
    perhaps_spent = [firing.uid for firing in firings if firing.next_run_at is None and not firing.planned]
    rows = {row["uid"]: row for row in await transaction.rows("lock_schedules", list(asked), perhaps_spent)}
    current = [firing for uid, firing in asked.items() if uid in rows and rows[uid]["version"] == firing.version]
    if not is_current:
        current = []
    if current:
        specs = {uid: row["spec"] for uid, row in rows.items() if row["spec"] is not None}
        spent = {
            firing.uid
            for firing in current
            if firing.uid in specs and firing.is_exhausted(decode_schedule_spec(specs[firing.uid]).type)
        }
        names = {uid: ScheduleId(row["id"]) for uid, row in rows.items()}
        await _save(transaction, project, current, names, now)
        await _advance(transaction, current, spent)
    saved = [firing.uid for firing in current]
    if transaction.is_repeat:
        others = [firing for firing in firings if firing.uid not in saved and firing.uid in rows]
        saved += await _saved_before(transaction, others, {uid: row["settled_until"] for uid, row in rows.items()})
    return saved


async def add_ticks(
    transaction: Transaction,
    names: Mapping[ScheduleUid, ScheduleId],
    ticks: Iterable[tuple[ScheduleUid, TickRecord]],
    now: Instant,
    keys: Mapping[RunId | None, str] = MappingProxyType({}),
) -> None:
    """Store ticks. `keys` has known idempotency keys by run: computing one takes a hash."""
    rows = [_tick_row(uid, keys.get(tick.run_id) or tick.key(names[uid]), tick) for uid, tick in ticks]
    if rows:
        await transaction.run("add_ticks", now, *columns(rows))


async def _save(
    transaction: Transaction,
    project: str,
    firings: Sequence[Firing],
    names: Mapping[ScheduleUid, ScheduleId],
    now: Instant,
) -> None:
    if superseded := [overlap_key(firing.uid) for firing in firings if firing.cancels_running]:
        await cancel_runs(transaction, await transaction.column("runs_in_flight", superseded), now)
    await _start(transaction, project, firings, now)
    ticks = ((firing.uid, tick) for firing in firings for tick in firing.ticks)
    keys: dict[RunId | None, str] = {
        run.id: run.tick.key for firing in firings for run in firing.runs if run.tick is not None
    }
    await add_ticks(transaction, names, ticks, now, keys)
    await transaction.run("take_planned", [firing.uid for firing in firings])
    planned = [(firing.uid, *tick) for firing in firings for tick in firing.planned]
    if planned:
        await transaction.run("add_planned", *columns(planned))
    boots = [(firing.uid, *firing.boot) for firing in firings if firing.boot is not None]
    if boots:
        await transaction.run("add_boots", *columns(boots))
    transaction.add_event(EventKind.TICKS_SETTLED, settled(firings))


async def _start(transaction: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> None:
    runs = [run for firing in firings for run in firing.runs]
    if not runs:
        return
    waiting = set().union(*(firing.waiting for firing in firings))
    fresh, _ = await create_runs(transaction, project, runs, now, are_ready=False)
    await _hold_overlap(transaction, fresh, waiting)
    await place(transaction, [Placement.of_new(run) for run in fresh if run.id not in waiting], now)
    # A run that waits for its overlap key does not wait for its limits yet; it may get the key before it is due.
    turns = [Placement.of_new(run) for run in fresh if run.id in waiting]
    await put_gated(transaction, [run for run in turns if run.is_gated])
    await put_later(transaction, [run for run in turns if run.due_at > now and not run.is_gated])


async def _hold_overlap(transaction: Transaction, runs: Sequence[NewRun], waiting: Collection[RunId]) -> None:
    """Give each run the overlap key of its schedule until it ends. Waiting runs get it in planned order."""
    holds = [
        Hold(overlap_key(run.tick.uid), run.id, run.tick.scheduled_for, run.id not in waiting)
        for run in runs
        if run.tick is not None
    ]
    queues = {hold.key for hold in holds if not hold.is_admitted}
    if queues:
        await save_limits(transaction, [Limit(key, 1) for key in queues])
    await add_holds(transaction, holds)


async def _advance(transaction: Transaction, firings: Sequence[Firing], spent: Collection[ScheduleUid]) -> None:
    rows = [
        (
            *(firing.uid, firing.settled_until, firing.next_run_at, firing.wake_at, firing.behind_since),
            *(firing.last_scheduled_at, firing.uid in spent),
        )
        for firing in firings
    ]
    await transaction.run("advance_schedules", *columns(rows))


async def _saved_before(
    transaction: Transaction, firings: Sequence[Firing], settled_until: Mapping[ScheduleUid, Instant]
) -> list[ScheduleUid]:
    """Return what a commit with a lost reply saved: firings whose first run exists, or whose watermark is stored."""
    run_ids = [firing.runs[0].id for firing in firings if firing.runs]
    made = set(await transaction.column("existing_runs", run_ids)) if run_ids else set()
    return [
        firing.uid
        for firing in firings
        if (firing.runs[0].id in made if firing.runs else settled_until[firing.uid] == firing.settled_until)
    ]


def _tick_row(uid: ScheduleUid, key: str | None, tick: TickRecord) -> tuple[object, ...]:
    moment, until, count, outcome, reason, fire_at, revision, run_id, into = tick
    return uid, moment, until, count, outcome.value, reason.value, fire_at, revision, run_id, into, key


# -- punctual firings (`shared.ledger`), in one statement


async def _commit_punctual(
    transaction: Transaction, project: str, firings: Sequence[Firing], pause_version: int | None, at: Instant | None
) -> list[ScheduleUid]:
    """Save the firings that are still current, and return their uids. Raises for a run that exists already."""
    ordered = sorted({firing.uid: firing for firing in firings}.values(), key=lambda firing: firing.uid)
    ticks = [firing.ticks[0] for firing in ordered]
    runs = [firing.runs[0] for firing in ordered]
    options = [run.options for run in runs]
    arrays, values = shared(
        [
            *([firing.version for firing in ordered], [firing.wake_at for firing in ordered]),
            *([tick.scheduled_for for tick in ticks], [tick.reason for tick in ticks]),
            [tick.revision for tick in ticks],
            *([run.job_id for run in runs], [one.lane for one in options], [one.priority for one in options]),
            *([run.trigger for run in runs], [run.due_at for run in runs]),
            [None if run.payload is None else run.payload.decode() for run in runs],
        ]
    )
    [[now, saved]] = await transaction.rows(
        "commit_punctual",
        *(project, at, PRIORITY_STEP, OVERLAP_PREFIX),
        *([firing.uid for firing in ordered], [run.id for run in runs], [run.tick.key for run in runs if run.tick]),
        *(*arrays, *values, pause_version),
    )
    if not saved:
        return []
    transaction.topics |= {Topic.EVENTS, *topics_of_ready(one.lane for one in options)}
    transaction.topics |= {Topic.LATER} if any(run.due_at > now for run in runs) else set()
    return [ScheduleUid(uid) for uid in saved.split()]
