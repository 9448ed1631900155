"""Saving decisions about due schedules: ticks, runs and the advanced watermark, one statement per table.

The schedules are locked in the order of their uids, and their versions compared. A decision that was made from an older
version changes nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.cancelling import cancel_runs
from foliot.adapters.storage.postgres.creating import create_runs
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.postgres.placing import Hold, Standing, add_holds, place, put_gated, put_later, save_limits
from foliot.adapters.storage.shared.documents import decode_schedule_spec
from foliot.adapters.storage.shared.event_items import settled
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.run.limits import Limit, overlap_key
from foliot.domain.run.run import NewRun
from foliot.domain.schedule.firing import Firing
from foliot.domain.schedule.tick import TickRecord


async def settle_firings(
    transaction: Transaction, project: str, firings: Sequence[Firing], at: Instant | None
) -> list[ScheduleUid]:
    """Save the decisions that are still current; the uids of those come back."""
    now = await transaction.now(at)
    asked = {firing.uid: firing for firing in firings}
    perhaps_spent = [firing.uid for firing in firings if firing.next_run_at is None and not firing.planned]
    rows = {row["uid"]: row for row in await transaction.rows("lock_schedules", list(asked), perhaps_spent)}
    current = [firing for uid, firing in asked.items() if uid in rows and rows[uid]["version"] == firing.version]
    if current:
        spent = {firing.uid for firing in current if _is_exhausted(firing, rows[firing.uid]["spec"])}
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
    """`keys` are those known already, by the run that was made for the tick: making one takes a hash."""
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
    await _supersede(transaction, [firing.uid for firing in firings if firing.cancels_running], now)
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
    transaction.note(EventKind.TICKS_SETTLED, settled(firings))


async def _supersede(transaction: Transaction, uids: Collection[ScheduleUid], now: Instant) -> None:
    """End whatever these schedules have under way."""
    if uids:
        in_flight = await transaction.column("runs_in_flight", [overlap_key(uid) for uid in uids])
        await cancel_runs(transaction, in_flight, now)


async def _start(transaction: Transaction, project: str, firings: Sequence[Firing], now: Instant) -> None:
    runs = [run for firing in firings for run in firing.runs]
    if not runs:
        return
    waiting = set().union(*(firing.waiting for firing in firings))
    fresh, _ = await create_runs(transaction, project, runs, now, are_ready=False)
    await _hold_overlap(transaction, fresh, waiting)
    await place(transaction, [Standing.of_new(run) for run in fresh if run.id not in waiting], now)
    # A run that waits for its turn asks for nothing else; but one for later is not due when its turn comes.
    turns = [Standing.of_new(run) for run in fresh if run.id in waiting]
    await put_gated(transaction, [run for run in turns if run.is_gated])
    await put_later(transaction, [run for run in turns if run.due_at > now and not run.is_gated])


async def _hold_overlap(transaction: Transaction, runs: Sequence[NewRun], waiting: Collection[RunId]) -> None:
    """Each run is in flight, for its schedule, until it is terminal. Those that wait are served in planned order."""
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
    """Those that a commit in doubt had saved: their runs are there, or their watermark, where they made no run."""
    run_ids = [firing.runs[0].id for firing in firings if firing.runs]
    made = set(await transaction.column("existing_runs", run_ids)) if run_ids else set()
    return [
        firing.uid
        for firing in firings
        if (firing.runs[0].id in made if firing.runs else settled_until[firing.uid] == firing.settled_until)
    ]


def _is_exhausted(firing: Firing, spec: str | None) -> bool:
    """The specification is there where it is needed."""
    return spec is not None and firing.is_exhausted(decode_schedule_spec(spec).type)


def _tick_row(uid: ScheduleUid, key: str | None, tick: TickRecord) -> tuple[object, ...]:
    moment, until, count, outcome, reason, fire_at, revision, run_id, into = tick
    return uid, moment, until, count, outcome.value, reason.value, fire_at, revision, run_id, into, key
