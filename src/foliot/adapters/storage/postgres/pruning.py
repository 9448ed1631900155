"""Removing what need not be kept, a bounded piece at a time, by whoever leads."""

from collections.abc import Sequence
from typing import Any, Final

from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.shared.pruning import Ask, AskForParts, Asking, Found, Round, Way, removable_before
from foliot.domain.ids import RunId, first_id_at
from foliot.domain.instant import Instant, Millis
from foliot.ports.upkeep import Pruned, Retention

_SCHEDULES_A_PIECE: Final = 2_000
_JOBS_A_PIECE: Final = 200
_LEFT_BY_RUNS: Final = ("outputs", "attempts", "logs", "trees", "bodies", "steps", "notes", "endings", "decisions")
_QUERIES: Final = {
    Way.OLD_RUNS: "old_runs",
    Way.SURPLUS_RUNS: "surplus_runs",
    Way.SURPLUS_EXECUTIONS: "surplus_executions",
    Way.OLD_EXECUTIONS: "old_executions",
}


async def prune(
    transaction: Transaction, project: str, progress: Round, retention: Retention, now: Instant, limit: int
) -> Pruned:
    """Remove a piece, and let the round make progress."""
    doomed = await _answered(transaction, project, progress.runs(retention, now, limit))
    deleted = await transaction.column("delete_runs", doomed) if doomed else []
    keys = await _forget_runs(transaction, deleted)
    ticks, schedules = await _prune_ledgers(transaction, progress, retention.ticks_age, now, limit)
    await _prune_limits(transaction, limit)
    return Pruned(
        runs=len(deleted),
        logs=await _prune_logs(transaction, progress, retention.logs_age, now, limit),
        ticks=ticks,
        events=await _prune_older(transaction, "prune_events", retention.events_age, now, limit),
        schedules=schedules,
        dedupe=keys + len(await transaction.rows("prune_keys", now, limit)),
    )


async def _answered(transaction: Transaction, project: str, asking: Asking) -> list[RunId]:
    """What the asking comes to, when it has been told what is there."""
    try:
        ask = next(asking)
        while True:
            ask = asking.send(await _look(transaction, project, ask))
    except StopIteration as end:
        doomed: list[RunId] = end.value
        return doomed


async def _look(transaction: Transaction, project: str, ask: Ask | AskForParts) -> Found:
    if isinstance(ask, AskForParts):
        return Found(await transaction.column("parts_of_runs", ask.run_ids, ask.room))
    if ask.way in (Way.OLD_RUNS, Way.OLD_EXECUTIONS):
        found = await transaction.column(_QUERIES[ask.way], first_id_at(Instant(ask.bound)), ask.bound, ask.room)
        return Found(found, ask.place if len(found) == ask.room else None)
    return await _surplus(transaction, project, ask)


async def _surplus(transaction: Transaction, project: str, ask: Ask) -> Found:
    """What is too much of the next few jobs or workflows."""
    size = min(ask.room, _JOBS_A_PIECE)
    rows = await transaction.rows(_QUERIES[ask.way], project, ask.place, ask.bound, ask.room, size)
    surplus = [run_id for _, run_id in rows if run_id is not None]
    names = {name for name, _ in rows}
    if len(surplus) >= ask.room:
        return Found(surplus[: ask.room], ask.place)  # what was cut off is looked at again
    return Found(surplus, max(names) if len(names) == size else None)


async def _prune_ledgers(
    transaction: Transaction, progress: Round, age: Millis | None, now: Instant, limit: int
) -> tuple[int, int]:
    place = progress.place(Way.LEDGERS)
    if age is None or place is None:
        return 0, 0
    size = min(limit, _SCHEDULES_A_PIECE)
    rows = await transaction.rows("next_ledgers", place, size, now - age)
    uids = [row["uid"] for row in rows]
    removed = await _prune_ticks(transaction, rows, age, now, limit)
    if removed < limit:
        progress.move(Way.LEDGERS, uids[-1] if len(uids) == size else None)
    return removed, await _forget_schedules(transaction, uids, now - age, limit)


async def _prune_ticks(transaction: Transaction, rows: Sequence[Any], age: Millis, now: Instant, limit: int) -> int:
    cuts = {
        row["uid"]: removable_before(row["spec"], row["settled_until"], now, age)
        for row in rows
        if row["has_old_ticks"]
    }
    removed = await transaction.rows("prune_ticks", list(cuts), list(cuts.values()), limit) if cuts else []
    begins: dict[str, int] = {}
    for uid, until in removed:
        begins[uid] = max(begins.get(uid, 0), until + 1)
    if begins:
        await transaction.run("begin_ledgers", list(begins), list(begins.values()))
    return len(removed)


async def _forget_runs(transaction: Transaction, run_ids: Sequence[str]) -> int:
    """How many keys went with them."""
    if not run_ids:
        return 0
    for left_over in _LEFT_BY_RUNS:
        await transaction.run(f"delete_runs_{left_over}", run_ids)
    return len(await transaction.rows("delete_runs_keys", run_ids))


async def _forget_schedules(transaction: Transaction, uids: Sequence[str], cut: int, limit: int) -> int:
    gone = await transaction.column("forgettable_schedules", uids, cut, limit)
    if gone:
        for left_over in ("forget_revisions", "forget_pauses", "forget_schedules"):
            await transaction.run(left_over, gone)
    return len(gone)


async def _prune_logs(transaction: Transaction, progress: Round, age: Millis | None, now: Instant, limit: int) -> int:
    """A log that is gone is not to be taken for one that was never written."""
    removed = await _prune_older(transaction, "prune_logs", age, now, limit)
    if removed and age is not None:
        await transaction.run("note_logs_kept_from", now - age)
    progress.move(Way.LOGS, None)  # they are found by their age
    return removed


async def _prune_older(transaction: Transaction, query: str, age: Millis | None, now: Instant, limit: int) -> int:
    return 0 if age is None else len(await transaction.rows(query, now - age, limit))


async def _prune_limits(transaction: Transaction, limit: int) -> None:
    """Locked first, and looked at once more afterwards: nobody can have begun to wait in between."""
    if idle := await transaction.column("idle_limits", limit):
        await transaction.run("prune_limits", idle)
