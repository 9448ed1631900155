"""Creates runs, and the dedupe keys by which a repeated request finds the existing run."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.database.values import columns, shared
from foliot.adapters.storage.postgres.rows.place import Placement, place
from foliot.adapters.storage.shared.documents import encode_limits
from foliot.adapters.storage.shared.event_items import created
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import PRIORITY_STEP, NewRun
from foliot.ports.topic import topics_of_ready

Answers = dict[RunId, RunId]
"""requested run -> the run that has its dedupe key"""

_OFTEN_UNIFORM: Final = slice(1, 7)
"""Job, queue, priority, trigger, due_at and payload in `_row`."""


class _Key(NamedTuple):
    """A request for a dedupe key."""

    job_id: str
    key: str
    run_id: RunId
    scope: str
    expires_at: int | None


async def create_and_place(
    transaction: Transaction, project: str, runs: Sequence[NewRun], now: Instant
) -> tuple[list[NewRun], Answers]:
    """Store the runs that are new, put each into its place, and return them."""
    are_ready = not any(run.is_gated for run in runs)
    fresh, answers = await create_runs(transaction, project, runs, now, are_ready=are_ready)
    ready: list[Placement] = []
    others: list[Placement] = []
    for run in map(Placement.of_new, fresh):
        (ready if are_ready and run.due_at <= now and not run.limits else others).append(run)
    await place(transaction, others, now)
    transaction.topics |= topics_of_ready(run.queue for run in ready)
    return fresh, answers


async def create_runs(
    transaction: Transaction, project: str, runs: Sequence[NewRun], now: Instant, *, are_ready: bool
) -> tuple[list[NewRun], Answers]:
    """Store the runs that are new, and return them.

    With `are_ready`, due runs without limits become ready; the caller places all others.
    """
    answers = await _take_keys(transaction, project, runs, now)
    wanted = [run for run in runs if answers.get(run.id, run.id) == run.id]
    stored: set[RunId] = set()
    if wanted:
        arrays = columns(map(_row, wanted))
        arrays[_OFTEN_UNIFORM], values = shared(arrays[_OFTEN_UNIFORM])
        places = columns((run.parent_id, run.root_id, run.child_key, run.definition_id) for run in wanted)
        given = (*arrays, *values, are_ready, PRIORITY_STEP, *places)
        stored.update(await transaction.column("create_runs", project, now, *given))
    fresh = [run for run in wanted if run.id in stored]
    transaction.add_event(EventKind.RUNS_CREATED, created(fresh))
    return fresh, answers


def _row(run: NewRun) -> tuple[object, ...]:
    options = run.options
    return (
        run.id,
        run.job_id,
        options.lane,
        options.priority,
        run.trigger,
        run.due_at,
        None if run.payload is None else run.payload.decode(),
        None if run.overrides is None else run.overrides.decode(),
        encode_limits(run.limits),
        *(run.tick or (None, None, run.scheduled_for, None)),
    )


async def _take_keys(transaction: Transaction, project: str, runs: Sequence[NewRun], now: Instant) -> Answers:
    """Take the free dedupe keys. Returns answers only for runs with a key."""
    keyed = [run for run in runs if run.dedupe_key is not None]
    if not keyed:
        return {}
    # The first of several runs with the same key takes it for all of them.
    firsts: dict[tuple[str, str], _Key] = {}
    for run in keyed:
        expires_at = now + (run.dedupe_for or 0) if run.dedupe_scope == "window" else None
        key = _Key(run.job_id, str(run.dedupe_key), run.id, run.dedupe_scope, expires_at)
        firsts.setdefault((key.job_id, key.key), key)
    owners = await _owners(transaction, project, firsts, now)
    return {run.id: owners[run.job_id, str(run.dedupe_key)] for run in keyed}


async def _owners(
    transaction: Transaction, project: str, wanted: Mapping[tuple[str, str], _Key], now: Instant
) -> dict[tuple[str, str], RunId]:
    owners: dict[tuple[str, str], RunId] = {}
    # A taken key may be removed before it is read: then the next round takes it.
    while missing := [key for name, key in wanted.items() if name not in owners]:
        taken = set(await transaction.column("take_keys", project, *columns(missing)))
        owners |= {(key.job_id, key.key): key.run_id for key in missing if key.run_id in taken}
        asked = [key for key in missing if key.run_id not in taken]
        if asked:
            owners |= await _contested_owners(transaction, project, asked, now)
    return owners


async def _contested_owners(
    transaction: Transaction, project: str, asked: Sequence[_Key], now: Instant
) -> dict[tuple[str, str], RunId]:
    """Return the owners of taken keys: the run that has the key, or the new run if the key has expired."""
    names = columns((key.job_id, key.key) for key in asked)
    locked = await transaction.rows("lock_keys", project, *names)
    rows = await transaction.rows("taken_keys", project, *columns(locked), now) if locked else []
    bound = {(row["job_id"], row["key"]): RunId(row["run_id"]) for row in rows if row["is_bound"]}
    free = {(row["job_id"], row["key"]) for row in rows if not row["is_bound"]}
    retaken = [key for key in asked if (key.job_id, key.key) in free]
    if retaken:
        await transaction.run("retake_keys", project, *columns(retaken))
    return bound | {(key.job_id, key.key): key.run_id for key in retaken}
