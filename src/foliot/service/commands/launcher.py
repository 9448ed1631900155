"""The launcher that a scheduler calls when the application has none of its own."""

from datetime import datetime

from msgspec.structs import replace

from foliot.domain.schedule.schedule import MAX_USER_ID, MAX_VERSION
from foliot.domain.schedule.tick_run import SCHEDULE_TRIGGER
from foliot.errors import InvalidRun, NotFound
from foliot.service.commands.run_request import RunRequest
from foliot.service.commands.runs import RunService
from foliot.service.commands.workflows import WorkflowService


class ServiceLauncher:
    """Starts an execution of the workflow of that name, or else a run of the job of that name.

    A second call with the same key starts nothing. A missing workflow, version or job returns False.
    """

    def __init__(self, runs: RunService, workflows: WorkflowService) -> None:
        self._runs = runs
        self._workflows = workflows

    async def start(
        self,
        workflow_id: str,
        version: int | None,
        user_id: str | None,
        scheduled_for: datetime,
        idempotency_key: str,
    ) -> bool:
        _check(workflow_id, version, user_id, idempotency_key)
        request = RunRequest(dedupe_key=idempotency_key, trigger=SCHEDULE_TRIGGER, scheduled_for=scheduled_for)
        try:
            if await self._workflows.exists(workflow_id):
                await self._workflows.start(
                    workflow_id, version=version, user_id=user_id, idempotency_key=idempotency_key, request=request
                )
            else:
                await self._runs.enqueue(workflow_id, _with_start(request, user_id, idempotency_key))
        except NotFound:
            return False
        return True


def _with_start(request: RunRequest, user_id: str | None, idempotency_key: str) -> RunRequest:
    """Add the user and the key that the run of a job shows, as an execution does."""
    user = {} if user_id is None else {"user_id": user_id}
    return replace(request, extra={"start": {**user, "idempotency_key": idempotency_key}})


def _check(workflow_id: object, version: object, user_id: object, idempotency_key: object) -> None:
    """Refuse arguments that no schedule can give."""
    for name, value in (("workflow_id", workflow_id), ("idempotency_key", idempotency_key)):
        if not isinstance(value, str):
            raise InvalidRun(f"{name} must be text, not {type(value).__name__}", hint="Write it in quotes.", field=name)
    is_number = isinstance(version, int) and not isinstance(version, bool) and 0 <= version <= MAX_VERSION
    if version is not None and not is_number:
        raise InvalidRun(
            f"version must be 0 to {MAX_VERSION}, not {version!r:.32}",
            hint="Give None for the newest version.",
            field="version",
        )
    is_name = isinstance(user_id, str) and user_id.isprintable() and 0 < len(user_id) <= MAX_USER_ID
    if user_id is not None and not is_name:
        raise InvalidRun(
            f"user_id must be printable text of 1 to {MAX_USER_ID} characters",
            hint="Give the name or the number of the user as text, or None.",
            field="user_id",
        )
