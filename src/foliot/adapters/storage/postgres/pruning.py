"""Removing what need not be kept, a bounded piece at a time, by whoever leads."""

from collections.abc import Sequence
from typing import Any, Final

from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.retention import removable_before
from foliot.domain.ids import first_id_at
from foliot.domain.instant import Instant, Millis
from foliot.ports.upkeep import Pruned, Retention

_SCHEDULES_A_PIECE: Final = 2_000
_JOBS_A_PIECE: Final = 200
_LEFT_BY_RUNS: Final = ("outputs", "attempts", "logs", "executions", "steps", "notes", "endings", "decisions")


class Pruner:
    """Goes round the schedules, the jobs and the workflows, a few with each call, and remembers where it stopped.

    A way that has come to its end, None, waits for the others: so each is gone once until there is no more.
    """

    def __init__(self, project: str) -> None:
        self._project = project
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._last_schedule: str | None = ""
        self._last_job: str | None = ""
        self._last_workflow: str | None = ""

    async def prune(
        self, transaction: Transaction, *, retention: Retention, epoch: int, limit: int, at: Instant | None
    ) -> Pruned | None:
        if await transaction.value("current_epoch") != epoch:
            return None
        now = await transaction.now(at)
        self._pass_by_what_is_kept(retention)
        runs, keys = await self._prune_runs(transaction, retention, now, limit)
        ticks, schedules = await self._prune_ledgers(transaction, retention.ticks_age, now, limit)
        await _prune_limits(transaction, limit)
        pruned = Pruned(
            runs=runs,
            logs=await _prune_logs(transaction, retention.logs_age, now, limit),
            ticks=ticks,
            events=await _prune_older(transaction, "prune_events", retention.events_age, now, limit),
            schedules=schedules,
            dedupe=keys + len(await transaction.rows("prune_keys", now, limit)),
        )
        is_over = self._last_schedule is self._last_job is self._last_workflow is None and max(pruned) < limit
        if is_over:
            self._begin_anew()
        return pruned._replace(is_more=not is_over)

    def _pass_by_what_is_kept(self, retention: Retention) -> None:
        if retention.ticks_age is None:
            self._last_schedule = None
        if retention.runs_per_job is None:
            self._last_job = None
        if retention.executions_per_workflow is None:
            self._last_workflow = None

    async def _prune_runs(
        self, transaction: Transaction, retention: Retention, now: Instant, limit: int
    ) -> tuple[int, int]:
        """Runs that are too old, then those that are too many; and the keys that went with them."""
        stood = self._last_job, self._last_workflow
        doomed: list[str] = []
        if retention.runs_age is not None:
            cut = now - retention.runs_age
            doomed += await transaction.column("old_runs", first_id_at(Instant(cut)), cut, limit)
        if retention.runs_per_job is not None and len(doomed) < limit:
            doomed += await self._surplus(transaction, retention.runs_per_job, limit - len(doomed))
        if retention.executions_per_workflow is not None and len(doomed) < limit:
            doomed += await self._surplus_executions(
                transaction, retention.executions_per_workflow, limit - len(doomed)
            )
        if retention.executions_age is not None and len(doomed) < limit:
            cut = now - retention.executions_age
            old = await transaction.column("old_executions", first_id_at(Instant(cut)), cut, limit - len(doomed))
            doomed = list(dict.fromkeys([*doomed, *old]))
        doomed = await _with_parts(transaction, doomed, limit)
        if len(doomed) >= limit:
            # Parts may have taken the place of what was found: it is looked for again.
            self._last_job, self._last_workflow = stood
        deleted = await transaction.column("delete_runs", doomed) if doomed else []
        return len(deleted), await _forget_runs(transaction, deleted)

    async def _surplus(self, transaction: Transaction, kept: int, limit: int) -> list[str]:
        if self._last_job is None:
            return []
        rows = await transaction.rows("surplus_runs", self._project, self._last_job, kept, limit, _JOBS_A_PIECE)
        surplus = [row["id"] for row in rows if row["id"] is not None]
        jobs = {row["job_id"] for row in rows}
        if len(surplus) < limit:  # else what was cut off is looked at again
            self._last_job = max(jobs) if len(jobs) == _JOBS_A_PIECE else None
        return surplus[:limit]

    async def _surplus_executions(self, transaction: Transaction, kept: int, limit: int) -> list[str]:
        if self._last_workflow is None:
            return []
        values = (self._project, self._last_workflow, kept, limit, _JOBS_A_PIECE)
        rows = await transaction.rows("surplus_executions", *values)
        surplus = [row["run_id"] for row in rows if row["run_id"] is not None]
        workflows = {row["workflow_id"] for row in rows}
        if len(surplus) < limit:
            self._last_workflow = max(workflows) if len(workflows) == _JOBS_A_PIECE else None
        return surplus[:limit]

    async def _prune_ledgers(
        self, transaction: Transaction, age: Millis | None, now: Instant, limit: int
    ) -> tuple[int, int]:
        if age is None or self._last_schedule is None:
            return 0, 0
        size = min(limit, _SCHEDULES_A_PIECE)
        rows = await transaction.rows("next_ledgers", self._last_schedule, size, now - age)
        uids = [row["uid"] for row in rows]
        cuts = {row["uid"]: _cut(row, now, age) for row in rows if row["has_old_ticks"]}
        removed = await transaction.rows("prune_ticks", list(cuts), list(cuts.values()), limit) if cuts else []
        begins: dict[str, int] = {}
        for uid, until in removed:
            begins[uid] = max(begins.get(uid, 0), until + 1)
        if begins:
            await transaction.run("begin_ledgers", list(begins), list(begins.values()))
        if len(removed) < limit:
            self._last_schedule = uids[-1] if len(uids) == size else None
        return len(removed), await _forget_schedules(transaction, uids, now - age, limit)


def _cut(row: Any, now: Instant, age: Millis) -> Instant:
    """Ticks before this may go. The newest one stays as long as its schedule may fire."""
    settled_until = now if row["is_over"] else row["settled_until"]
    return removable_before(row["spec"], settled_until, now, age)


async def _with_parts(transaction: Transaction, run_ids: list[str], limit: int) -> list[str]:
    """These runs with all that is a part of them; of what is too much at once, a piece, the parts before the whole."""
    parts = await transaction.column("parts_of_runs", run_ids, limit) if run_ids else []
    if not parts:
        return run_ids
    first = list(dict.fromkeys(await _with_parts(transaction, parts, limit)))
    return first if len(first) >= limit else list(dict.fromkeys([*first, *run_ids]))


async def _forget_runs(transaction: Transaction, run_ids: Sequence[str]) -> int:
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


async def _prune_logs(transaction: Transaction, age: Millis | None, now: Instant, limit: int) -> int:
    """A log that is gone is not to be taken for one that was never written."""
    removed = await _prune_older(transaction, "prune_logs", age, now, limit)
    if removed and age is not None:
        await transaction.run("note_logs_kept_from", now - age)
    return removed


async def _prune_older(transaction: Transaction, query: str, age: Millis | None, now: Instant, limit: int) -> int:
    return 0 if age is None else len(await transaction.rows(query, now - age, limit))


async def _prune_limits(transaction: Transaction, limit: int) -> None:
    """Locked first, and looked at once more afterwards: nobody can have begun to wait in between."""
    if idle := await transaction.column("idle_limits", limit):
        await transaction.run("prune_limits", idle)
