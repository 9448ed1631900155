"""Counts events for /metrics. It begins with the first request, so that a server without requests reads no events."""

import asyncio
import logging
from typing import Final

from foliot.domain.instant import Millis
from foliot.errors import FoliotError
from foliot.service.services import Services

log = logging.getLogger("foliot.api")

_RETRY: Final = Millis(1_000)


class Metering:
    """The task that counts."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    async def start(self, services: Services) -> None:
        """Count from now on, unless this is done already."""
        await services.queries.metrics.meter.begin()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(_count(services), name="metrics")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


async def _count(services: Services) -> None:
    while True:
        try:
            await services.queries.metrics.meter.follow()
        except FoliotError as error:
            # The counters continue at the same event as soon as the database answers.
            log.warning("metrics_interrupted", extra={"code": error.code})
        except Exception:
            log.exception("metrics_failed")
        await services.clock.wait(asyncio.Event(), _RETRY)
