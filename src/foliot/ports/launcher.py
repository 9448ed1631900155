"""The launcher port: an application implements it to start workflows itself."""

from collections.abc import Awaitable
from datetime import datetime
from inspect import isawaitable
from typing import Any, Protocol


class RunLauncher(Protocol):
    """Starts workflows in the place of Foliot: the interface of a launcher. `start` may be asynchronous or plain."""

    def start(
        self,
        workflow_id: str,
        version: int | None,
        user_id: str | None,
        scheduled_for: datetime,
        idempotency_key: str,
    ) -> bool | str | Awaitable[bool | str]:
        """Start one run for the tick, once per key. Return False if it cannot be started.

        The id of the run in the executor, as text, means that the executor reports how it ends (`app.launches.report`):
        until then the run of the tick is running. True means that no report follows: the run of the tick ends now.

        It is called with keyword arguments. A plain function must return without blocking: the worker waits for it.
        """
        ...


async def ask(launcher: RunLauncher, **arguments: Any) -> bool | str:
    """Call the launcher, await the result if it is awaitable, and return it."""
    result = launcher.start(**arguments)
    return await result if isawaitable(result) else result
