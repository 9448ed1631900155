"""The launch runner: passes ticks of workflows to the application's launcher."""

from datetime import datetime

import msgspec

from foliot.domain.run.outcome import Failure, Launched, Reason, Success
from foliot.domain.run.report import check_executor_run_id
from foliot.errors import InvalidInput
from foliot.ports.launcher import RunLauncher, ask
from foliot.ports.runner import Attempt


class _Arguments(msgspec.Struct, frozen=True, kw_only=True):
    workflow_id: str
    version: int | None
    user_id: str | None
    scheduled_for: datetime
    idempotency_key: str


class LaunchRunner:
    """Runs the job `foliot.launch`. If the launcher returns False or raises, the job's retries call it again. If it
    returns an id, the executor of the application has the run."""

    abandoned = 0

    def __init__(self, launcher: RunLauncher) -> None:
        self._launcher = launcher

    async def run(self, attempt: Attempt) -> Success | Launched | Failure:
        arguments = msgspec.convert(attempt.payload, _Arguments)
        try:
            answer: object = await ask(self._launcher, **msgspec.structs.asdict(arguments))
        except Exception as error:
            # The launcher is code of the application: any exception means that nothing was started.
            return Failure(f"{type(error).__name__}: {error}", Reason.LAUNCH_FAILED)
        if answer is True or (answer and attempt.tick is None):
            # A run without a tick, such as a repeated one, has no key of its own that could be reported.
            return Success()
        if not answer:
            return Failure(f'the launcher could not start "{arguments.workflow_id}"', Reason.LAUNCH_FAILED)
        try:
            return Launched(check_executor_run_id(answer))
        except InvalidInput as error:
            # Not retryable: the executor has started the run.
            return Failure(f"the launcher returned an invalid id: {error}", Reason.LAUNCH_FAILED, retryable=False)
