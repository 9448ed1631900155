"""Starts what a schedule names: the library form of the launcher that a scheduler calls."""

from datetime import datetime

from foliot.domain.launch import SCHEDULE_TRIGGER
from foliot.errors import NotFound
from foliot.service.desk import Desk, Request
from foliot.service.executions import Executions
from foliot.service.workflows import Workflows


class DeskLauncher:
    """Starts an execution of the workflow, or a run of the job of that name. Calling it again with the same key starts
    nothing; a workflow, a version or a job that does not exist is answered with False."""

    def __init__(self, desk: Desk, workflows: Workflows, executions: Executions) -> None:
        self._desk = desk
        self._workflows = workflows
        self._executions = executions

    async def start(
        self,
        workflow_id: str,
        version: int | None,
        user_id: str | None,
        scheduled_for: datetime,
        idempotency_key: str,
    ) -> bool:
        request = Request(dedupe_key=idempotency_key, trigger=SCHEDULE_TRIGGER, scheduled_for=scheduled_for)
        try:
            if await self._workflows.exists(workflow_id):
                await self._executions.start(workflow_id, version=version, user_id=user_id, request=request)
            else:
                await self._desk.enqueue(workflow_id, request)
        except NotFound:
            return False
        return True
