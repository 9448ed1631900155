"""Success by hand (`domain.run.mark`): what has not started ends as one, what is over gets a run that stands for it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from foliot.adapters.storage.shared import event_items as notices
from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite import admission, cancels
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.endings import follow_ends
from foliot.adapters.storage.sqlite.events import add_event
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.mark import MarkAnswer, Marked, mark_key, mark_trigger
from foliot.domain.run.run import Status

SQL: Final = load_queries(Path(__file__).parent / "sql" / "marks.sql")


def mark_runs(tx: Transaction, project: str, marks: Mapping[RunId, RunId], now: Instant) -> dict[RunId, Marked]:
    answers = {run_id: Marked(MarkAnswer.NOT_FOUND, run_id) for run_id in marks}
    unstarted: dict[RunId, int] = {}
    for run_id, status, is_under_way, attempt, job_id in tx.rows(SQL["mark_candidates"], (encode_names(marks),)):
        if is_under_way:
            answers[run_id] = Marked(MarkAnswer.RUNNING, run_id)
        elif status == Status.SCHEDULED:
            unstarted[run_id] = attempt
            answers[run_id] = Marked(MarkAnswer.MARKED, run_id)
        elif status == Status.SUCCESS:
            answers[run_id] = Marked(MarkAnswer.SUCCESS, run_id)
        else:
            answers[run_id] = _stand_in(tx, project, (run_id, marks[run_id]), job_id, now)
    _end_unstarted(tx, unstarted, now)
    return answers


def _end_unstarted(tx: Transaction, attempts: Mapping[RunId, int], now: Instant) -> None:
    if attempts:
        keys = cancels.take_unstarted(tx, attempts)
        tx.run_many(SQL["mark_unstarted"], [(now, run_id) for run_id in attempts])
        add_event(tx, now, EventKind.RUNS_ENDED, notices.marked(attempts))
        follow_ends(tx, attempts)
        admission.admit_keys(tx, keys)


def _stand_in(tx: Transaction, project: str, pair: tuple[RunId, RunId], job_id: JobId, now: Instant) -> Marked:
    """The run that stands for one that is over: the one there is, or a new one."""
    run_id, new_id = pair
    known = tx.value(SQL["stand_in"], (project, job_id, mark_key(run_id)))
    if known is not None:
        return Marked(MarkAnswer.SUCCESS, RunId(known))
    tx.run(SQL["add_stand_in"], (new_id, mark_trigger(run_id), now, run_id))
    tx.run(SQL["remember_stand_in"], (project, job_id, mark_key(run_id), new_id))
    add_event(tx, now, EventKind.RUNS_CREATED, [[new_id, job_id]])
    add_event(tx, now, EventKind.RUNS_ENDED, notices.marked({new_id: 0}))
    follow_ends(tx, [new_id])
    return Marked(MarkAnswer.RECORDED, new_id)
