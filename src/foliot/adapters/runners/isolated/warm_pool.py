"""Interpreters that are started ahead, so that a call need not wait for one.

    a call finds none   -> one more is wanted from now on, up to a few
    a call takes one    -> another is started in its place
    one waits too long  -> it is let go, and one less is wanted

So there is none before the first call, one for a job that runs every minute, a few where calls come in bursts, and
after a quiet while none again. Each serves one call: nothing that a function does can be seen by the next.
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

MOST: Final = 8
IDLE: Final = 150.0
"""Seconds that a spare waits: more than two minutes, so that what runs every two minutes always finds one."""

_LAST_WAIT: Final = 1.0
_NOBODY: Final = AttemptKey("spare")


@dataclass(slots=True)
class Bucket:
    """The spares of one request, the oldest first: equal in everything that is fixed when an interpreter starts."""

    request: SpawnRequest
    wanted: int = 0
    ready: list[tuple[float, Interpreter]] = field(default_factory=list)


class WarmPool:
    """Keeps spares for the calls of one event loop. They are gone when the loop is."""

    def __init__(self, *, most: int = MOST, idle: float = IDLE) -> None:
        self._most = most
        self._idle = idle
        self._buckets: list[Bucket] = []
        self._keeper: asyncio.Task[None] | None = None
        self._demand = asyncio.Event()

    def take(self, request: SpawnRequest) -> Interpreter | None:
        """One that was started ahead, if there is one; it may have died since. Another is started for the next call."""
        self._start_keeper()
        bucket = self._bucket(request)
        self._demand.set()
        if bucket.ready:
            # The youngest, so that those which are too many grow old.
            return bucket.ready.pop()[1]
        bucket.wanted = min(bucket.wanted + 1, self._most)
        return None

    async def close(self) -> None:
        """Let all of them go. More are started if there are more calls."""
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
                await _end([interpreter for bucket in self._buckets for interpreter in self._old_of(bucket)])
                self._buckets = [bucket for bucket in self._buckets if bucket.wanted]
        finally:
            buckets, self._buckets = self._buckets, []
            await _end([interpreter for bucket in buckets for _, interpreter in bucket.ready])

    def _fill(self) -> None:
        """Start what is wanted, as long as there are not too many in all."""
        count = sum(len(bucket.ready) for bucket in self._buckets)
        for bucket in self._buckets:
            while len(bucket.ready) < bucket.wanted and count < self._most:
                try:
                    check_reserve()
                    interpreter = _start(bucket.request)
                except (OSError, ValueError) as error:
                    # A call that needs one says what is wrong, to those whom it concerns.
                    log.warning("spare_not_started", extra={"error": str(error)})
                    bucket.wanted = len(bucket.ready)
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
        """Take those off the bucket that nobody has needed for long, and count on fewer from now on."""
        limit = asyncio.get_running_loop().time() - self._idle
        old = [interpreter for since, interpreter in bucket.ready if since <= limit]
        bucket.ready = [(since, interpreter) for since, interpreter in bucket.ready if since > limit]
        bucket.wanted -= len(old)
        return old


def _start(request: SpawnRequest) -> Interpreter:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        return Interpreter.start(request, _NOBODY, nowhere, nowhere)
    finally:
        os.close(nowhere)


async def _end(interpreters: list[Interpreter]) -> None:
    """End spares and reap them, before a cancellation is obeyed."""
    shield = ShieldedWait()
    for interpreter in interpreters:
        interpreter.kill()
    for interpreter in interpreters:
        await shield.wait(interpreter.ending.ended, _LAST_WAIT)
        interpreter.forget()
    shield.raise_if_cancelled()
