"""The approval runner: ends approvals that no one answered. An approval is a run that is due at its deadline."""

from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.workflow.spec import Answer
from foliot.ports.runner import Attempt


class ApprovalRunner:
    """Applies the default answer of the step."""

    abandoned = 0

    async def run(self, attempt: Attempt) -> Success | Failure:
        if attempt.spec.get("default") == Answer.APPROVE:
            return Success()
        return Failure("not approved before the deadline", Reason.REJECTED, retryable=False)
