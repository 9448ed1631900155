"""The outcome of an attempt whose job is invalid."""

from foliot.domain.run.outcome import Failure, Reason
from foliot.errors import InvalidJob


def refusal(error: InvalidJob, exit_code: int | None = None) -> Failure:
    """Return a failure with the message and the hint. It is not retryable: the job would still be invalid."""
    text = f"{error.message}. {error.hint}" if error.hint else error.message
    return Failure(text, Reason.LAUNCH_FAILED, exit_code, retryable=False)
