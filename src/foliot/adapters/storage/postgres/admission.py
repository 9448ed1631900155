"""Runs that wait for their gate, and endings by decision: what has not started ends as somebody has decided."""

from collections.abc import Mapping, Sequence

from foliot.adapters.storage.postgres.arrays import columns
from foliot.adapters.storage.postgres.cancelling import take_unstarted
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.postgres.endings import follow_ends
from foliot.adapters.storage.postgres.placing import Standing, place
from foliot.adapters.storage.shared import event_items as notices
from foliot.adapters.storage.shared.documents import encode, storable
from foliot.adapters.storage.shared.finish_plan import declined
from foliot.domain.events import EventKind
from foliot.domain.gate.decision import Passed, Postponed
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Ended


async def pass_gates(
    transaction: Transaction, passed: Sequence[Passed], postponed: Sequence[Postponed], now: Instant
) -> list[RunId]:
    """Save what was decided about runs that still wait for it; those come back."""
    decisions = dict(passed)
    mine = await _take(transaction, list(decisions))
    if mine:
        await transaction.run("add_decisions", mine, [encode(decisions[run_id]) for run_id in mine])
    endings = {run_id: ended for run_id in mine if (ended := declined(decisions[run_id])) is not None}
    await _let_pass(transaction, [run_id for run_id in mine if run_id not in endings], now)
    if endings:
        transaction.keys.update(await transaction.column("release_holds", list(endings)))
    await _end(transaction, endings, now)
    waiting = await transaction.column("postpone", *columns(postponed)) if postponed else []
    return mine + waiting


async def answer(transaction: Transaction, answers: Mapping[RunId, Ended], now: Instant) -> list[RunId]:
    """End those of the runs that have not started as somebody says."""
    taken = set(await take_unstarted(transaction, answers))
    mine = {run_id: ended for run_id, ended in answers.items() if run_id in taken}
    await _end(transaction, mine, now)
    return list(mine)


async def _take(transaction: Transaction, run_ids: list[RunId]) -> list[RunId]:
    """Who deletes the row owns the run. With its limits locked, nobody gives it its turn meanwhile."""
    if not run_ids:
        return []
    if keys := await transaction.column("held_keys", run_ids):
        await transaction.rows("lock_limits", sorted(keys))
    return await transaction.column("cancelled_gated", run_ids)


async def _let_pass(transaction: Transaction, run_ids: list[RunId], now: Instant) -> None:
    """Put them where a due run belongs. One that waits for its turn stays where it is: its turn will find it."""
    if run_ids:
        rows = await transaction.rows("passed_runs", run_ids)
        await place(transaction, [Standing.of_row(*row) for row in rows], now)


async def _end(transaction: Transaction, endings: Mapping[RunId, Ended], now: Instant) -> None:
    if not endings:
        return
    rows = [
        (run_id, ended.status.value, ended.reason, ended.exit_code, storable(ended.error))
        for run_id, ended in endings.items()
    ]
    attempts: dict[RunId, int] = dict(await transaction.rows("end_unstarted", now, *columns(rows)))
    outputs = [(run_id, ended.output.decode()) for run_id, ended in endings.items() if ended.output is not None]
    if outputs:
        await transaction.run("add_outputs", *columns(outputs))
    told = [(run_id, ended, attempts[run_id]) for run_id, ended in endings.items()]
    transaction.note(EventKind.RUNS_ENDED, notices.ended_by_hand(told))
    await follow_ends(transaction, list(endings))
