"""Starts what a schedule names: the library form of the launcher that a scheduler calls."""

from datetime import datetime

from foliot.domain.launch import SCHEDULE_TRIGGER
from foliot.errors import NotFound
from foliot.service.desk import Desk, Request


class DeskLauncher:
    """Starts a run of the job named by the workflow's id. Calling it again with the same key starts nothing."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def start(
        self,
        workflow_id: str,
        version: int | None,
        user_id: str | None,
        scheduled_for: datetime,
        idempotency_key: str,
    ) -> bool:
        request = Request(dedupe_key=idempotency_key, trigger=SCHEDULE_TRIGGER)
        try:
            await self._desk.enqueue(workflow_id, [request])
        except NotFound:
            return False
        return True
