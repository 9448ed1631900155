"""Claims runs up to its free slots and executes them.

A claim is a start: nothing is fetched ahead, so no run waits in a busy worker that an idle one could execute.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Final

from foliot.domain.ids import DefinitionId, RunId, Token
from foliot.domain.instant import SECOND, Millis
from foliot.domain.job.definition import Definition
from foliot.domain.run.lease import Claim, Finish, Worker
from foliot.domain.run.outcome import DONE, Failure, Outcome, Success, TimedOut
from foliot.domain.secrets import public_error
from foliot.engine.loop import AT_ONCE, Duty
from foliot.engine.worker.attempt import Ending, RunningAttempt
from foliot.engine.worker.finisher import Finisher
from foliot.engine.worker.heartbeat import Heartbeat
from foliot.engine.worker.logbook import LogBook
from foliot.ports.clock import Clock
from foliot.ports.queue import Queue
from foliot.ports.runner import Runner, Sweep
from foliot.ports.work import Claimed, Work

log = logging.getLogger(__name__)

Execute = Callable[[RunningAttempt], Awaitable[Outcome | None]]
"""Executes a claimed run. None: there is nothing to report, the lease has ended."""

DEFINITIONS_KEPT: Final = 10_000


class Consumer:
    """The duty that executes."""

    name = "consumer"

    def __init__(
        self,
        work: Work,
        queue: Queue,
        clock: Clock,
        heartbeat: Heartbeat,
        finisher: Finisher,
        logbook: LogBook,
        execute: Execute,
        *,
        runners: Collection[Runner] = (),
        sweep: Sweep | None = None,
        poll: Millis = SECOND,
    ) -> None:
        self._work = work
        self._queue = queue
        self.wake = queue.signal
        self._clock = clock
        self._heartbeat = heartbeat
        self._finisher = finisher
        self._logbook = logbook
        self._execute = execute
        self._runners = runners
        self._sweep = sweep
        self._poll = poll
        self._definitions: dict[DefinitionId, Definition] = {}
        self._running: dict[Token, RunningAttempt] = {}
        self._is_draining = False
        self._second_loop = _SecondClaimLoop(self)
        self._asked = 0
        """Slots for which a claim is under way."""
        self._more_may_be_ready = False
        """Whether more may be ready than the last claim asked for."""

    @property
    def claim_loops(self) -> Sequence[Duty]:
        """Two loops claim where the storage is another process: while the runs of one are executed, the other exchanges
        its own."""
        return (self, self._second_loop) if self._work.is_remote else (self,)

    @property
    def _most_at_once(self) -> int:
        """How many runs are claimed, or outcomes saved, at once: each claim loop has its share of the slots."""
        return -(-self._heartbeat.slots // 2) if self._work.is_remote else self._heartbeat.slots

    @property
    def held(self) -> Collection[Token]:
        """The leases of attempts that are under way here, or have ended without being saved yet."""
        return [*self._running, *self._finisher.tokens]

    @property
    def unfinished(self) -> int:
        """How many attempts are under way."""
        return len(self._running)

    async def round(self) -> Millis | None:
        wanted = min(self._free_slots(), self._most_at_once)
        if wanted <= 0:
            self._more_may_be_ready = True
            return self._poll
        self._asked += wanted
        try:
            is_misled = await self._fetch(wanted)
        finally:
            self._asked -= wanted
        # A slot that became free during the claim has woken no loop.
        return AT_ONCE if is_misled or (self._more_may_be_ready and self._free_slots() > 0) else self._poll

    async def _fetch(self, wanted: int) -> bool:
        """Claim runs and start them. True: hints led to nothing, and may hide others that would not; old hints pile up
        while all workers are busy."""
        async with self._heartbeat.claiming() as worker:
            if worker is None:
                # Registering wakes this duty. Asking at once would leave the heartbeat no time to register.
                self._more_may_be_ready = False
                return False
            hints = await self._queue.take(worker.queues, wanted) if self._queue.carries_ids else None
            claims, definitions = await self._claim(worker, wanted, hints)
            self._start_all(claims, definitions, worker)
        found = len(claims) if hints is None else len(hints)
        self._more_may_be_ready = found >= wanted
        return len(claims) < found

    def make_room(self) -> None:
        """A slot is free, or an outcome saved. If slots were free before, no ready run waited for it: what becomes
        ready rings by itself, and asking would cost a transaction that finds nothing."""
        if self._more_may_be_ready:
            self.wake.set()
            self._second_loop.wake.set()

    def end(self, tokens: Collection[Token], ending: Ending) -> None:
        for token in tokens:
            if token in self._running:
                self._running[token].end(ending)

    async def drain(self) -> None:
        """Claim nothing more and return when all attempts have ended."""
        self._is_draining = True
        await self.ended()

    async def ended(self) -> None:
        """Return when nothing is under way."""
        while self._running:
            await asyncio.wait([running.task for running in self._running.values()])

    def _free_slots(self) -> int:
        if self._is_draining or self._finisher.backlog > self._heartbeat.slots:
            return 0
        stuck = sum(runner.abandoned for runner in self._runners)
        return self._heartbeat.slots - len(self._running) - self._asked - stuck

    async def _claim(self, worker: Worker, limit: int, hints: Sequence[RunId] | None) -> Claimed:
        """Claim the next runs, or, where there are hints, those that they name. Outcomes that wait are saved along with
        it, up to this loop's share: the other loop takes the rest, at the same time."""
        if hints is not None and not hints:
            return Claimed([], {})
        known = self._definitions
        try:
            with self._finisher.batch(self._most_at_once) as ended:
                stale, claims, definitions = await self._work.exchange(
                    ended, worker.id, worker.queues, limit, known=known.keys(), only=hints
                )
        except BaseException:
            self._finisher.wake.set()
            raise
        self._finisher.report(stale)
        if hints:
            await self._queue.done(hints)
        if not definitions:
            return Claimed(claims, known)
        self._remember(definitions)
        named = {claim.definition_id for claim in claims}
        return Claimed(claims, {one: definitions[one] if one in definitions else known[one] for one in named})

    def _remember(self, definitions: Mapping[DefinitionId, Definition]) -> None:
        """One that could not be read is asked for again: it may be repaired."""
        self._definitions.update({one.id: one for one in definitions.values() if one.error is None})
        if len(self._definitions) > DEFINITIONS_KEPT:
            # Replaced, not emptied: a claim of the other loop relies on what it has listed as known.
            self._definitions = dict(islice(self._definitions.items(), DEFINITIONS_KEPT // 2, None))

    def _start_all(
        self, claims: Sequence[Claim], definitions: Mapping[DefinitionId, Definition], worker: Worker
    ) -> None:
        """Start what was claimed, unless the answer came so late that another worker may have it by now."""
        is_late = self._heartbeat.worker is not worker or self._heartbeat.has_run_out
        if claims and is_late:
            log.warning("claims_too_late", extra={"worker": worker.id, "runs": [claim.run_id for claim in claims]})
            return
        loop = asyncio.get_running_loop()
        for claim in claims:
            self._start(claim, definitions[claim.definition_id], loop)

    def _start(self, claim: Claim, definition: Definition, loop: asyncio.AbstractEventLoop) -> None:
        if claim.overrides is not None:
            definition = definition.with_overrides(claim.run_id, claim.overrides)
        running = RunningAttempt(claim, definition, self._logbook.open(claim), self._clock)
        self._running[claim.token] = running
        running.task = loop.create_task(self._see_through(running))

    async def _see_through(self, running: RunningAttempt) -> None:
        """From a claim to what is saved about it. A slot is taken for as long as this lasts."""
        claim = running.claim
        try:
            if claim.lost:
                await self._sweep_former(claim)
            outcome = await self._execute(running)
            # Asked while the attempt is still listed as held: what a renewal does not list is taken back.
            if isinstance(outcome, Failure) and await self._may_be_successors_doing(outcome):
                running.ending = Ending.LEASE_LOST
        finally:
            # Whatever happens, the slot is free again; a lease without an outcome is given back with the next renewal.
            del self._running[claim.token]
            # Woken before the finisher, a claim takes the outcome along.
            self.make_room()
        if outcome is not None and running.ending is not Ending.LEASE_LOST:
            self._finisher.add(Finish(claim.run_id, claim.worker_id, claim.token, outcome))
            if outcome is not DONE:
                _report(claim, outcome)

    async def _may_be_successors_doing(self, outcome: Failure) -> bool:
        """A worker that takes this one for dead ends the processes it left. What looks like a failure may be that, and
        the other worker reports the attempt as lost."""
        if outcome.exit_code is None:
            return False
        return self._heartbeat.has_run_out or (outcome.is_by_signal and not await self._heartbeat.is_confirmed())

    async def _sweep_former(self, claim: Claim) -> None:
        """A worker that vanished on this machine may have left processes, and the reaper may run on another one."""
        if self._sweep is not None:
            await self._sweep([(claim.run_id, number) for number in range(1, claim.attempt)])


class _SecondClaimLoop:
    """A round of the consumer beside another one. It claims only where the last claim found as much as it asked for."""

    name = "consumer, second loop"

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self.wake = asyncio.Event()

    async def round(self) -> Millis | None:
        rest = await self._consumer.round()
        return AT_ONCE if rest == AT_ONCE else None


def _report(claim: Claim, outcome: Outcome) -> None:
    """Success is silent. A failure is one line, with the end of the error, without secrets: its beginning is
    traceback."""
    if isinstance(outcome, Success):
        return
    about = {"run": claim.run_id, "job": claim.job_id, "attempt": claim.attempt}
    if isinstance(outcome, Failure | TimedOut):
        reason = outcome.reason if isinstance(outcome, Failure) else "timeout"
        last_line = public_error(outcome.error).strip().rpartition("\n")[2]
        log.warning("attempt_failed", extra={**about, "reason": reason, "error": last_line})
    else:
        log.info("attempt_ended", extra={**about, "outcome": type(outcome).__name__.lower()})
