"""Removes what need not be kept, a bounded piece at a time.

A piece is looked for without a lock (`find`) and removed in one short transaction. History has no index by age: it is
walked in the order in which it was written, and the walk goes on where the last piece ended.
"""

from collections.abc import Callable, Collection
from functools import partial
from typing import Final, NamedTuple

from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.shared.pruning import Ask, AskForParts, Asking, Found, Round, Way, removable_before
from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.domain.ids import RunId, ScheduleUid, first_id_at
from foliot.domain.instant import Instant, Millis
from foliot.ports.upkeep import Pruned, Retention

_STRIDE: Final = 1_000
_MAX_STRIDES: Final = 20
_LEFT_BY_RUNS: Final = (
    *("remove_attempts", "remove_outputs", "remove_trees", "remove_bodies", "remove_steps"),
    *("remove_tree_notes", "remove_endings", "remove_decisions"),
)


class Ledgers(NamedTuple):
    """Schedules with old ticks, and schedules that were deleted or exhausted long ago: each with the moment before
    which its ticks may go, or it itself."""

    ticked: list[tuple[ScheduleUid, Instant]]
    over: list[tuple[ScheduleUid, Instant]]


Surplus = Callable[[Session, str, str, int, int], list[RunId]]
"""project, job or workflow, how many to keep, room"""


class Finds(NamedTuple):
    """What may go."""

    runs: list[RunId]
    ledgers: Ledgers


def find(session: Session, project: str, progress: Round, retention: Retention, now: Instant, limit: int) -> Finds:
    """Look for a piece, and let the round make progress."""
    runs = _answered(progress.runs(retention, now, limit), partial(_look, session, project))
    return Finds(runs, _find_ledgers(session, progress, retention.ticks_age, now, limit))


def _answered(asking: Asking, look: Callable[[Ask | AskForParts], Found]) -> list[RunId]:
    """The result of the asking, when all its questions are answered."""
    try:
        ask = next(asking)
        while True:
            ask = asking.send(look(ask))
    except StopIteration as end:
        doomed: list[RunId] = end.value
        return doomed


def _look(session: Session, project: str, ask: Ask | AskForParts) -> Found:
    if isinstance(ask, AskForParts):
        return Found(session.column(SQL["parts_of_runs"], (encode_names(ask.run_ids), ask.room)))
    match ask.way:
        case Way.OLD_RUNS:
            return _old_runs(session, ask)
        case Way.SURPLUS_RUNS:
            return _surplus(session, project, ask, "next_job", _surplus_runs)
        case Way.SURPLUS_EXECUTIONS:
            return _surplus(session, project, ask, "next_workflow", _surplus_executions)
        case _:
            return _old_executions(session, ask)


def _old_runs(session: Session, ask: Ask) -> Found:
    found: list[RunId] = []
    place = ask.place or 0
    for _ in range(_MAX_STRIDES):
        rows = session.rows(SQL["walk_runs"], (place, _STRIDE))
        for rowid, run_id, _, finished_at, is_needed in rows:
            place = rowid
            if finished_at is not None and finished_at < ask.bound and not is_needed:
                found.append(run_id)
            if len(found) == ask.room:
                return Found(found, place)
        if len(rows) < _STRIDE or rows[-1][2] >= ask.bound:
            return Found(found)
    return Found(found, place)


def _old_executions(session: Session, ask: Ask) -> Found:
    found = session.column(SQL["old_executions"], (first_id_at(Instant(ask.bound)), ask.bound, ask.room))
    return Found(found, ask.place if len(found) == ask.room else None)


def _surplus(session: Session, project: str, ask: Ask, following: str, surplus: Surplus) -> Found:
    """Runs beyond those that are kept, of the next few jobs or workflows; one that is cut off is looked at again."""
    found: list[RunId] = []
    place = ask.place
    for _ in range(min(ask.room, _STRIDE)):
        name: str | None = session.value(SQL[following], (project, place))
        if name is None:
            return Found(found)
        found += surplus(session, project, name, ask.bound, ask.room - len(found))
        if len(found) >= ask.room:
            break
        place = name
    return Found(found, place)


def _surplus_runs(session: Session, project: str, job_id: str, keep: int, room: int) -> list[RunId]:
    if session.value(SQL["count_runs"], (project, job_id, keep + 1)) <= keep:
        return []
    return session.column(SQL["surplus_runs"], (project, job_id, keep, room))


def _surplus_executions(session: Session, project: str, workflow_id: str, keep: int, room: int) -> list[RunId]:
    return session.column(SQL["surplus_executions"], (project, workflow_id, keep, room))


def _find_ledgers(session: Session, progress: Round, age: Millis | None, now: Instant, limit: int) -> Ledgers:
    """A schedule whose ticks are too many for one piece is looked at again."""
    ledgers = Ledgers([], [])
    place = progress.place(Way.LEDGERS)
    if age is None or place is None:
        return ledgers
    cut, room = Instant(now - age), limit
    rows = session.rows(SQL["walk_schedules"], {"place": place, "limit": limit, "cut": cut})
    for uid, spec, settled_until, is_over, has_old_ticks in rows:
        if is_over:
            ledgers.over.append((uid, cut))
        if has_old_ticks:
            before = removable_before(spec, settled_until, now, age)
            room -= session.value(SQL["count_old_ticks"], (uid, before, room))
            ledgers.ticked.append((uid, before))
        if room == 0:
            progress.move(Way.LEDGERS, place)
            return ledgers
        place = uid
    progress.move(Way.LEDGERS, place if len(rows) == limit else None)
    return ledgers


def remove(tx: Transaction, finds: Finds, retention: Retention, now: Instant, limit: int) -> Pruned:
    """Remove what was found, and old rows of the other tables."""
    tx.run(SQL["forget_limits"], (limit,))
    events = 0
    if retention.events_age is not None:
        events = tx.run(SQL["remove_events"], (now - retention.events_age, limit))
    dedupe = tx.run(SQL["expire_dedupe"], (now, limit))
    runs, forgotten = _remove_runs(tx, finds.runs)
    ticks = _remove_ticks(tx, finds.ledgers.ticked, limit)
    schedules = _remove_schedules(tx, finds.ledgers.over)
    return Pruned(runs, 0, ticks, events, schedules, dedupe + forgotten)


def _remove_runs(tx: Transaction, run_ids: Collection[RunId]) -> tuple[int, int]:
    if not run_ids:
        return 0, 0
    ids = encode_names(run_ids)
    removed = tx.run(SQL["remove_runs"], (ids,))
    for left_over in _LEFT_BY_RUNS:
        tx.run(SQL[left_over], (ids,))
    return removed, tx.run(SQL["forget_dedupe"], (ids,))


def _remove_ticks(tx: Transaction, ledgers: Collection[tuple[ScheduleUid, Instant]], limit: int) -> int:
    removed = 0
    for uid, before in ledgers:
        rows = tx.rows(SQL["remove_ticks"], (uid, before, limit - removed))
        if rows:
            tx.run(SQL["ledger_begins"], (max(until for (until,) in rows) + 1, uid))
        removed += len(rows)
        if removed >= limit:
            break
    return removed


def _remove_schedules(tx: Transaction, over: Collection[tuple[ScheduleUid, Instant]]) -> int:
    """Only those of which nothing is left, and which are still deleted or exhausted."""
    gone = [uid for uid, cut in over if tx.run(SQL["remove_schedule"], (uid, cut))]
    for query in ("remove_revisions", "remove_pauses"):
        tx.run_many(SQL[query], [(uid,) for uid in gone])
    return len(gone)
