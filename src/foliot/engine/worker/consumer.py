"""Claims runs for its free slots and executes them.

A claimed run starts immediately. Nothing is prefetched, so no run waits in a busy worker while another one is idle.
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
from foliot.domain.run.outcome import Failure, Outcome
from foliot.domain.run.output_mask import mask_of
from foliot.engine.loop import IMMEDIATELY, Duty
from foliot.engine.worker.attempt import Ending, RunningAttempt
from foliot.engine.worker.attempt_log import AttemptLog
from foliot.engine.worker.finisher import Finisher
from foliot.engine.worker.heartbeat import Heartbeat
from foliot.engine.worker.logbook import LogBook
from foliot.engine.worker.progress import ProgressCollector
from foliot.ports.channel import RunChannel
from foliot.ports.clock import Clock
from foliot.ports.queue import Queue
from foliot.ports.runner import Runner, Sweep
from foliot.ports.work import Claimed, Work

log = logging.getLogger(__name__)

Execute = Callable[[RunningAttempt], Awaitable[Outcome | None]]
"""Executes a claimed run. Returns None if there is nothing to save because the lease has ended."""

DEFINITIONS_CACHED: Final = 10_000
FULL_CALL: Final = 100
"""As many runs as make a call to a storage in another process worth its fixed cost."""


class Consumer:
    """The duty that claims and executes runs."""

    name = "consumer"

    def __init__(
        self,
        work: Work,
        queue: Queue,
        clock: Clock,
        heartbeat: Heartbeat,
        finisher: Finisher,
        logbook: LogBook,
        progress: ProgressCollector,
        execute: Execute,
        *,
        runners: Collection[Runner] = (),
        sweep: Sweep | None = None,
        channel: RunChannel | None = None,
        poll: Millis = SECOND,
    ) -> None:
        self._work = work
        self._queue = queue
        self.wake = queue.signal
        self._clock = clock
        self._heartbeat = heartbeat
        self._finisher = finisher
        self._logbook = logbook
        self._progress = progress
        self._execute = execute
        self._runners = runners
        self._sweep = sweep
        self._channel = channel
        self._poll = poll
        self.reports_losses = False
        """Whether attempts whose lease was lost are reported too, as a remote worker does when it has contact again."""
        self.attempt_log = AttemptLog(clock)
        self._definitions: dict[DefinitionId, Definition] = {}
        self._running: dict[Token, RunningAttempt] = {}
        self._is_draining = False
        self._second_loop = _SecondClaimLoop(self)
        self._slots_claiming = 0
        """The slots for which a claim is in flight."""
        self._saving_logs = 0
        """The attempts that have ended and wait until their logs are saved."""
        self._more_may_be_ready = False
        """Whether more runs may be ready than the last claim requested."""
        self._is_notified = False
        """Whether the claim loops were woken since the last round began. Once is enough for all slots."""

    @property
    def claim_loops(self) -> Sequence[Duty]:
        """The duties that claim. With a storage in another process there are two: while one loop waits for its
        exchange, the runs of the other are executed."""
        return (self, self._second_loop) if self._work.is_remote else (self,)

    @property
    def _batch_limit(self) -> int:
        """How many runs one call claims, or outcomes it saves, at most. With many slots each claim loop has its share;
        with few, one full call costs less than two halves."""
        slots = self._heartbeat.slots
        return max(-(-slots // 2), min(slots, FULL_CALL)) if self._work.is_remote else slots

    @property
    def held(self) -> Collection[Token]:
        """The leases of attempts that run here, or have ended and are not saved yet."""
        return [*self._running, *self._finisher.tokens]

    @property
    def running_count(self) -> int:
        return len(self._running)

    async def round(self) -> Millis | None:
        self._is_notified = False
        self.attempt_log.summarize()
        wanted = min(self._count_free_slots(), self._batch_limit)
        if wanted <= 0:
            self._more_may_be_ready = True
            return self._poll
        self._slots_claiming += wanted
        try:
            has_stale_hints = await self._claim_and_start(wanted)
        finally:
            self._slots_claiming -= wanted
        # A slot that became free during the claim did not wake this loop.
        return (
            IMMEDIATELY if has_stale_hints or (self._more_may_be_ready and self._count_free_slots() > 0) else self._poll
        )

    async def _claim_and_start(self, wanted: int) -> bool:
        """Claim runs and start them. Return True if some hints were stale: fresh ones may be queued behind them, since
        old hints accumulate while all workers are busy."""
        async with self._heartbeat.claiming() as worker:
            if worker is None:
                # Registration wakes this duty. An immediate next round would leave the heartbeat no time to register.
                self._more_may_be_ready = False
                return False
            hints = await self._queue.take(worker.queues, wanted) if self._queue.carries_ids else None
            claims, definitions = await self._claim(worker, wanted, hints)
            self._start_all(claims, definitions, worker)
        found = len(claims) if hints is None else len(hints)
        self._more_may_be_ready = found >= wanted
        return len(claims) < found

    def notify_free_slot(self) -> None:
        """Wake the claim loops after a slot became free or an outcome was saved, if ready runs may be waiting.

        If slots were free before, no run waited for this one: a run that becomes ready sends its own signal, and a
        claim would be a transaction that finds nothing.
        """
        if self._more_may_be_ready and not self._is_notified:
            self._is_notified = True
            self.wake.set()
            self._second_loop.wake.set()

    def end(self, tokens: Collection[Token], ending: Ending) -> None:
        for token in tokens:
            if token in self._running:
                self._running[token].end(ending)

    async def drain(self) -> None:
        """Stop claiming, and wait until all attempts have ended."""
        self._is_draining = True
        await self.wait_idle()

    async def wait_idle(self) -> None:
        """Wait until no attempt is running."""
        while self._running:
            await asyncio.wait([running.task for running in self._running.values() if running.task is not None])

    def _count_free_slots(self) -> int:
        # Each unsaved outcome still holds a lease: claim nothing while outcomes are saved too slowly.
        if self._is_draining or self._finisher.backlog + self._saving_logs > self._heartbeat.slots:
            return 0
        stuck = sum(runner.abandoned for runner in self._runners)
        occupied = len(self._running) - self._saving_logs
        return self._heartbeat.slots - occupied - self._slots_claiming - stuck

    def _release_slot(self) -> None:
        """Free the slot of an attempt that has ended: the next run is claimed while its log is saved."""
        self._saving_logs += 1
        self.notify_free_slot()

    async def _claim(self, worker: Worker, limit: int, hints: Sequence[RunId] | None) -> Claimed:
        """Claim the next runs, or only those in `hints` if given, and save waiting outcomes in the same call, up to the
        share of this loop: the other loop saves the rest concurrently."""
        if hints is not None and not hints:
            return Claimed([], {})
        known = self._definitions
        try:
            with self._finisher.batch(self._batch_limit) as finishes:
                stale, claims, definitions = await self._work.exchange(
                    finishes, worker.id, worker.queues, limit, known=known.keys(), only=hints
                )
        except BaseException:
            self._finisher.wake.set()
            raise
        self._finisher.report(stale)
        if hints:
            await self._queue.done(hints)
        if not definitions:
            return Claimed(claims, known)
        self._cache(definitions)
        used = {claim.definition_id for claim in claims}
        return Claimed(claims, {one: definitions[one] if one in definitions else known[one] for one in used})

    def _cache(self, definitions: Mapping[DefinitionId, Definition]) -> None:
        """Cache definitions, except unreadable ones: these may be repaired and are read again with the next claim."""
        self._definitions.update({one.id: one for one in definitions.values() if one.error is None})
        if len(self._definitions) > DEFINITIONS_CACHED:
            # Replaced, not cleared: a claim of the other loop still uses the definitions that it listed as known.
            self._definitions = dict(islice(self._definitions.items(), DEFINITIONS_CACHED // 2, None))

    def _start_all(
        self, claims: Sequence[Claim], definitions: Mapping[DefinitionId, Definition], worker: Worker
    ) -> None:
        """Start claimed runs, unless the claim took so long that another worker may have them by now."""
        is_late = self._heartbeat.worker is not worker or self._heartbeat.is_expired
        if claims and is_late:
            log.warning("claims_discarded", extra={"worker": worker.id, "runs": [claim.run_id for claim in claims]})
            return
        loop = asyncio.get_running_loop()
        self.attempt_log.started([self._start(claim, definitions[claim.definition_id], loop) for claim in claims])

    def _start(self, claim: Claim, definition: Definition, loop: asyncio.AbstractEventLoop) -> RunningAttempt:
        if claim.overrides is not None:
            definition = definition.with_overrides(claim.run_id, claim.overrides)
        log, progress = self._logbook.open(claim, mask_of(definition)), self._progress.open(claim)
        running = RunningAttempt(
            claim, definition, log, progress, self._clock, self._work, self._channel, self._release_slot
        )
        self._running[claim.token] = running
        running.task = loop.create_task(self._process(running), name=claim.run_id)
        return running

    async def _process(self, running: RunningAttempt) -> None:
        """Execute one claimed run and pass its outcome to the finisher. Occupies a slot until the run has ended."""
        claim = running.claim
        try:
            if claim.lost:
                await self._sweep_former_attempts(claim)
            outcome = await self._execute(running)
            # Checked while the attempt is still listed as held: the storage takes back a lease that a renewal does not
            # list.
            if isinstance(outcome, Failure) and await self._may_be_killed_by_successor(outcome):
                running.ending = Ending.LEASE_LOST
        finally:
            # After an error the slot is free as well; the next renewal gives back the lease without an outcome.
            del self._running[claim.token]
            if running.is_saving_log:
                self._saving_logs -= 1
            # Wakes the claim loops before the finisher, so that a claim saves the outcome in the same transaction.
            self.notify_free_slot()
        if outcome is not None and (running.ending is not Ending.LEASE_LOST or self.reports_losses):
            self._finisher.add(Finish(claim.run_id, claim.worker_id, claim.token, outcome))
            self.attempt_log.ended(running, outcome)

    async def _may_be_killed_by_successor(self, outcome: Failure) -> bool:
        """Return whether another worker may have killed the process of a failed attempt.

        A worker on the same machine kills the processes of workers that expired, and the reaper records their attempts
        as lost. Such an attempt must not be recorded as failed.
        """
        if outcome.exit_code is None:
            return False
        return self._heartbeat.is_expired or (outcome.is_by_signal and not await self._heartbeat.is_still_registered())

    async def _sweep_former_attempts(self, claim: Claim) -> None:
        """End processes of earlier attempts that a vanished worker left here: the reaper may run on another machine."""
        if self._sweep is not None:
            await self._sweep([(claim.run_id, number) for number in range(1, claim.attempt)])


class _SecondClaimLoop:
    """Runs consumer rounds concurrently with the first loop, if the last claim found as many runs as it requested."""

    name = "consumer, second loop"

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self.wake = asyncio.Event()

    async def round(self) -> Millis | None:
        delay = await self._consumer.round()
        return IMMEDIATELY if delay == IMMEDIATELY else None
