"""Ends attempts, and saves the consequence: the end of the run, or another attempt.

Deleting the lease is the fence: a token that is not current deletes nothing, so nothing is written. The statements that
follow find runs by id only: a plan that filters runs by status may scan all of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.postgres.rows.definition import DefinitionReader
from foliot.adapters.storage.postgres.rows.end import add_notes, save_outputs
from foliot.adapters.storage.postgres.rows.failures import stop_failed_jobs
from foliot.adapters.storage.postgres.rows.place import Placement, place, put_ready
from foliot.adapters.storage.shared import event_items
from foliot.adapters.storage.shared.definition_cache import Reference
from foliot.adapters.storage.shared.documents import storable
from foliot.adapters.storage.shared.finish_plan import (
    FinishPlan,
    Lease,
    LeasedRun,
    is_repeated,
    plan_finishes,
    report_by,
)
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.instant import Instant, later
from foliot.domain.job.job import Options
from foliot.domain.run.lease import Finish
from foliot.domain.run.limits import OVERLAP_PREFIX
from foliot.domain.run.outcome import Failure, Interrupted, Launched, Lost, Outcome, TimedOut
from foliot.domain.run.run import Again, Ended, HandedOver

_NO_OPTIONS: Final = Options()

LeaseName = tuple[Token, RunId, WorkerId]
"""Token, run and worker identify a lease."""


async def finish_runs(
    transaction: Transaction, definitions: DefinitionReader, finishes: Sequence[Finish], at: Instant | None
) -> list[Token]:
    """Save the finishes whose token is current. Returns the other tokens, without those that were saved before."""
    outcomes = {finish.token: finish.outcome for finish in finishes}
    named = [(finish.token, finish.run_id, finish.worker_id) for finish in finishes]
    rows = await _end_leases(transaction, named, at)
    leases = await _decidable(transaction, definitions, rows, outcomes)
    plan = plan_finishes(finishes, leases)
    await save_plan(transaction, plan)
    return await _stale(transaction, plan.unknown)


async def end_leases(transaction: Transaction, named: Sequence[LeaseName], at: Instant | None) -> list[Lease]:
    """End the leases that are current, and return them, without the options of their runs."""
    return [_lease_of(row) for row in await _end_leases(transaction, named, at)]


async def save_plan(transaction: Transaction, plan: FinishPlan) -> None:
    """Save the decisions about attempts whose leases have just been ended."""
    now = transaction.at
    ended = [lease for lease, _ in plan.ended]
    await _end(transaction, plan.ended, now)
    await _release(transaction, "release_holds", ended)
    await _release(transaction, "release_places", [lease for lease, _ in plan.again], OVERLAP_PREFIX)
    await _retry(transaction, plan.again, now)
    await put_ready(transaction, [Placement.of_lease(lease) for lease in plan.given_back])
    await _hand_over(transaction, plan.handed_over)
    await add_notes(transaction, [lease.run_id for lease in ended if lease.run.parent_id is not None])
    transaction.add_event(EventKind.RUNS_ENDED, event_items.ended(plan))
    await stop_failed_jobs(transaction, plan.failed, now)


async def _end_leases(transaction: Transaction, named: Sequence[LeaseName], at: Instant | None) -> list[Any]:
    asked = transaction.clock.elapsed()
    rows = await transaction.rows("end_leases", *columns(named), at) if named else []
    if rows:
        transaction.at = rows[0]["now"]
        if at is None:
            transaction.clock.learn(transaction.at, asked)
    return rows


def _lease_of(row: Any, options: Options = _NO_OPTIONS) -> Lease:
    lease, run = tuple(row[:7]), tuple(row[7:15])
    return Lease(*(*lease, LeasedRun(*(*run, options))))


async def _decidable(
    transaction: Transaction, definitions: DefinitionReader, rows: Sequence[Any], outcomes: Mapping[Token, Outcome]
) -> dict[Token, Lease]:
    """Return the leases, with options for runs that may be retried or were launched."""
    asked = {
        row["token"]: Reference(row["job_id"], row["revision"], row["definition_id"])
        for row in rows
        if _needs_options(outcomes[row["token"]])
    }
    known = await definitions.find(transaction, set(asked.values())) if asked else {}
    leases: dict[Token, Lease] = {}
    for row in rows:
        token, options = row["token"], _NO_OPTIONS
        if token in asked:
            overrides = row["overrides"]
            options = known[asked[token].id].options(None if overrides is None else overrides.encode())
        leases[token] = _lease_of(row, options)
    return leases


def _needs_options(outcome: Outcome) -> bool:
    match outcome:
        case Failure(retryable=retryable):
            return retryable
        case TimedOut() | Lost() | Interrupted() | Launched():
            return True
    return False


async def _end(transaction: Transaction, ended: Sequence[tuple[Lease, Ended]], now: Instant) -> None:
    if not ended:
        return
    rows = [
        (
            *(lease.run_id, lease.token, lease.worker_id, lease.attempt, lease.started_at),
            *(ending.exit_code, ending.status.value, ending.reason, storable(ending.error), int(ending.was_lost)),
        )
        for lease, ending in ended
    ]
    await transaction.run("end_runs", now, *columns(rows))
    await save_outputs(transaction, {lease.run_id: ending for lease, ending in ended})


async def _retry(transaction: Transaction, again: Sequence[tuple[Lease, Again]], now: Instant) -> None:
    """Keep the attempt as a record, and place the run for the next one."""
    if not again:
        return
    records = [
        (
            *(lease.run_id, lease.attempt, lease.token, lease.worker_id, lease.started_at),
            *(ending.status.value, ending.reason, ending.exit_code, storable(ending.error)),
        )
        for lease, ending in again
    ]
    await transaction.run("add_attempts", now, *columns(records))
    changes = [
        (
            *(lease.run_id, later(now, ending.delay), lease.attempt, int(ending.was_lost)),
            *(ending.reason, storable(ending.error), ending.exit_code),
        )
        for lease, ending in again
    ]
    rows = await transaction.rows("retry_runs", *columns(changes))
    await place(transaction, [Placement.of_row(*row) for row in rows], now)


async def _hand_over(transaction: Transaction, handed_over: Sequence[tuple[Lease, HandedOver]]) -> None:
    """Transfer the leases to the executor of the application, with the same tokens."""
    if not handed_over:
        return
    leases = [
        (
            *(lease.token, lease.run_id, lease.attempt, lease.started_at, lease.cancel_at),
            *(int(lease.is_bare), report_by(lease, verdict)),
        )
        for lease, verdict in handed_over
    ]
    await transaction.run("hand_over_leases", *columns(leases))
    launches = [(lease.run_id, verdict.executor_run_id, None) for lease, verdict in handed_over]
    await transaction.run("save_launches", *columns(launches))


async def _release(transaction: Transaction, query: str, leases: Iterable[Lease], *values: object) -> None:
    """Release the places of runs that may have some."""
    holders = [lease.run_id for lease in leases if lease.run.has_places]
    if holders:
        transaction.keys.update(await transaction.column(query, holders, *values))


async def _stale(transaction: Transaction, unknown: Sequence[Finish]) -> list[Token]:
    """Return the tokens of finishes that were not saved before with the same outcome."""
    if not unknown:
        return []
    run_ids, tokens = [finish.run_id for finish in unknown], [finish.token for finish in unknown]
    saved = {row["token"]: row for row in await transaction.rows("saved_endings", run_ids, tokens)}
    return [
        finish.token
        for finish in unknown
        if (row := saved.get(finish.token)) is None
        or row["run_id"] != finish.run_id
        or not is_repeated(finish.outcome, row["status"], row["reason"])
    ]
