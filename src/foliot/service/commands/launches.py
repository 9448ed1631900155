"""Reports of an application's executor about the runs that its launcher started."""

import logging
from typing import NamedTuple, assert_never

from foliot.domain.input.words import text
from foliot.domain.run.report import Report, ReportAnswer, check_executor_run_id, parse_reported_status
from foliot.domain.run.run import Status
from foliot.errors import InvalidInput, InvalidRun, NotFound, shown
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)


class ReportedRun(NamedTuple):
    """The run of the tick that a report was about."""

    run_id: str
    status: Status
    """The status of the run after the report."""
    is_changed: bool
    """False: the report was a repetition, or the run had ended, and nothing was changed."""


class LaunchService:
    """Records reports about runs that the application's launcher started."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def report(
        self, idempotency_key: str, status: str, run_id: str | None = None, *, error: str | None = None
    ) -> ReportedRun:
        """Set the status of the run of a tick: "started", "success" or "failed". Return the run.

        `idempotency_key` is the key that the launcher got, `run_id` the id of the run in the executor, `error` why it
        failed. Safe to repeat. A report about a run that has ended changes nothing: `is_changed` is False, and
        `status` shows how it ended.
        """
        report = Report(
            text(idempotency_key, "idempotency_key", InvalidInput),
            parse_reported_status(status),
            None if run_id is None else check_executor_run_id(run_id),
            None if error is None else text(error, "error", InvalidInput),
        )
        answer, run, now, known = await self._storage.orders.report(report)
        match answer:
            case ReportAnswer.NOT_FOUND:
                hint = "Give the key that the launcher got. The runs of old ticks are removed by the retention."
                raise NotFound("launched tick", idempotency_key, hint=hint)
            case ReportAnswer.NOT_LAUNCHED:
                hint = "Report a run after the launcher was called for its tick."
                raise InvalidRun(f"run {run} has not been launched yet", hint=hint)
            case ReportAnswer.OTHER_RUN:
                hint = "The launcher must start one run for each key. Report the run whose id it returned."
                raise InvalidRun(f"run {run} was launched as {shown(known)}, not {shown(run_id)}", hint=hint)
            case ReportAnswer.SAVED | ReportAnswer.REPEATED | ReportAnswer.ENDED:
                is_changed = answer is ReportAnswer.SAVED
                facts = {"run": run, "reported": report.status, "status": now, "executor_run": known}
                log.info("launch_reported", extra={**facts, "is_changed": is_changed})
                return ReportedRun(run or "", now or report.status, is_changed)
            case _:
                assert_never(answer)
