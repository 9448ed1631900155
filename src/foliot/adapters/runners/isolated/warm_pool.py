"""Interpreters that are started in advance, so that a call does not have to wait for one.

    a call finds none          -> the target rises by one, up to the size of the pool
    a call takes one           -> another is started in its place
    one is idle for too long   -> it is ended, and the target falls by one

So the pool has none before the first call, one for a job that runs every minute, several for bursts of calls, and none
again after a while without calls. Each interpreter serves one call, so a function cannot affect the next call.
"""

import asyncio
import logging
import os
from dataclasses import dataclass, field
from typing import Final

from foliot.adapters.runners.isolated.interpreter import Interpreter
from foliot.adapters.runners.process.limits.descriptors import check_reserve
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from foliot.adapters.runners.process.spawn.program import SpawnRequest
from foliot.adapters.runners.process.termination.shielded_wait import ShieldedWait

log = logging.getLogger(__name__)

SIZE: Final = 8
IDLE_LIMIT: Final = 150.0
"""Seconds that an interpreter may be idle. Enough for a job that runs every two minutes."""

_LAST_WAIT: Final = 1.0
_UNASSIGNED: Final = AttemptKey("warm")


@dataclass(slots=True)
class Bucket:
    """The interpreters that were started by equal requests, the oldest first."""

    request: SpawnRequest
    target: int = 0
    ready: list[tuple[float, Interpreter]] = field(default_factory=list)


class WarmPool:
    """Keeps warm interpreters for the calls of one event loop. They end with the loop."""

    def __init__(self, *, size: int = SIZE, idle: float = IDLE_LIMIT) -> None:
        self._size = size
        self._idle = idle
        self._buckets: list[Bucket] = []
        self._keeper: asyncio.Task[None] | None = None
        self._demand = asyncio.Event()

    def take(self, request: SpawnRequest) -> Interpreter | None:
        """Return a warm interpreter, or None. It may have died. Another one is started for the next call."""
        self._start_keeper()
        bucket = self._bucket(request)
        self._demand.set()
        if bucket.ready:
            # The youngest, so that interpreters that are not needed reach the idle limit.
            return bucket.ready.pop()[1]
        bucket.target = min(bucket.target + 1, self._size)
        return None

    async def close(self) -> None:
        """End all interpreters. Later calls start new ones."""
        if self._keeper is not None and not self._keeper.done():
            self._keeper.cancel()
            await asyncio.wait([self._keeper])

    def _bucket(self, request: SpawnRequest) -> Bucket:
        for bucket in self._buckets:
            if bucket.request == request:
                return bucket
        self._buckets.append(Bucket(request))
        return self._buckets[-1]

    def _start_keeper(self) -> None:
        if self._keeper is None or self._keeper.done():
            self._demand = asyncio.Event()
            self._keeper = asyncio.create_task(self._keep(), name="foliot-warm-pool")

    async def _keep(self) -> None:
        try:
            await self._demand.wait()
            while self._buckets:
                self._demand.clear()
                self._fill()
                await self._until_demand_or_age()
                await _kill_all([interpreter for bucket in self._buckets for interpreter in self._old_of(bucket)])
                self._buckets = [bucket for bucket in self._buckets if bucket.target]
        finally:
            buckets, self._buckets = self._buckets, []
            await _kill_all([interpreter for bucket in buckets for _, interpreter in bucket.ready])

    def _fill(self) -> None:
        """Start interpreters up to the target of each bucket and the size of the pool."""
        count = sum(len(bucket.ready) for bucket in self._buckets)
        for bucket in self._buckets:
            while len(bucket.ready) < bucket.target and count < self._size:
                try:
                    check_reserve()
                    interpreter = _start(bucket.request)
                except (OSError, ValueError) as error:
                    # The next call starts its own interpreter and reports the error in its run.
                    log.warning("warm_interpreter_not_started", extra={"error": str(error)})
                    bucket.target = len(bucket.ready)
                    break
                bucket.ready.append((asyncio.get_running_loop().time(), interpreter))
                count += 1

    async def _until_demand_or_age(self) -> None:
        oldest = min((since for bucket in self._buckets for since, _ in bucket.ready), default=None)
        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(None if oldest is None else max(oldest + self._idle - now, 0)):
                await self._demand.wait()
        except TimeoutError:
            pass

    def _old_of(self, bucket: Bucket) -> list[Interpreter]:
        """Remove and return the interpreters that were idle for too long, and lower the target."""
        limit = asyncio.get_running_loop().time() - self._idle
        old = [interpreter for since, interpreter in bucket.ready if since <= limit]
        bucket.ready = [(since, interpreter) for since, interpreter in bucket.ready if since > limit]
        bucket.target -= len(old)
        return old


def _start(request: SpawnRequest) -> Interpreter:
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        return Interpreter.start(request, _UNASSIGNED, devnull, devnull)
    finally:
        os.close(devnull)


async def _kill_all(interpreters: list[Interpreter]) -> None:
    """Kill and reap interpreters, and only then raise a pending cancellation."""
    shield = ShieldedWait()
    for interpreter in interpreters:
        interpreter.kill()
    for interpreter in interpreters:
        await shield.wait(interpreter.exit_watch.ended, _LAST_WAIT)
        interpreter.forget()
    shield.raise_if_cancelled()
