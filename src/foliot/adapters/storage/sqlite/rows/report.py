"""Saves reports of the application's executor (`domain.run.report`)."""

from foliot.adapters.storage.sqlite.database.group_commit import Transaction
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.rows.cancel import take_unstarted
from foliot.adapters.storage.sqlite.rows.end import end_unstarted
from foliot.adapters.storage.sqlite.rows.finish import Finishes
from foliot.domain.instant import Instant
from foliot.domain.run.lease import Finish
from foliot.domain.run.report import Report, Reportable, ReportAnswer, Reported, answer_to, reported
from foliot.domain.run.run import Status


def save_report(tx: Transaction, finishes: Finishes, project: str, report: Report, now: Instant) -> Reported:
    """Save a report about the run of a tick."""
    row = tx.row(SQL["reportable_runs"], (report.key, project))
    if row is None:
        return Reported(ReportAnswer.NOT_FOUND)
    run = Reportable(*row)
    run = run._replace(status=Status(run.status), is_started=bool(run.is_started))
    answer = answer_to(report, run)
    if answer is ReportAnswer.SAVED:
        _save(tx, finishes, report, run, now)
    return reported(answer, report, run)


def _save(tx: Transaction, finishes: Finishes, report: Report, run: Reportable, now: Instant) -> None:
    started_at = now if report.status is Status.RUNNING else None
    tx.run(SQL["save_launches"], (run.run_id, report.executor_run_id, started_at))
    if report.status is Status.RUNNING:
        return
    if run.worker_id is not None and run.token is not None:
        finishes.finish(tx, [Finish(run.run_id, run.worker_id, run.token, report.outcome)], now)
    else:
        endings = {run.run_id: report.ending}
        end_unstarted(tx, endings, take_unstarted(tx, endings), now)
