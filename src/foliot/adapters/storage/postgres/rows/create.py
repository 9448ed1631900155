"""New runs: their rows, and the keys that let a second request find the first one's run."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from foliot.adapters.storage.postgres.arrays import columns, shared
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.shared.documents import encode, encode_limits
from foliot.adapters.storage.shared.event_items import created
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import PRIORITY_STEP, NewRun
from foliot.ports.topic import Topic, topics_of_ready

Answers = dict[RunId, RunId]
"""For each run that was asked for: the run that answers."""

_OFTEN_UNIFORM: Final = slice(1, 7)
"""Where in `_row` job, queue, priority, trigger, moment and payload are."""


class _Key(NamedTuple):
    """A request for a dedupe key."""

    job_id: str
    key: str
    run_id: RunId
    scope: str
    expires_at: int | None


async def create_runs(
    transaction: Transaction, project: str, runs: Sequence[NewRun], now: Instant, *, are_ready: bool
) -> tuple[list[NewRun], Answers]:
    """Store those runs that are new.

    With `are_ready` those that are due and have no limits are ready with it; where all others stand is for the caller
    to say.
    """
    answers = await _take_keys(transaction, project, runs, now)
    wanted = [run for run in runs if answers.get(run.id, run.id) == run.id]
    stored: set[RunId] = set()
    if wanted:
        arrays, values = _columns(wanted)
        places = columns((run.parent_id, run.root_id, run.child_key, run.definition_id) for run in wanted)
        given = (*arrays, *values, are_ready, PRIORITY_STEP, *places)
        stored.update(await transaction.column("create_runs", project, now, *given))
    fresh = [run for run in wanted if run.id in stored]
    transaction.note(EventKind.RUNS_CREATED, created(fresh))
    return fresh, answers


def are_plain(runs: Sequence[NewRun]) -> bool:
    """Whether `create_plain_runs` will do: no keys to take, no places to wait for, no parent, no tick."""
    if not all(map(_is_plain, runs)):
        return False
    different = {id(run.options): run for run in runs}
    return not any(run.limits for run in different.values())


def _is_plain(run: NewRun) -> bool:
    return run.dedupe_key is None and run.parent_id is None and run.tick is None and not run.is_gated


async def create_plain_runs(transaction: Transaction, project: str, runs: Sequence[NewRun], at: Instant | None) -> None:
    """Store plain runs and put them into their place, in one statement. That one is there already is bad data."""
    options = [run.options for run in runs]
    due = [run.due_at for run in runs]
    arrays, values = shared(
        [
            *([run.job_id for run in runs], [one.queue for one in options], [one.priority for one in options]),
            *([run.trigger for run in runs], due, _texts([run.payload for run in runs])),
            *(_texts([run.overrides for run in runs]), [run.scheduled_for for run in runs]),
        ]
    )
    event = EventKind.RUNS_CREATED.value, encode(created(runs))
    ids = [run.id for run in runs]
    asked = transaction.clock.elapsed()
    now = await transaction.value("create_plain_runs", project, at, PRIORITY_STEP, *event, ids, *arrays, *values)
    if at is None:
        transaction.clock.learn(now, asked)
    transaction.topics |= topics_of_ready(one.queue for one in options) if min(due) <= now else set()
    transaction.topics |= {Topic.LATER} if max(due) > now else set()


def _texts(documents: Sequence[bytes | None]) -> list[object]:
    return [None if document is None else document.decode() for document in documents]


def _columns(runs: Sequence[NewRun]) -> tuple[list[list[object]], list[object]]:
    """The rows by column, and the values that are the same in all rows: their columns are sent empty."""
    arrays = columns(map(_row, runs))
    arrays[_OFTEN_UNIFORM], values = shared(arrays[_OFTEN_UNIFORM])
    return arrays, values


def _row(run: NewRun) -> tuple[object, ...]:
    options = run.options
    return (
        run.id,
        run.job_id,
        options.queue,
        options.priority,
        run.trigger,
        run.due_at,
        None if run.payload is None else run.payload.decode(),
        None if run.overrides is None else run.overrides.decode(),
        encode_limits(run.limits),
        *(run.tick or (None, None, run.scheduled_for, None)),
    )


async def _take_keys(transaction: Transaction, project: str, runs: Sequence[NewRun], now: Instant) -> Answers:
    """Take the dedupe keys that are free. Answers only for runs that name a key."""
    keyed = [run for run in runs if run.dedupe_key is not None]
    if not keyed:
        return {}
    # Of several with the same key the first one asks, for all of them.
    firsts: dict[tuple[str, str], _Key] = {}
    for run in keyed:
        firsts.setdefault((run.job_id, str(run.dedupe_key)), _key_of(run, now))
    owners = await _owners(transaction, project, firsts, now)
    return {run.id: owners[run.job_id, str(run.dedupe_key)] for run in keyed}


def _key_of(run: NewRun, now: Instant) -> _Key:
    expires_at = now + (run.dedupe_for or 0) if run.dedupe_scope == "window" else None
    return _Key(run.job_id, str(run.dedupe_key), run.id, run.dedupe_scope, expires_at)


async def _owners(
    transaction: Transaction, project: str, wanted: Mapping[tuple[str, str], _Key], now: Instant
) -> dict[tuple[str, str], RunId]:
    owners: dict[tuple[str, str], RunId] = {}
    # A key that was taken may be gone again when we look who has it: then it is ours to take after all.
    while missing := [key for name, key in wanted.items() if name not in owners]:
        taken = set(await transaction.column("take_keys", project, *columns(missing)))
        owners |= {(key.job_id, key.key): key.run_id for key in missing if key.run_id in taken}
        asked = [key for key in missing if key.run_id not in taken]
        if asked:
            owners |= await _judge(transaction, project, asked, now)
    return owners


async def _judge(
    transaction: Transaction, project: str, asked: Sequence[_Key], now: Instant
) -> dict[tuple[str, str], RunId]:
    """Who answers for keys that somebody has: that one, or we, where the key binds no longer."""
    names = columns((key.job_id, key.key) for key in asked)
    locked = await transaction.rows("lock_keys", project, *names)
    rows = await transaction.rows("taken_keys", project, *columns(locked), now) if locked else []
    bound = {(row["job_id"], row["key"]): RunId(row["run_id"]) for row in rows if row["is_bound"]}
    free = {(row["job_id"], row["key"]) for row in rows if not row["is_bound"]}
    retaken = [key for key in asked if (key.job_id, key.key) in free]
    if retaken:
        await transaction.run("retake_keys", project, *columns(retaken))
    return bound | {(key.job_id, key.key): key.run_id for key in retaken}
