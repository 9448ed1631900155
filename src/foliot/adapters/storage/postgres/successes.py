"""Saves plain successes with one statement: attempts that succeeded without an output, which most do."""

from collections.abc import Sequence

from foliot.adapters.storage.postgres.claim_cursor import ClaimCursor
from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.shared.finish_plan import is_plain
from foliot.adapters.storage.shared.rows import Row
from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import Finish
from foliot.ports.topic import Topic


def are_alike(finishes: Sequence[Finish]) -> bool:
    """Whether all are plain successes of one worker with the same exit code."""
    worker_id, outcome = finishes[0].worker_id, finishes[0].outcome
    return is_plain(outcome) and all(
        (finish.outcome is outcome or finish.outcome == outcome) and finish.worker_id == worker_id
        for finish in finishes
    )


async def save_successes(
    transaction: Transaction, finishes: Sequence[Finish], at: Instant | None, *, are_bare: bool
) -> set[Token]:
    """Save equal plain successes; with `are_bare` only those of bare runs. Returns the saved tokens."""
    worker_id, exit_code, tokens, run_ids = _shared_values(finishes)
    query = "end_bare_successes" if are_bare else "end_successes"
    [(saved, keys, has_notes)] = await transaction.rows(query, worker_id, at, exit_code, tokens, run_ids)
    transaction.topics |= {Topic.EVENTS} if saved else set()
    transaction.topics |= {Topic.NOTES} if has_notes else set()
    transaction.keys.update(keys)
    return set(saved)


async def exchange_runs(
    transaction: Transaction,
    finishes: Sequence[Finish],
    queue: str,
    cursor: ClaimCursor,
    limit: int,
    at: Instant | None,
) -> tuple[int, list[Row]]:
    """Save plain successes of bare runs and claim runs for their worker. Returns their number and the claims."""
    worker_id, exit_code, tokens, run_ids = _shared_values(finishes)
    with cursor.claiming([queue], limit) as [behind]:
        values = worker_id, at, exit_code, tokens, run_ids, limit, queue, *behind
        rows = await transaction.rows("exchange_runs", *values)
    *_, saved = rows[0]
    transaction.topics.add(Topic.EVENTS)
    return saved, [row for row in rows if row[0] is not None]


def _shared_values(finishes: Sequence[Finish]) -> tuple[WorkerId, int | None, list[Token], list[RunId]]:
    first = finishes[0]
    exit_code = first.outcome.exit_code if is_plain(first.outcome) else None
    return first.worker_id, exit_code, [one.token for one in finishes], [one.run_id for one in finishes]
