"""The worker role: claims runs of its queues and executes them. Uses only `ports.work` of the storage."""

import asyncio
from collections.abc import Awaitable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final

from foliot.domain.ids import IdSource
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lease import LOCAL, WorkerFacts
from foliot.domain.run.outcome import Outcome
from foliot.engine.deadline import DeadlinePassed, deadline
from foliot.engine.loop import Duty
from foliot.engine.worker.attempt import Ending, RunningAttempt
from foliot.engine.worker.consumer import Consumer, Execute
from foliot.engine.worker.finisher import Finisher
from foliot.engine.worker.heartbeat import LEASE, Heartbeat
from foliot.engine.worker.logbook import LogBook
from foliot.engine.worker.progress import ProgressCollector
from foliot.ports.channel import RunChannel
from foliot.ports.clock import Clock
from foliot.ports.queue import Queue
from foliot.ports.runner import Runner, Sweep
from foliot.ports.work import Work

_END_TIMEOUT: Final = Millis(10 * SECOND)


class WorkerRole:
    """The duties of a worker. `cancels` is set when cancellation of a run may have been requested."""

    def __init__(
        self,
        work: Work,
        queue: Queue,
        clock: Clock,
        ids: IdSource,
        execute: Execute,
        *,
        label: str,
        queues: tuple[str, ...],
        slots: int,
        process: str = "",
        facts: WorkerFacts = LOCAL,
        lease: Millis = LEASE,
        poll: Millis = SECOND,
        runners: Collection[Runner] = (),
        sweep: Sweep | None = None,
        channel: RunChannel | None = None,
        cancels: asyncio.Event | None = None,
    ) -> None:
        self._clock = clock
        self.finisher = Finisher(work)
        self.logbook = LogBook(work, clock)
        self.progress = ProgressCollector(work, clock)
        self._channel = channel
        wake = asyncio.Event() if cancels is None else cancels
        self.heartbeat = Heartbeat(
            work,
            clock,
            ids,
            label=label,
            queues=queues,
            slots=slots,
            process=process,
            facts=facts,
            wake=wake,
            lease=lease,
        )
        self.consumer = Consumer(
            work,
            queue,
            clock,
            self.heartbeat,
            self.finisher,
            self.logbook,
            self.progress,
            execute,
            runners=runners,
            sweep=sweep,
            channel=channel,
            poll=poll,
        )
        self.finisher.on_saved = self.consumer.notify_free_slot
        self.heartbeat.attach(self.consumer, try_claims=self.consumer.wake.set)
        self.claim_loops = self.consumer.claim_loops
        self.duties: Sequence[Duty] = (self.heartbeat, *self.claim_loops, *self.savers)

    @property
    def savers(self) -> Sequence[Duty]:
        """The duties that save what attempts have done. They stop after the last attempt has ended."""
        return self.finisher, self.logbook, self.progress

    async def open_channel(self) -> None:
        """Open the channel for jobs, before the first run is claimed."""
        if self._channel is not None:
            await self._channel.open()

    async def close_channel(self) -> None:
        if self._channel is not None:
            await self._channel.close()

    async def drain(self, limit: Millis) -> None:
        """Wait until attempts have ended, at most `limit`. End the remaining ones; their runs are given back."""
        self.heartbeat.announce_draining()
        with suppress(DeadlinePassed):
            async with deadline(self._clock, limit):
                await self.consumer.drain()
        self.consumer.end(list(self.consumer.held), Ending.SHUTDOWN)
        # A coroutine that ignores its cancellation keeps running; its lease expires.
        with suppress(DeadlinePassed):
            async with deadline(self._clock, _END_TIMEOUT):
                await self.consumer.drain()
        self.consumer.attempt_log.summarize(is_last=True)


def execute_with(runners: Mapping[str, Runner]) -> Execute:
    """Return a function that executes a run with the runner of its kind."""

    def execute(running: RunningAttempt) -> Awaitable[Outcome]:
        return running.execute(runners)

    return execute
