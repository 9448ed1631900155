"""What becomes of an attempt whose job cannot be carried out as it is written."""

from foliot.domain.run.outcome import Failure, Reason
from foliot.errors import InvalidJob


def refusal(error: InvalidJob, exit_code: int | None = None) -> Failure:
    """The fact and what to do about it. Another try would find the same job, so there is none."""
    told = f"{error.message}. {error.hint}" if error.hint else error.message
    return Failure(told, Reason.LAUNCH_FAILED, exit_code, retryable=False)
