"""Claims runs up to its free slots and carries them out.

A claim is a start: nothing is fetched ahead, so nothing waits in a busy worker that an idle one could do.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping

from foliot.domain.ids import Token
from foliot.domain.instant import SECOND, Millis
from foliot.domain.lease import Claim, Finish, Worker
from foliot.domain.run import settle
from foliot.engine.attempt import Ending, RunningAttempt
from foliot.engine.definitions import Definitions
from foliot.engine.finisher import Finisher
from foliot.engine.logbook import LogBook
from foliot.engine.membership import Membership
from foliot.ports.queue import Queue
from foliot.ports.runner import Runner
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)


class Consumer:
    """The duty that executes."""

    name = "consumer"

    def __init__(
        self,
        storage: Storage,
        queue: Queue,
        membership: Membership,
        runners: Mapping[str, Runner],
        finisher: Finisher,
        logbook: LogBook,
        *,
        poll: Millis = SECOND,
    ) -> None:
        self._storage = storage
        self._queue = queue
        self._membership = membership
        self._runners = runners
        self._finisher = finisher
        self._logbook = logbook
        self._poll = poll
        self._definitions = Definitions(storage.jobs)
        self._running: dict[Token, RunningAttempt] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_draining = False

    @property
    def wake(self) -> asyncio.Event:
        return self._queue.signal

    @property
    def held(self) -> Collection[Token]:
        """The leases whose attempts are under way here, or have ended without being saved yet."""
        return [*self._running, *self._finisher.tokens]

    @property
    def is_idle(self) -> bool:
        return not self._tasks

    async def round(self) -> Millis | None:
        free = self._free_slots()
        if free <= 0:
            return self._poll
        async with self._membership.claiming() as worker:
            claims = [] if worker is None else await self._claim(worker, free)
            await self._definitions.load(claims)
            for claim in claims:
                self._start(claim)
        return self._poll

    def end(self, tokens: Collection[Token], ending: Ending) -> None:
        for token in tokens:
            if token in self._running:
                self._running[token].end(ending)

    async def drain(self) -> None:
        """Claim nothing more and return when what runs has ended."""
        self._is_draining = True
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _free_slots(self) -> int:
        if self._is_draining or self._finisher.backlog > self._membership.slots:
            return 0
        stuck = sum(runner.abandoned for runner in self._runners.values())
        return self._membership.slots - len(self._running) - stuck

    async def _claim(self, worker: Worker, limit: int) -> list[Claim]:
        if not self._queue.carries_ids:
            return await self._storage.runs.claim(worker.id, worker.queues, limit)
        hints = await self._queue.take(worker.queues, limit)
        if not hints:
            return []
        claims = await self._storage.runs.claim(worker.id, worker.queues, limit, only=hints)
        await self._queue.done(hints)
        return claims

    def _start(self, claim: Claim) -> None:
        job = self._definitions.job(claim)
        running = RunningAttempt(claim, job, self._definitions.options(claim), self._logbook.open(claim))
        self._running[claim.token] = running
        task = asyncio.get_running_loop().create_task(self._execute(running))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _execute(self, running: RunningAttempt) -> None:
        outcome = await running.carry_out(self._runners)
        if running.log.is_used:
            await running.log.close()
        claim = running.claim
        if running.ending is not Ending.LEASE_LOST:
            self._finisher.add(Finish(claim, settle(claim.progress, outcome, running.options)))
        del self._running[claim.token]
        self.wake.set()
