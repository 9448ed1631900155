"""Answers for people who did not: an approval is a run that is due when its time is up."""

from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.workflow.spec import Answer
from foliot.ports.runner import Attempt


class ApprovalRunner:
    """Gives the answer that the step has for this case."""

    abandoned = 0

    async def run(self, attempt: Attempt) -> Success | Failure:
        if attempt.spec.get("default") == Answer.APPROVE:
            return Success()
        return Failure("nobody approved it in time", Reason.REJECTED, retryable=False)
