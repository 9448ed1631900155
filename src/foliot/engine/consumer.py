"""Claims runs up to its free slots and carries them out.

A claim is a start: nothing is fetched ahead, so nothing waits in a busy worker that an idle one could do.
"""

import asyncio
import logging
from collections.abc import Collection, Coroutine, Mapping, Sequence
from typing import Any

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import SECOND, Millis
from foliot.domain.lease import Claim, Finish, Worker
from foliot.domain.outcome import Failure, Outcome
from foliot.domain.run import SUCCEEDED, Again, Ended, Status, Verdict, settle
from foliot.domain.workflow.jobs import GRAPH
from foliot.engine.attempt import Ending, RunningAttempt
from foliot.engine.definitions import Definitions
from foliot.engine.finisher import Finisher
from foliot.engine.logbook import LogBook
from foliot.engine.loop import AT_ONCE, Duty
from foliot.engine.membership import Membership
from foliot.engine.opener import Opener
from foliot.engine.plans import Plans
from foliot.ports.clock import Clock
from foliot.ports.queue import Queue
from foliot.ports.runner import Runner, Sweep
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)


class Consumer:
    """The duty that executes."""

    name = "consumer"

    def __init__(
        self,
        storage: Storage,
        queue: Queue,
        clock: Clock,
        membership: Membership,
        runners: Mapping[str, Runner],
        finisher: Finisher,
        logbook: LogBook,
        plans: Plans,
        opener: Opener,
        *,
        sweep: Sweep | None = None,
        poll: Millis = SECOND,
    ) -> None:
        self._storage = storage
        self._sweep = sweep
        self._queue = queue
        self.wake = queue.signal
        self._clock = clock
        self._membership = membership
        self._runners = runners
        self._finisher = finisher
        self._logbook = logbook
        self._poll = poll
        self._definitions = Definitions(storage, plans)
        self._opener = opener
        self._running: dict[Token, RunningAttempt] = {}
        self._is_draining = False
        self._second_hand = _SecondHand(self)
        self._asked = 0
        """Slots for which a claim is under way."""
        self._more_may_be_ready = False
        """Whether more may be ready than was asked for, by whichever hand asked last."""

    @property
    def hands(self) -> Sequence[Duty]:
        """Who does rounds at the same time: two where somebody else does the work of claiming. While the runs of one
        are carried out, the other one exchanges its own."""
        return (self, self._second_hand) if self._storage.is_remote else (self,)

    @property
    def _most_at_once(self) -> int:
        """The most that is claimed or saved at once: each hand has its share of the slots."""
        return -(-self._membership.slots // 2) if self._storage.is_remote else self._membership.slots

    @property
    def held(self) -> Collection[Token]:
        """The leases whose attempts are under way here, or have ended without being saved yet."""
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
        # A slot that became free while we asked has woken nobody.
        return AT_ONCE if is_misled or (self._more_may_be_ready and self._free_slots() > 0) else self._poll

    async def _fetch(self, wanted: int) -> bool:
        """Claim runs and start them. True: hints led to nothing, and may hide others that would not; old ones pile up
        while all workers are busy."""
        async with self._membership.claiming() as worker:
            if worker is None:
                # Whoever joins again wakes us. Until then, asking at once would leave nobody the time to join.
                self._more_may_be_ready = False
                return False
            hints = await self._queue.take(worker.queues, wanted) if self._queue.carries_ids else None
            claims = await self._claim(worker, wanted, hints)
            await self._definitions.load(claims)
            self._start_all(claims, worker)
        found = len(claims) if hints is None else len(hints)
        self._more_may_be_ready = found >= wanted
        return len(claims) < found

    def make_room(self) -> None:
        """A slot is free, or an outcome saved. Where slots were free before, there is nothing that waited for it: what
        becomes ready rings by itself, and asking would cost a transaction that finds nothing."""
        if self._more_may_be_ready:
            self.wake.set()
            self._second_hand.wake.set()

    def end(self, tokens: Collection[Token], ending: Ending) -> None:
        for token in tokens:
            if token in self._running:
                self._running[token].end(ending)

    async def drain(self) -> None:
        """Claim nothing more and return when what runs has ended."""
        self._is_draining = True
        await self.ended()

    async def ended(self) -> None:
        """Return when nothing is under way."""
        while self._running:
            await asyncio.wait([running.task for running in self._running.values()])

    def _free_slots(self) -> int:
        if self._is_draining or self._finisher.backlog > self._membership.slots:
            return 0
        stuck = sum(runner.abandoned for runner in self._runners.values())
        return self._membership.slots - len(self._running) - self._asked - stuck

    async def _claim(self, worker: Worker, limit: int, hints: Sequence[RunId] | None) -> list[Claim]:
        """Claim what is next, or, where there are hints, what they name. Outcomes that wait are saved along with it, as
        many as are a hand's share: the other one takes the rest, at the same time."""
        if hints is not None and not hints:
            return []
        try:
            with self._finisher.batch(self._most_at_once) as ended:
                stale, claims = await self._storage.runs.exchange(ended, worker.id, worker.queues, limit, only=hints)
        except BaseException:
            self._finisher.wake.set()
            raise
        self._finisher.report(stale)
        if hints:
            await self._queue.done(hints)
        return claims

    def _start_all(self, claims: Sequence[Claim], worker: Worker) -> None:
        """Start what was claimed, unless the answer has come so late that somebody else may have it by now."""
        is_late = self._membership.worker is not worker or self._membership.has_run_out
        if claims and is_late:
            log.warning("claims_too_late", extra={"worker": worker.id, "runs": [claim.run_id for claim in claims]})
            return
        loop = asyncio.get_running_loop()
        for claim in claims:
            self._start(claim, loop)

    def _start(self, claim: Claim, loop: asyncio.AbstractEventLoop) -> None:
        running = RunningAttempt(claim, self._definitions.of(claim), self._logbook.open(claim), self._clock)
        self._running[claim.token] = running
        running.task = loop.create_task(self._see_through(running))

    async def _see_through(self, running: RunningAttempt) -> None:
        """From a claim to what is to be saved about it. A slot is taken for as long as this lasts."""
        claim = running.claim
        try:
            if claim.lost:
                await self._sweep_former(claim)
            outcome = await self._work(running)
            # Asked while the attempt is in our books: what is not listed with a renewal is taken back.
            if isinstance(outcome, Failure) and await self._may_be_the_heirs_doing(outcome):
                running.ending = Ending.LEASE_LOST
        finally:
            # Whatever happens, the slot is free again; a lease without an outcome is given back with the next renewal.
            del self._running[claim.token]
            # Woken before the finisher, a round of ours takes the outcome along.
            self.make_room()
        if outcome is not None and running.ending is not Ending.LEASE_LOST:
            self._save(claim, settle(claim, outcome, running.definition.options))

    async def _may_be_the_heirs_doing(self, outcome: Failure) -> bool:
        """Whoever takes this worker for dead ends the processes it left. What looks like a failure then may be their
        doing, and they will say that the attempt was lost."""
        if outcome.exit_code is None:
            return False
        return self._membership.has_run_out or (outcome.is_by_signal and not await self._membership.is_confirmed())

    def _work(self, running: RunningAttempt) -> Coroutine[Any, Any, Outcome | None]:
        """What there is to do. A run of a workflow becomes its steps, and goes on without a worker: no outcome yet."""
        job = running.definition.job
        if job is not None and job.spec.kind == GRAPH:
            return self._opener.open(running.claim, job, running.definition.options)
        return running.carry_out(self._runners)

    def _save(self, claim: Claim, verdict: Verdict) -> None:
        self._finisher.add(Finish(claim, verdict))
        if verdict is not SUCCEEDED:
            _report(claim, verdict)

    async def _sweep_former(self, claim: Claim) -> None:
        """A worker that vanished on this machine may have left processes, and whoever noticed may be elsewhere."""
        if self._sweep is not None:
            await self._sweep([(claim.run_id, number) for number in range(1, claim.attempt)])


class _SecondHand:
    """A round of the consumer's beside another one. It looks only where more was to be had than the other one took."""

    name = "consumer, second hand"

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self.wake = asyncio.Event()

    async def round(self) -> Millis | None:
        rest = await self._consumer.round()
        return AT_ONCE if rest == AT_ONCE else None


def _report(claim: Claim, verdict: Verdict) -> None:
    """Success is silent; what went wrong is told in a line, with the end of the error: its beginning is traceback."""
    match verdict:
        case Ended(status=status, reason=reason, error=error) if status is not Status.SUCCESS:
            log.warning("run_ended", extra={**_names(claim), "status": status, "reason": reason, "error": _last(error)})
        case Again(delay=delay, reason=reason, error=error):
            again = {"again_in_ms": delay, "reason": reason, "error": _last(error)}
            log.info("run_will_be_tried_again", extra={**_names(claim), **again})
        case _:
            pass


def _names(claim: Claim) -> dict[str, object]:
    return {"run": claim.run_id, "job": claim.job_id, "attempt": claim.attempt}


def _last(error: str | None) -> str | None:
    return error.strip().rpartition("\n")[2] if error else None
