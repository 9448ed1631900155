"""The launch runner: passes ticks of workflows to the application's launcher."""

from datetime import datetime

import msgspec

from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.ports.launcher import RunLauncher, ask
from foliot.ports.runner import Attempt


class _Arguments(msgspec.Struct, frozen=True, kw_only=True):
    workflow_id: str
    version: int | None
    user_id: str | None
    scheduled_for: datetime
    idempotency_key: str


class LaunchRunner:
    """Runs the job `foliot.launch`. If the launcher returns False or raises, the job's retries call it again."""

    abandoned = 0

    def __init__(self, launcher: RunLauncher) -> None:
        self._launcher = launcher

    async def run(self, attempt: Attempt) -> Success | Failure:
        arguments = msgspec.convert(attempt.payload, _Arguments)
        try:
            is_started = await ask(self._launcher, **msgspec.structs.asdict(arguments))
        except Exception as error:
            # The launcher is code of the application: any exception means that nothing was started.
            return Failure(f"{type(error).__name__}: {error}", Reason.LAUNCH_FAILED)
        if is_started:
            return Success()
        return Failure(f'the launcher could not start "{arguments.workflow_id}"', Reason.LAUNCH_FAILED)
