"""What ended attempts leave behind.

Deleting the lease is the fence: who has no current token deletes nothing, and so writes nothing. All that follows is
joined by the id alone, because a plan that filters runs by their status may read all of them.

Most attempts succeed and leave nothing but the fact. Those take one statement, which needs no transaction around it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from foliot.adapters.storage import notices
from foliot.adapters.storage.documents import storable
from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.postgres.endings import follow_finished, follow_parts
from foliot.adapters.storage.postgres.front import Front
from foliot.adapters.storage.postgres.placing import Standing, place, put_ready
from foliot.adapters.storage.rows import Row
from foliot.adapters.storage.verdicts import Held, Sorted, is_repeated, sort_finishes
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.instant import Instant, later
from foliot.domain.lease import Claim, Finish
from foliot.domain.limits import OVERLAP_PREFIX
from foliot.domain.run import Again, Ended, Status, Verdict

_Alike = tuple[WorkerId, int | None]
"""What plain successes have in common that one statement saves: worker and exit code."""


class _Lease(NamedTuple):
    """A lease that was ended here: the facts about an attempt come from it, not from whoever reports."""

    token: Token
    run_id: RunId
    worker_id: WorkerId
    attempt: int
    started_at: Instant


def are_bare(finishes: Sequence[Finish]) -> bool:
    """Whether `finish_bare` will do: successes of one worker that say nothing, free no place, tell nobody."""
    worker_id, verdict = finishes[0].claim.worker_id, finishes[0].verdict
    return _is_plain(verdict) and all(
        (finish.verdict is verdict or finish.verdict == verdict)
        and (claim := finish.claim).worker_id == worker_id
        and claim.root is None
        and not _has_place(claim)
        for finish in finishes
    )


async def finish_bare(transaction: Transaction, finishes: Sequence[Finish], at: Instant | None) -> list[Token]:
    """Save bare successes, in one statement, and return the tokens that are not current."""
    saved = await _succeed(transaction, finishes, at, is_noted=True)
    return await _stale(transaction, [finish for finish in finishes if finish.claim.token not in saved])


async def exchange_bare(
    transaction: Transaction, finishes: Sequence[Finish], queue: str, front: Front, limit: int, at: Instant | None
) -> tuple[list[Token], list[Row]]:
    """Save bare successes and claim runs for their worker, in one statement: stale tokens, and rows of claims."""
    worker_id, exit_code, tokens, run_ids = _in_common(finishes)
    with front.looking([queue], limit) as [behind]:
        values = worker_id, exit_code, limit, at, tokens, run_ids, queue, *behind
        rows = await transaction.rows("exchange_runs", *values)
    *_, saved = rows[0]
    granted = [row for row in rows if row[0] is not None]
    return ([] if saved == len(finishes) else await _stale(transaction, finishes)), granted


async def finish_runs(transaction: Transaction, finishes: Sequence[Finish], at: Instant | None) -> list[Token]:
    """Save what is current, and return the tokens that are not."""
    plain, others = _divided(finishes)
    ended, unknown = await _succeed_all(transaction, plain, at)
    items = notices.succeeded(ended)
    if others:
        result = await _sort_out(transaction, others, await transaction.now(at))
        items += notices.ended(result)
        unknown += result.unknown
    transaction.note(EventKind.RUNS_ENDED, items)
    return await _stale(transaction, unknown)


def _divided(finishes: Iterable[Finish]) -> tuple[dict[_Alike, list[Finish]], list[Finish]]:
    """Plain successes, and all the others."""
    plain: dict[_Alike, list[Finish]] = {}
    others: list[Finish] = []
    for finish in finishes:
        claim, verdict = finish.claim, finish.verdict
        if _is_plain(verdict):
            plain.setdefault((claim.worker_id, verdict.exit_code), []).append(finish)
        else:
            others.append(finish)
    return plain, others


def _is_plain(verdict: Verdict) -> TypeGuard[Ended]:
    return (
        type(verdict) is Ended
        and verdict.status is Status.SUCCESS
        and verdict.output is None
        and verdict.reason is None
        and verdict.error is None
    )


async def _succeed_all(
    transaction: Transaction, finishes: Mapping[_Alike, Sequence[Finish]], at: Instant | None
) -> tuple[list[Claim], list[Finish]]:
    """Save plain successes. What was saved, and the finishes whose token is not current, come back."""
    unknown: list[Finish] = []
    ended: list[Claim] = []
    for group in finishes.values():
        asked = {finish.claim.token: finish for finish in group}
        saved = await _succeed(transaction, list(asked.values()), at, is_noted=False)
        ended += [finish.claim for token, finish in asked.items() if token in saved]
        unknown += [finish for token, finish in asked.items() if token not in saved]
    await _release(transaction, "release_holds", ended)
    parts = [claim.run_id for claim in ended if claim.root is not None]
    await follow_parts(transaction, parts)
    return ended, unknown


async def _succeed(
    transaction: Transaction, finishes: Sequence[Finish], at: Instant | None, *, is_noted: bool
) -> Collection[Token]:
    """Save plain successes that are alike, with their event where it is to be noted. The tokens that were current."""
    worker_id, exit_code, tokens, run_ids = _in_common(finishes)
    values = worker_id, exit_code, is_noted, at, tokens, run_ids
    [(transaction.at, saved)] = await transaction.rows("end_successes", *values)
    return set(saved)


def _in_common(finishes: Sequence[Finish]) -> tuple[WorkerId, int | None, list[Token], list[RunId]]:
    """Plain successes that are alike: what they say, and their leases."""
    claim, verdict = finishes[0].claim, finishes[0].verdict
    exit_code = verdict.exit_code if isinstance(verdict, Ended) else None
    tokens, run_ids = [finish.claim.token for finish in finishes], [finish.claim.run_id for finish in finishes]
    return claim.worker_id, exit_code, tokens, run_ids


async def _sort_out(transaction: Transaction, finishes: Sequence[Finish], now: Instant) -> Sorted:
    """Save whatever else may have happened, as far as its token is current."""
    claims = [finish.claim for finish in finishes]
    named = [(claim.token, claim.run_id, claim.worker_id) for claim in claims]
    rows = await transaction.rows("end_leases", *columns(named))
    held = {row["token"]: Held(row["run_id"], row["worker_id"], row["cancel_at"]) for row in rows}
    leases = {row["token"]: _Lease(*row[:5]) for row in rows}
    result = ended, again, given_back, _ = sort_finishes(finishes, held)
    await _end(transaction, [(leases[claim.token], verdict) for claim, verdict in ended], now)
    await _release(transaction, "release_holds", [claim for claim, _ in ended])
    await _release(transaction, "release_places", [claim for claim, _ in again], OVERLAP_PREFIX)
    await _retry(transaction, [(leases[claim.token], verdict) for claim, verdict in again], now)
    await put_ready(transaction, [Standing.of_claim(claim) for claim in given_back])
    await follow_finished(transaction, [claim for claim, _ in ended])
    return result


async def _end(transaction: Transaction, ended: Sequence[tuple[_Lease, Ended]], now: Instant) -> None:
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


async def _retry(transaction: Transaction, again: Sequence[tuple[_Lease, Again]], now: Instant) -> None:
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


async def _release(transaction: Transaction, query: str, claims: Iterable[Claim], *values: object) -> None:
    """Give back the places of those that may have some."""
    holders = [claim.run_id for claim in claims if _has_place(claim)]
    if holders:
        transaction.keys.update(await transaction.column(query, holders, *values))


def _has_place(claim: Claim) -> bool:
    return bool(claim.limit_keys) or claim.tick is not None


async def _stale(transaction: Transaction, unknown: Sequence[Finish]) -> list[Token]:
    """Those of the unknown ones that were not saved before, exactly so."""
    if not unknown:
        return []
    run_ids, tokens = [finish.claim.run_id for finish in unknown], [finish.claim.token for finish in unknown]
    saved = {row["token"]: row for row in await transaction.rows("saved_endings", run_ids, tokens)}
    return [
        finish.claim.token
        for finish in unknown
        if (row := saved.get(finish.claim.token)) is None
        or row["run_id"] != finish.claim.run_id
        or not is_repeated(finish.verdict, row["status"], row["reason"])
    ]
