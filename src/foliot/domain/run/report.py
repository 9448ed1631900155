"""Reports of the application's executor about the runs that its launcher started.

    start returns an id --> RUNNING, held by the executor --success, failed--> SUCCESS | FAILED
                               |                    |
                               +-- cancel --> CANCELLED, at the next round of the reaper
                                                    +-- no report before the timeout --> TIMEOUT

A report may arrive before the worker has saved that the launch succeeded, or after an attempt to launch that seemed to
fail: then the run has been attempted, and the report counts. It does not count if the run was never launched or has
ended.
"""

from contextlib import suppress
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct

from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.run import Ended, Status, parse_status
from foliot.domain.secrets import public_error
from foliot.errors import InvalidInput, shown

MAX_EXECUTOR_RUN_ID: Final = 200
REPORTABLE: Final = (Status.RUNNING, Status.SUCCESS, Status.FAILED)


class Report(Struct, frozen=True):
    """The status of the run of one tick, which the idempotency key identifies."""

    key: str
    status: Status
    """One of `REPORTABLE`."""
    executor_run_id: str | None = None
    error: str | None = None

    @property
    def outcome(self) -> Success | Failure:
        """The outcome of the attempt that launched the run, if the report ends it."""
        if self.status is Status.SUCCESS:
            return Success()
        return Failure(self.error or "the executor reported a failure", Reason.EXECUTOR_FAILED, retryable=False)

    @property
    def ending(self) -> Ended:
        """The end of a run that waits for another attempt to launch it."""
        if self.status is Status.SUCCESS:
            return Ended(Status.SUCCESS)
        error = self.error or "the executor reported a failure"
        return Ended(Status.FAILED, Reason.EXECUTOR_FAILED, public_error(error))


class ReportAnswer(StrEnum):
    """What a report changed."""

    SAVED = "saved"
    """The run has the reported status now."""
    REPEATED = "repeated"
    """The run had the reported status: nothing changed."""
    ENDED = "ended"
    """The run had ended in another way: nothing changed."""
    NOT_LAUNCHED = "not_launched"
    """The launcher has not been called for the tick: nothing changed."""
    OTHER_RUN = "other_run"
    """The tick was started as another run of the executor: nothing changed."""
    NOT_FOUND = "not_found"


class Reported(NamedTuple):
    """The answer to a report, with the run of the tick, its status and its id in the executor."""

    answer: ReportAnswer
    run_id: RunId | None = None
    status: Status | None = None
    executor_run_id: str | None = None


class LaunchRecord(NamedTuple):
    """What is known of a run in the executor: its id there, and when it reported the start."""

    executor_run_id: str | None
    started_at: Instant | None


class Reportable(NamedTuple):
    """The stored run of a tick that a launcher starts."""

    run_id: RunId
    status: Status
    """The stored status: `scheduled` until it has ended."""
    reason: str | None
    attempt: int
    """How many attempts have ended."""
    worker_id: WorkerId | None
    """The holder of its lease: a worker that calls the launcher, or the executor."""
    token: Token | None
    executor_run_id: str | None
    is_started: bool
    """Whether a start was reported."""


def answer_to(report: Report, run: Reportable) -> ReportAnswer:
    """Return what the report means for the run."""
    known = run.executor_run_id
    if None not in (known, report.executor_run_id) and known != report.executor_run_id:
        return ReportAnswer.OTHER_RUN
    if run.status.is_terminal:
        return ReportAnswer.REPEATED if _is_same_end(report, run) else ReportAnswer.ENDED
    if run.token is None and run.attempt == 0:
        return ReportAnswer.NOT_LAUNCHED
    return ReportAnswer.REPEATED if report.status is Status.RUNNING and run.is_started else ReportAnswer.SAVED


def reported(answer: ReportAnswer, report: Report, run: Reportable) -> Reported:
    """Return the answer with the state of the run after it."""
    is_ended = report.status.is_terminal and answer is ReportAnswer.SAVED
    status = report.status if is_ended else run.status if run.token is None else Status.RUNNING
    return Reported(answer, run.run_id, status, run.executor_run_id or report.executor_run_id)


def _is_same_end(report: Report, run: Reportable) -> bool:
    # A launch that failed is not a failure that the executor reported.
    expected = (report.ending.status, report.ending.reason)
    return report.status is not Status.RUNNING and (run.status, run.reason) == expected


def parse_reported_status(text: str) -> Status:
    """Return the status that a report names. `started` means running, and other spellings are accepted."""
    with suppress(InvalidInput):
        status = parse_status(text)
        if status in REPORTABLE:
            return status
    hint = "Report started, success or failed."
    raise InvalidInput(f"status {shown(text)} cannot be reported", hint=hint, field="status")


def check_executor_run_id(value: object, field: str = "run_id") -> str:
    """Return the id of a run in the executor. Refuse what cannot be stored and shown."""
    if isinstance(value, str) and value.isprintable() and 0 < len(value) <= MAX_EXECUTOR_RUN_ID:
        return value
    raise InvalidInput(
        f"{field} must be printable text of 1 to {MAX_EXECUTOR_RUN_ID} characters, not {shown(value)}",
        hint="Give the id of the run in the executor as text.",
        field=field,
    )
