"""Outcomes of attempts as messages of remote workers, and back."""

from typing import Any

from foliot.domain.run.lease import Finish
from foliot.domain.run.outcome import (
    Cancelled,
    Failure,
    Interrupted,
    Launched,
    Lost,
    Outcome,
    Reason,
    Success,
    TimedOut,
)
from foliot.domain.work.message import FinishedRun


def outcome_of(sent: FinishedRun) -> Outcome:
    """Return the outcome that a worker reports."""
    match sent.status:
        case "success":
            return Success(sent.output, sent.exit_code)
        case "failed":
            error = sent.error or ("it failed" if sent.exit_code is None else f"exit code {sent.exit_code}")
            reason = sent.reason or (Reason.EXCEPTION if sent.exit_code is None else Reason.EXIT_CODE)
            return Failure(error, reason, sent.exit_code, sent.retryable, sent.output)
        case "timeout":
            return TimedOut(sent.error or "it took too long")
        case "cancelled":
            return Cancelled()
        case "interrupted":
            return Interrupted()
        case "lost":
            return Lost()
        case "launched":
            return Launched(sent.executor_run_id)


def finished_run(finish: Finish, token: str) -> FinishedRun:
    """Return the message about an ended attempt. `token` is the text of the token of its lease."""
    return FinishedRun(run_id=finish.run_id, token=token, **_fields(finish.outcome))


def _fields(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Success(output, exit_code):
            return {"status": "success", "output": output, "exit_code": exit_code}
        case Failure(error, reason, exit_code, retryable, output):
            facts = {"error": error, "reason": reason, "exit_code": exit_code}
            return {"status": "failed", **facts, "retryable": retryable, "output": output}
        case TimedOut(error):
            return {"status": "timeout", "error": error}
        case Cancelled():
            return {"status": "cancelled"}
        case Interrupted():
            return {"status": "interrupted"}
        case Lost():
            return {"status": "lost"}
        case Launched(executor_run_id):
            return {"status": "launched", "executor_run_id": executor_run_id}
