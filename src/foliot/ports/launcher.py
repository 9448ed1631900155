"""The launcher port: what an application puts in the place of ours when it starts workflows itself."""

from datetime import datetime
from typing import Protocol


class RunLauncher(Protocol):
    async def start(
        self,
        workflow_id: str,
        version: int | None,
        user_id: str | None,
        scheduled_for: datetime,
        idempotency_key: str,
    ) -> bool:
        """Start one run for the tick, once per key. False: it cannot be started.

        A plain function will do where it answers at once: whatever it waits for, the worker waits for.
        """
        ...
