"""The launcher port: what an application puts in the place of ours when it starts workflows itself."""

from collections.abc import Awaitable
from datetime import datetime
from inspect import isawaitable
from typing import Any, Protocol


class RunLauncher(Protocol):
    """Has one method, a coroutine function or a plain one."""

    def start(
        self,
        workflow_id: str,
        version: int | None,
        user_id: str | None,
        scheduled_for: datetime,
        idempotency_key: str,
    ) -> bool | Awaitable[bool]:
        """Start one run for the tick, once per key. False: it cannot be started.

        It is called with the names above, not by position. A plain function will do where it answers at once: whatever
        it waits for, the worker waits for.
        """
        ...


async def ask(launcher: RunLauncher, **arguments: Any) -> bool:
    """Its answer, whether it is given at once or awaited."""
    answer = launcher.start(**arguments)
    return await answer if isawaitable(answer) else answer
