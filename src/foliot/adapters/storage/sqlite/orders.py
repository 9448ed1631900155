"""Commands of people and programs about runs: create, cancel, answer, mark and report."""

from collections.abc import Collection, Mapping, Sequence

from foliot.adapters.storage.shared import changes, event_items
from foliot.adapters.storage.shared.documents import encode_names
from foliot.adapters.storage.sqlite.database.context import Context, PortBase
from foliot.adapters.storage.sqlite.database.errors import UNSTORABLE
from foliot.adapters.storage.sqlite.database.group_commit import Bulk, Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.cancel import cancel_runs, take_unstarted
from foliot.adapters.storage.sqlite.rows.create import create_runs
from foliot.adapters.storage.sqlite.rows.end import end_unstarted, follow_ends
from foliot.adapters.storage.sqlite.rows.finish import Finishes
from foliot.adapters.storage.sqlite.rows.report import save_report
from foliot.domain.access.trail import are_runs_recorded
from foliot.domain.alert import Alert
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import MarkAnswer, Marked, mark_key, mark_trigger
from foliot.domain.run.outcome import Reason
from foliot.domain.run.report import Report, Reported
from foliot.domain.run.run import Ended, NewRun, Status
from foliot.domain.tree.settlement import SharedChange
from foliot.ports.orders import Created


class SqliteOrders(PortBase):
    """Fills `ports.orders.Orders`."""

    def __init__(self, context: Context, finishes: Finishes) -> None:
        super().__init__(context)
        self._finishes = finishes

    async def create(self, runs: Sequence[NewRun], *, at: Instant | None = None) -> list[Created]:
        def work(tx: Transaction, together: Sequence[NewRun]) -> list[Created]:
            return _create(tx, self._project, together, tx.now(at))

        return await self._writer.submit("create", Bulk(work, runs, alike=at))

    async def cancel(self, run_ids: Collection[RunId], *, at: Instant | None = None) -> dict[RunId, CancelAnswer]:
        def work(tx: Transaction) -> dict[RunId, CancelAnswer]:
            now = tx.now(at)
            answers = cancel_runs(tx, run_ids, now)
            tx.record(now, changes.cancelled_runs(answers))
            return answers

        return await self._writer.submit("cancel", work)

    async def answer(self, answers: Mapping[RunId, Ended], *, at: Instant | None = None) -> list[RunId]:
        def work(tx: Transaction) -> list[RunId]:
            rows = tx.rows(SQL["cancel_candidates"], (encode_names(answers),))
            unstarted = [RunId(run_id) for run_id, is_over, is_running, *_ in rows if not is_over and not is_running]
            ends = {run_id: answers[run_id] for run_id in unstarted}
            end_unstarted(tx, ends, take_unstarted(tx, ends), tx.now(at))
            tx.record(tx.now(at), changes.answered_runs(ends))
            return unstarted

        return await self._writer.submit("answer", work)

    async def mark(self, marks: Mapping[RunId, RunId], *, at: Instant | None = None) -> dict[RunId, Marked]:
        def work(tx: Transaction) -> dict[RunId, Marked]:
            now = tx.now(at)
            answers = _mark(tx, self._project, marks, now)
            tx.record(now, changes.marked_runs(answers))
            return answers

        return await self._writer.submit("mark", work)

    async def report(self, report: Report, *, at: Instant | None = None) -> Reported:
        return await self._writer.submit(
            "report", lambda tx: save_report(tx, self._finishes, self._project, report, tx.now(at))
        )

    async def change_class(
        self, change: SharedChange, cancels: Collection[RunId], alerts: Sequence[Alert], *, at: Instant | None = None
    ) -> bool:
        def work(tx: Transaction) -> bool:
            if not tx.run(SQL["change_shared"], (self._project, change.key, change.version, change.body)):
                return False
            cancel_runs(tx, cancels, tx.now(at))
            tx.add_event(tx.now(at), EventKind.ALERT_RAISED, event_items.alerts(alerts))
            tx.record(tx.now(at), changes.changed_class(change.key, cancels, alerts))
            return True

        return await self._writer.submit("change_class", work)


# -- create


def _create(tx: Transaction, project: str, runs: Sequence[NewRun], now: Instant) -> list[Created]:
    """Create runs. A run that cannot be stored, or exists already, is answered as not new."""
    try:
        with tx.savepoint():
            return _create_all(tx, project, runs, now)
    except UNSTORABLE:
        if len(runs) == 1:
            return [Created(runs[0].id, is_new=False)]
        return [created for run in runs for created in _create(tx, project, [run], now)]


def _create_all(tx: Transaction, project: str, runs: Sequence[NewRun], now: Instant) -> list[Created]:
    made_from = {(run.job_id, run.job_revision) for run in runs if run.job_revision is not None}
    outdated = {job for job in made_from if tx.value(SQL["outdated_jobs"], (project, *job))}
    fresh: set[RunId] = set()
    answers = [
        Created(run.id, is_new=False, is_outdated=True)
        if (run.job_id, run.job_revision) in outdated
        else _created(tx, project, run, now, fresh)
        for run in runs
    ]
    new = [run for run, answer in zip(runs, answers, strict=True) if answer.is_new]
    create_runs(tx, project, new, now)
    if are_runs_recorded(tx.actor):
        tx.record(now, changes.created_runs(new))
    return answers


def _created(tx: Transaction, project: str, run: NewRun, now: Instant, fresh: set[RunId]) -> Created:
    holder = None if run.dedupe_key is None else _dedupe(tx, project, run, now, fresh)
    return Created(holder or run.id, holder is None)


def _dedupe(tx: Transaction, project: str, run: NewRun, now: Instant, fresh: set[RunId]) -> RunId | None:
    """Return the run that has the key. None: this run took the key, and is added to `fresh`, the runs of this batch."""
    row = tx.row(SQL["key_holder"], (project, run.job_id, run.dedupe_key))
    if row is not None:
        holder, scope, expires_at, is_kept, is_over = row
        binds = {"forever": is_kept, "active": is_kept and not is_over, "window": (expires_at or 0) > now}
        if holder in fresh or binds[scope]:
            return RunId(holder)
    expires_at = now + (run.dedupe_for or 0) if run.dedupe_scope == "window" else None
    values = (project, run.job_id, run.dedupe_key, run.id, run.dedupe_scope, expires_at)
    tx.run(SQL["take_key"], values)
    fresh.add(run.id)
    return None


# -- mark


def _mark(tx: Transaction, project: str, marks: Mapping[RunId, RunId], now: Instant) -> dict[RunId, Marked]:
    answers = {run_id: Marked(MarkAnswer.NOT_FOUND, run_id) for run_id in marks}
    ends: dict[RunId, Ended] = {}
    for run_id, status, is_running, job_id in tx.rows(SQL["mark_candidates"], (encode_names(marks),)):
        if is_running:
            answers[run_id] = Marked(MarkAnswer.RUNNING, run_id)
        elif status == Status.SCHEDULED:
            ends[run_id] = Ended(Status.SUCCESS, Reason.MARKED)
            answers[run_id] = Marked(MarkAnswer.MARKED, run_id)
        elif status == Status.SUCCESS:
            answers[run_id] = Marked(MarkAnswer.SUCCESS, run_id)
        else:
            answers[run_id] = _substitute(tx, project, (run_id, marks[run_id]), job_id, now)
    end_unstarted(tx, ends, take_unstarted(tx, ends), now)
    return answers


def _substitute(tx: Transaction, project: str, pair: tuple[RunId, RunId], job_id: JobId, now: Instant) -> Marked:
    """Return the substitute of an ended run: the existing one, or a new one."""
    run_id, new_id = pair
    known = tx.value(SQL["substitute"], (project, job_id, mark_key(run_id)))
    if known is not None:
        return Marked(MarkAnswer.SUCCESS, RunId(known))
    tx.run(SQL["add_substitute"], (new_id, mark_trigger(run_id), now, run_id))
    tx.run(SQL["take_mark"], (project, job_id, mark_key(run_id), new_id))
    tx.add_event(now, EventKind.RUNS_CREATED, [[new_id, job_id]])
    tx.add_event(now, EventKind.RUNS_ENDED, event_items.marked({new_id: 0}))
    follow_ends(tx, [new_id])
    return Marked(MarkAnswer.RECORDED, new_id)
