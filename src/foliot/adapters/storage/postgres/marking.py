"""Success by hand (`domain.run.mark`): what has not started ends as one, what is over gets a run that stands for it."""

from collections.abc import Mapping
from typing import Final

from foliot.adapters.storage.postgres.cancelling import take_unstarted
from foliot.adapters.storage.postgres.database import Transaction
from foliot.adapters.storage.postgres.endings import follow_ends
from foliot.adapters.storage.postgres.impossible import is_possible
from foliot.adapters.storage.shared import event_items as notices
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.mark import MarkAnswer, Marked, mark_key, mark_trigger
from foliot.domain.run.run import Status

Answers = dict[RunId, Marked]

_ROUNDS: Final = 10


async def mark_runs(transaction: Transaction, marks: Mapping[RunId, RunId], now: Instant) -> Answers:
    """As in `cancelling`: a run that moves on under our eyes is looked for again."""
    answers = {run_id: Marked(MarkAnswer.NOT_FOUND, run_id) for run_id in marks if not is_possible(run_id)}
    for _ in range(_ROUNDS):
        answers |= await _end_unstarted(transaction, _open(marks, answers), now)
        for place in ("leased_runs", "open_trees"):
            under_way = await transaction.column(place, _open(marks, answers))
            answers |= {run_id: Marked(MarkAnswer.RUNNING, run_id) for run_id in under_way}
        answers |= await _look_up(transaction, _open(marks, answers), marks, now)
        if len(answers) == len(marks):
            break
    # One that is never met was on its way from hand to hand all the time: it is under way.
    return {run_id: answers.get(run_id, Marked(MarkAnswer.RUNNING, run_id)) for run_id in marks}


def _open(marks: Mapping[RunId, RunId], answers: Answers) -> list[RunId]:
    return [run_id for run_id in marks if run_id not in answers]


async def _end_unstarted(transaction: Transaction, run_ids: list[RunId], now: Instant) -> Answers:
    taken = await take_unstarted(transaction, run_ids)
    if taken:
        ended = await transaction.rows("end_marked", taken, now)
        transaction.note(EventKind.RUNS_ENDED, notices.marked(dict(ended)))
        await follow_ends(transaction, taken)
    return {run_id: Marked(MarkAnswer.MARKED, run_id) for run_id in taken}


async def _look_up(
    transaction: Transaction, run_ids: list[RunId], marks: Mapping[RunId, RunId], now: Instant
) -> Answers:
    stored = dict(await transaction.rows("run_statuses", run_ids)) if run_ids else {}
    answers = {run_id: Marked(MarkAnswer.NOT_FOUND, run_id) for run_id in run_ids if run_id not in stored}
    for run_id, status in stored.items():
        if status == Status.SUCCESS:
            answers[run_id] = Marked(MarkAnswer.SUCCESS, run_id)
        elif status != Status.SCHEDULED:
            answers[run_id] = await _stand_in(transaction, run_id, marks[run_id], now)
    return answers


async def _stand_in(transaction: Transaction, run_id: RunId, new_id: RunId, now: Instant) -> Marked:
    """The run that stands for one that is over: the one there is, or a new one."""
    known = await _take_mark(transaction, run_id, new_id)
    if known is not None:
        return Marked(MarkAnswer.SUCCESS, known)
    job_id = await transaction.value("add_stand_in", run_id, new_id, mark_trigger(run_id), now)
    transaction.note(EventKind.RUNS_CREATED, [[new_id, job_id]])
    transaction.note(EventKind.RUNS_ENDED, notices.marked({new_id: 0}))
    await follow_ends(transaction, [new_id])
    return Marked(MarkAnswer.RECORDED, new_id)


async def _take_mark(transaction: Transaction, run_id: RunId, new_id: RunId) -> RunId | None:
    """Who stands for a run already, and has not been removed. None: the new one does from now on."""
    key = mark_key(run_id)
    if await transaction.value("take_mark", run_id, key, new_id) is not None:
        return None
    for known, is_kept in await transaction.rows("stand_in", run_id, key):
        if is_kept:
            return RunId(known)
    await transaction.run("retake_mark", run_id, key, new_id)
    return None
