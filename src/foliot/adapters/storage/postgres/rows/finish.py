"""What ended attempts leave behind.

Deleting the lease is the fence: a token that is not current deletes nothing, and so nothing is written. All that
follows is joined by the id alone, because a plan that filters runs by their status may read all of them.

Most attempts succeed and have no output. Those take one statement, which needs no transaction around it (`succeed`,
`exchange_successes`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.postgres.definitions import DefinitionReader
from foliot.adapters.storage.postgres.endings import add_notes
from foliot.adapters.storage.postgres.front import Front
from foliot.adapters.storage.postgres.placing import Standing, place, put_ready
from foliot.adapters.storage.shared import event_items as notices
from foliot.adapters.storage.shared.definition_cache import Reference
from foliot.adapters.storage.shared.documents import storable
from foliot.adapters.storage.shared.finish_plan import (
    FinishPlan,
    Lease,
    LeasedRun,
    is_plain,
    is_repeated,
    plan_finishes,
)
from foliot.adapters.storage.shared.rows import Row
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.instant import Instant, later
from foliot.domain.job.job import Options
from foliot.domain.run.lease import Finish
from foliot.domain.run.limits import OVERLAP_PREFIX
from foliot.domain.run.outcome import Failure, Interrupted, Lost, Outcome, TimedOut
from foliot.domain.run.run import Again, Ended
from foliot.ports.topic import Topic

_NO_OPTIONS: Final = Options()

LeaseName = tuple[Token, RunId, WorkerId]
"""What names a lease."""

# -- plain successes, in one statement


def divided(finishes: Iterable[Finish]) -> tuple[list[list[Finish]], list[Finish]]:
    """Plain successes, those of one worker with one exit code together, and all others."""
    plain: dict[tuple[WorkerId, int | None], list[Finish]] = {}
    others: list[Finish] = []
    for finish in finishes:
        outcome = finish.outcome
        if is_plain(outcome):
            plain.setdefault((finish.worker_id, outcome.exit_code), []).append(finish)
        else:
            others.append(finish)
    return list(plain.values()), others


def are_alike(finishes: Sequence[Finish]) -> bool:
    """Whether all are plain successes of one worker with one exit code."""
    worker_id, outcome = finishes[0].worker_id, finishes[0].outcome
    return is_plain(outcome) and all(
        (finish.outcome is outcome or finish.outcome == outcome) and finish.worker_id == worker_id
        for finish in finishes
    )


async def succeed(
    transaction: Transaction, finishes: Sequence[Finish], at: Instant | None, *, are_bare: bool
) -> tuple[Collection[Token], Collection[str]]:
    """Save plain successes that are alike, with `are_bare` only those of bare runs. Returns the tokens of those saved,
    and the limits whose places are free."""
    worker_id, exit_code, tokens, run_ids = _in_common(finishes)
    query = "end_bare_successes" if are_bare else "end_successes"
    [(saved, keys, has_notes)] = await transaction.rows(query, worker_id, at, exit_code, tokens, run_ids)
    transaction.topics |= {Topic.NOTES} if has_notes else set()
    return set(saved), keys


async def exchange_successes(
    transaction: Transaction, finishes: Sequence[Finish], queue: str, front: Front, limit: int, at: Instant | None
) -> tuple[int, list[Row]]:
    """Save plain successes of bare runs and claim runs for their worker: how many were saved, and rows of claims."""
    worker_id, exit_code, tokens, run_ids = _in_common(finishes)
    with front.looking([queue], limit) as [behind]:
        values = worker_id, at, exit_code, tokens, run_ids, limit, queue, *behind
        rows = await transaction.rows("exchange_runs", *values)
    *_, saved = rows[0]
    return saved, [row for row in rows if row[0] is not None]


def _in_common(finishes: Sequence[Finish]) -> tuple[WorkerId, int | None, list[Token], list[RunId]]:
    first = finishes[0]
    exit_code = first.outcome.exit_code if is_plain(first.outcome) else None
    return first.worker_id, exit_code, [one.token for one in finishes], [one.run_id for one in finishes]


# -- all others


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
    """End those of the leases that are current, and return them, without the options of their runs."""
    return [_lease_of(row) for row in await _end_leases(transaction, named, at)]


async def save_plan(transaction: Transaction, plan: FinishPlan) -> None:
    """Save what was decided about attempts whose leases have just been ended."""
    now = transaction.at
    ended = [lease for lease, _ in plan.ended]
    await _end(transaction, plan.ended, now)
    await _release(transaction, "release_holds", ended)
    await _release(transaction, "release_places", [lease for lease, _ in plan.again], OVERLAP_PREFIX)
    await _retry(transaction, plan.again, now)
    await put_ready(transaction, [Standing.of_lease(lease) for lease in plan.given_back])
    await add_notes(transaction, [lease.run_id for lease in ended if lease.run.parent_id is not None])
    transaction.note(EventKind.RUNS_ENDED, notices.ended(plan))


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
    """The leases, with the options of those runs that may be tried again."""
    asked = {
        row["token"]: Reference(row["job_id"], row["revision"], row["definition_id"])
        for row in rows
        if _may_be_tried_again(outcomes[row["token"]])
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


def _may_be_tried_again(outcome: Outcome) -> bool:
    match outcome:
        case Failure(retryable=retryable):
            return retryable
        case TimedOut() | Lost() | Interrupted():
            return True
    return False


async def _end(transaction: Transaction, ended: Sequence[tuple[Lease, Ended]], now: Instant) -> None:
    if not ended:
        return
    rows = [
        (
            *(lease.run_id, lease.token, lease.worker_id, lease.attempt, lease.started_at),
            *(verdict.exit_code, verdict.status.value, verdict.reason, storable(verdict.error), int(verdict.was_lost)),
        )
        for lease, verdict in ended
    ]
    await transaction.run("end_runs", now, *columns(rows))
    outputs = [(lease.run_id, verdict.output.decode()) for lease, verdict in ended if verdict.output is not None]
    if outputs:
        await transaction.run("add_outputs", *columns(outputs))


async def _retry(transaction: Transaction, again: Sequence[tuple[Lease, Again]], now: Instant) -> None:
    """Keep the attempt as a record, and let the run wait for the next one."""
    if not again:
        return
    records = [
        (
            *(lease.run_id, lease.attempt, lease.token, lease.worker_id, lease.started_at),
            *(verdict.status.value, verdict.reason, verdict.exit_code, storable(verdict.error)),
        )
        for lease, verdict in again
    ]
    await transaction.run("add_attempts", now, *columns(records))
    changes = [
        (
            *(lease.run_id, later(max(now, lease.started_at), verdict.delay), lease.attempt, int(verdict.was_lost)),
            *(verdict.reason, storable(verdict.error), verdict.exit_code),
        )
        for lease, verdict in again
    ]
    rows = await transaction.rows("retry_runs", *columns(changes))
    await place(transaction, [Standing.of_row(*row) for row in rows], now)


async def _release(transaction: Transaction, query: str, leases: Iterable[Lease], *values: object) -> None:
    """Give back the places of those that may have some."""
    holders = [lease.run_id for lease in leases if lease.run.has_places]
    if holders:
        transaction.keys.update(await transaction.column(query, holders, *values))


async def _stale(transaction: Transaction, unknown: Sequence[Finish]) -> list[Token]:
    """The tokens of finishes that were not saved before with the same outcome."""
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
