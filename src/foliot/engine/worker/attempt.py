"""One attempt: from a claim to an outcome.

    claim -> definition -> runner -> run, until it returns | its time is up | it is ended from outside -> outcome

The runner ends what it started when its task is cancelled; why it was cancelled is known here.
"""

import asyncio
import traceback
from collections.abc import Mapping
from enum import Enum, auto

from foliot.domain.instant import SECOND, Millis
from foliot.domain.job.definition import Definition
from foliot.domain.run.lease import Claim
from foliot.domain.run.outcome import Cancelled, Failure, Interrupted, Lost, Outcome, Reason, TimedOut
from foliot.domain.run.payload import UNREADABLE, decode_payload
from foliot.engine.worker.logbook import RunLog
from foliot.errors import RowUnreadable, suggest
from foliot.ports.clock import Clock
from foliot.ports.runner import Attempt, Runner

_NO_VARIABLES: Mapping[str, str] = {}


class Ending(Enum):
    """Why a running attempt was ended before it ended by itself."""

    CANCEL = auto()
    LEASE_LOST = auto()
    SHUTDOWN = auto()
    TIMEOUT = auto()


class RunningAttempt:
    """An attempt under way in this process."""

    __slots__ = ("_clock", "_is_interruptible", "claim", "definition", "ending", "log", "task")

    task: asyncio.Task[None]
    """What carries it out; set by whoever starts it."""

    def __init__(self, claim: Claim, definition: Definition, log: RunLog, clock: Clock) -> None:
        self.claim = claim
        self.definition = definition
        self.log = log
        self.ending: Ending | None = None
        self._clock = clock
        self._is_interruptible = False
        """True only while a runner is at work: a cancellation at any other moment would hit our own bookkeeping."""

    def end(self, ending: Ending) -> None:
        """End it early. The first reason counts, except that a lost lease outweighs all others."""
        is_first = self.ending is None
        if is_first or ending is Ending.LEASE_LOST:
            self.ending = ending
        # Only once: a second cancellation would hit the runner while it ends what it started.
        if is_first and self._is_interruptible:
            self.task.cancel()

    async def carry_out(self, runners: Mapping[str, Runner]) -> Outcome:
        """Run it to its end, and let what it printed be saved. Never raises: whatever happens is an outcome."""
        definition = self.definition
        if self.ending is not None:
            outcome = self._outcome_of_ending()
        elif definition.error is not None:
            outcome = Failure(definition.error, definition.reason, retryable=False)
        elif (runner := runners.get(definition.kind)) is None:
            outcome = _no_runner(definition.kind, runners)
        else:
            outcome = await self._run(runner)
        if self.log.seal(is_lost=self.ending is Ending.LEASE_LOST):
            await self.log.saved()
        return outcome

    def _outcome_of_ending(self) -> Outcome:
        match self.ending:
            case Ending.CANCEL:
                return Cancelled()
            case Ending.LEASE_LOST:
                return Lost()
            case Ending.TIMEOUT:
                return TimedOut(f"timeout after {(self.definition.timeout or 0) / SECOND:g} s")
            case Ending.SHUTDOWN:
                return Interrupted()
            case None:
                # Given back, a function that cancels its own task would be called again and again, without a trace.
                return Failure("the task of this run was cancelled, and not by Foliot", Reason.EXCEPTION)

    async def _run(self, runner: Runner) -> Outcome:
        try:
            attempt, timeout = self._attempt(), self.definition.timeout
        except UNREADABLE as cause:
            # It would read the same the next time.
            unreadable = RowUnreadable("run", self.claim.run_id, cause)
            return Failure(str(unreadable), Reason.LAUNCH_FAILED, retryable=False)
        self._is_interruptible = True
        try:
            return await (runner.run(attempt) if timeout is None else self._run_in_time(runner, attempt, timeout))
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and self.task.cancelling():
                return self._outcome_of_ending()
            # A runner reports failures as outcomes; what it raises is a defect, kept with its traceback.
            return Failure(describe_exception(error), Reason.EXCEPTION)
        finally:
            self._is_interruptible = False

    async def _run_in_time(self, runner: Runner, attempt: Attempt, patience: Millis) -> Outcome:
        watch = asyncio.create_task(self._watch(patience))
        try:
            return await runner.run(attempt)
        finally:
            watch.cancel()

    async def _watch(self, patience: Millis) -> None:
        await self._clock.wait(asyncio.Event(), patience)
        self.end(Ending.TIMEOUT)

    def _attempt(self) -> Attempt:
        claim, definition = self.claim, self.definition
        return Attempt(
            run_id=claim.run_id,
            job_id=claim.job_id,
            number=claim.attempt,
            payload=decode_payload(claim.payload),
            spec=definition.spec,
            environment=_NO_VARIABLES if claim.parent_id is None else _variables_of_step(claim),
            log=self.log,
            tick=claim.tick,
            execution=claim.parent_id,
            scheduled_for=claim.scheduled_for,
            written=definition.written,
        )


def _variables_of_step(claim: Claim) -> Mapping[str, str]:
    return {"FOLIOT_EXECUTION_ID": claim.parent_id or "", "FOLIOT_STEP": claim.child_key or ""}


def describe_exception(error: BaseException) -> str:
    """The traceback as people know it. Of a long one the beginning is left out: its end says what happened."""
    text = "".join(traceback.format_exception(error)).strip()
    return text[-8_000:]


def _no_runner(kind: str, runners: Mapping[str, Runner]) -> Failure:
    hint = suggest(kind, runners, otherwise=f"This worker runs: {', '.join(sorted(runners))}.")
    return Failure(f'no runner for jobs of kind "{kind}". {hint}', Reason.HANDLER_MISSING)
