"""Saves reports of the application's executor (`domain.run.report`)."""

from typing import Final

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.rows.cancel import take_unstarted
from foliot.adapters.storage.postgres.rows.definition import DefinitionReader
from foliot.adapters.storage.postgres.rows.end import end_unleased
from foliot.adapters.storage.postgres.rows.finish import finish_runs
from foliot.domain.instant import Instant
from foliot.domain.run.lease import Finish
from foliot.domain.run.report import Report, Reportable, ReportAnswer, Reported, answer_to, reported
from foliot.domain.run.run import Status
from foliot.errors import StorageUnavailable

_ROUNDS: Final = 10


async def save_report(
    transaction: Transaction, definitions: DefinitionReader, project: str, report: Report, at: Instant | None
) -> Reported:
    """Save a report about the run of a tick. As in `rows.cancel`, a run that moves meanwhile is read again."""
    now = await transaction.now(at)
    for _ in range(_ROUNDS):
        rows = await transaction.rows("reportable_runs", report.key, project)
        if not rows:
            return Reported(ReportAnswer.NOT_FOUND)
        run_id, status, *others = rows[0]
        run = Reportable(run_id, Status(status), *others)
        answer = answer_to(report, run)
        if answer is not ReportAnswer.SAVED or await _is_saved(transaction, definitions, report, run, now):
            return reported(answer, report, run)
    raise StorageUnavailable(f"the run {run_id} changed in every round")


async def _is_saved(
    transaction: Transaction, definitions: DefinitionReader, report: Report, run: Reportable, now: Instant
) -> bool:
    """Save the report, unless the run has moved since it was read."""
    if report.status is not Status.RUNNING and not await _end(transaction, definitions, report, run, now):
        return False
    started_at = now if report.status is Status.RUNNING else None
    await transaction.run("save_launches", [run.run_id], [report.executor_run_id], [started_at])
    return True


async def _end(
    transaction: Transaction, definitions: DefinitionReader, report: Report, run: Reportable, now: Instant
) -> bool:
    if run.worker_id is not None and run.token is not None:
        finish = Finish(run.run_id, run.worker_id, run.token, report.outcome)
        return not await finish_runs(transaction, definitions, [finish], now)
    taken = await take_unstarted(transaction, [run.run_id])
    await end_unleased(transaction, dict.fromkeys(taken, report.ending), now)
    return bool(taken)
