"""Hands ticks to the application's own launcher."""

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
    """Carries out `foliot.launch`. A launcher that says no, or raises, is asked again as the job's retries say."""

    abandoned = 0

    def __init__(self, launcher: RunLauncher) -> None:
        self._launcher = launcher

    async def run(self, attempt: Attempt) -> Success | Failure:
        arguments = msgspec.convert(attempt.payload, _Arguments)
        try:
            is_started = await ask(self._launcher, **msgspec.structs.asdict(arguments))
        except Exception as error:
            # The launcher is the application's: whatever it raises means that nothing was launched.
            return Failure(f"{type(error).__name__}: {error}", Reason.LAUNCH_FAILED)
        if is_started:
            return Success()
        return Failure(f'the launcher could not start "{arguments.workflow_id}"', Reason.LAUNCH_FAILED)
