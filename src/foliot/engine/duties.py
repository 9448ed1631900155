"""The running duties of a process: started together, and stopped one after the other within limited times."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.engine.deadline import DeadlinePassed, deadline
from foliot.engine.failures import FailureLog
from foliot.engine.loop import Duty, Loop
from foliot.engine.worker.role import WorkerRole
from foliot.errors import FoliotError, StorageUnavailable
from foliot.ports.clock import Clock

log = logging.getLogger(__name__)

_FLUSH_TIMEOUT: Final = Millis(10 * SECOND)
_STEP_TIMEOUT: Final = Millis(5 * SECOND)


class Duties:
    """Runs duties. `fail` is called with an error that no later round can recover from."""

    def __init__(self, clock: Clock, fail: Callable[[FoliotError], None]) -> None:
        self._clock = clock
        self._fail = fail
        self.failures = FailureLog(clock)
        self._loops: dict[Duty, Loop] = {}
        self._tasks: dict[Duty, asyncio.Task[None]] = {}

    @property
    def is_running(self) -> bool:
        """Whether any duty still runs."""
        return any(not task.done() for task in self._tasks.values())

    def start(self, duties: Iterable[Duty]) -> None:
        for duty in duties:
            loop = Loop(duty, self._clock, self._fail, self.failures)
            self._loops[duty] = loop
            self._tasks[duty] = asyncio.create_task(loop.run(), name=duty.name)

    async def halt(self, duties: Sequence[Duty]) -> None:
        """Wait until the current rounds have ended, and cancel those that take too long."""
        for duty in duties:
            self._loops[duty].stop()
        await self.try_step("end rounds", _all(self._tasks[duty] for duty in duties))

    async def stop_worker(self, worker: WorkerRole, drain: Millis) -> None:
        """Claim no more runs, let attempts end within `drain`, save every outcome, and remove the worker."""
        await self.halt(worker.claim_loops)
        await worker.drain(drain)
        await self.try_step("save outcomes", worker.finisher.flush(), _FLUSH_TIMEOUT)
        await self.try_step("close the channel", worker.close_channel())
        await self.halt([*worker.savers, worker.heartbeat])
        await self.try_step("retire worker", worker.heartbeat.retire())

    async def try_step(self, what: str, step: Awaitable[None], limit: Millis = _STEP_TIMEOUT) -> None:
        """Run one step of stopping, and log its error: an unreachable storage must not keep the process from ending."""
        try:
            async with deadline(self._clock, limit):
                await step
        except (StorageUnavailable, DeadlinePassed) as error:
            log.error("stop_step_failed", extra={"step": what, "problem": str(error) or "it took too long"})
        except Exception:
            log.exception("stop_step_failed", extra={"step": what})


async def _all(tasks: Iterable[asyncio.Task[None]]) -> None:
    await asyncio.gather(*tasks)
