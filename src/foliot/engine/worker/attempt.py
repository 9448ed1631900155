"""One attempt, from its claim to its outcome.

    claim -> definition -> runner -> run, until it returns | times out | is ended from outside -> outcome

A runner whose task is cancelled ends what it started. `RunningAttempt` keeps the reason of the cancellation.
"""

import asyncio
import traceback
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from enum import Enum, auto
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from foliot.domain.access.run_token import RunLease
from foliot.domain.fanout.result import MANIFEST_VARIABLE
from foliot.domain.instant import SECOND, Millis
from foliot.domain.job.definition import Definition
from foliot.domain.run.child_variables import child_variables
from foliot.domain.run.lease import Claim
from foliot.domain.run.outcome import Cancelled, Failure, Interrupted, Lost, Outcome, Reason, Success, TimedOut
from foliot.domain.run.output_mask import secrets_of
from foliot.domain.run.payload import UNREADABLE, decode_payload
from foliot.domain.run.progress import progress_line
from foliot.engine.worker.chains import answer_chain, ask_chain
from foliot.engine.worker.logbook import RunLog
from foliot.engine.worker.progress import AttemptProgress
from foliot.engine.worker.results import answer_results, manifest_of, read_results
from foliot.errors import FoliotError, RowUnreadable, suggest
from foliot.ports.channel import RunChannel
from foliot.ports.clock import Clock
from foliot.ports.runner import Attempt, Runner, no_results
from foliot.ports.work import Work

T = TypeVar("T")

_NO_VARIABLES: Mapping[str, str] = {}


class Ending(Enum):
    """Why a running attempt was ended early."""

    CANCEL = auto()
    LEASE_LOST = auto()
    SHUTDOWN = auto()
    TIMEOUT = auto()


class RunningAttempt(Struct, eq=False):
    """An attempt that runs in this process."""

    claim: Claim
    definition: Definition
    log: RunLog
    _progress: AttemptProgress
    _clock: Clock
    _work: Work
    _channel: RunChannel | None
    _release_slot: Callable[[], None]
    """Called if the attempt has ended, but its log is not saved yet."""
    task: asyncio.Task[None] | None = None
    """The task that executes the attempt; set by the consumer."""
    ending: Ending | None = None
    logged_at: Millis | None = None
    """When its start was logged. None: it was only counted."""
    is_saving_log: bool = False
    """Whether it has ended, and waits until its log is saved. It no longer occupies a slot."""
    _has_channel: bool = False
    """Whether access to the channel was granted."""
    _is_interruptible: bool = False
    """True only while the runner runs or inputs are read: a cancellation at any other moment would interrupt our own
    bookkeeping."""

    def end(self, ending: Ending) -> None:
        """End the attempt early. The first reason is kept, except that a lost lease replaces any other."""
        is_first = self.ending is None
        if is_first or ending is Ending.LEASE_LOST:
            self.ending = ending
        # Cancel only once: a second cancellation would interrupt the runner while it ends what it started.
        if is_first and self._is_interruptible and self.task is not None:
            self.task.cancel()

    async def interruptibly(self, work: Coroutine[Any, Any, T]) -> T | Outcome:
        """Await work that `end` and the timeout of the job interrupt. Return its result, or the outcome of the attempt
        if it was interrupted."""
        if self.ending is not None:
            work.close()
            return self._outcome_of_ending()
        timeout = self.definition.timeout
        timer = None if timeout is None else asyncio.create_task(self._end_after(timeout))
        self._is_interruptible = True
        try:
            return await work
        except asyncio.CancelledError:
            if not self._is_cancelled():
                raise
            return self._outcome_of_ending()
        finally:
            self._is_interruptible = False
            if timer is not None:
                timer.cancel()

    async def execute(self, runners: Mapping[str, Runner]) -> Outcome:
        """Run the attempt, wait until its log is saved, and return its outcome. Never raises: errors are outcomes."""
        definition = self.definition
        if self.ending is not None:
            outcome = self._outcome_of_ending()
        elif definition.not_after is not None and self._clock.now() >= definition.not_after:
            outcome = Cancelled()
        elif definition.error is not None:
            outcome = Failure(definition.error, definition.reason, retryable=False)
        elif (runner := runners.get(definition.kind)) is None:
            outcome = _no_runner(definition.kind, runners)
        else:
            outcome = self._without_secrets(await self._run(runner))
            self._end_progress(outcome)
        if self.log.seal(is_lost=self.ending is Ending.LEASE_LOST):
            self.is_saving_log = True
            self._release_slot()
            await self.log.wait_saved()
        return outcome

    def _is_cancelled(self) -> bool:
        """Whether the task was cancelled from outside."""
        return self.task is not None and self.task.cancelling() > 0

    def _outcome_of_ending(self) -> Outcome:
        match self.ending:
            case Ending.CANCEL:
                return Cancelled()
            case Ending.LEASE_LOST:
                return Lost()
            case Ending.TIMEOUT:
                return TimedOut(f"took longer than {(self.definition.timeout or 0) / SECOND:g} s")
            case Ending.SHUTDOWN:
                return Interrupted()
            case None:
                # Not Interrupted: a function that cancels its own task would be started again without end.
                return Failure("the task of this run was cancelled, and not by Foliot", Reason.EXCEPTION)

    async def _run(self, runner: Runner) -> Outcome:
        try:
            attempt = self._attempt()
        except UNREADABLE as cause:
            # Not retryable: the row would be unreadable again.
            unreadable = RowUnreadable("run", self.claim.run_id, cause)
            return Failure(str(unreadable), Reason.LAUNCH_FAILED, retryable=False)
        try:
            running = self._run_with_manifest(runner, attempt) if self.definition.manifest else runner.run(attempt)
            return await self.interruptibly(running)
        except BaseException as error:
            # A runner returns failures as outcomes; an exception is a defect, recorded with its traceback. SystemExit
            # too: it must end the run, not the worker.
            return Failure(describe_exception(error), Reason.EXCEPTION)

    async def _run_with_manifest(self, runner: Runner, attempt: Attempt) -> Outcome:
        """Run with a file that lists the results of the fanout."""
        if self._channel is None:
            return await runner.run(attempt)
        async with AsyncExitStack() as files:
            try:
                path = await files.enter_async_context(self._channel.publish(manifest_of(self._work, self.claim)))
            except (OSError, FoliotError) as error:
                return Failure(f"the manifest could not be written: {error}", Reason.LAUNCH_FAILED)
            variables = {} if path is None else {MANIFEST_VARIABLE: path}
            return await runner.run(replace(attempt, environment={**attempt.environment, **variables}))

    async def _end_after(self, limit: Millis) -> None:
        await self._clock.wait(asyncio.Event(), limit)
        self.end(Ending.TIMEOUT)

    def _without_secrets(self, outcome: Outcome) -> Outcome:
        """Return the outcome with the secrets of the job masked in its error: it may quote what the job printed."""
        match outcome:
            case Failure() | TimedOut():
                error = self.log.masked(outcome.error)
                return outcome if error == outcome.error else replace(outcome, error=error)
            case _:
                return outcome

    def _end_progress(self, outcome: Outcome) -> None:
        """Revoke the channel and ignore further reports. Log the last progress of an unsuccessful attempt, because the
        storage keeps progress only until the attempt ends."""
        if self._has_channel and self._channel is not None:
            self._channel.revoke(self.claim.token)
        progress = self._progress
        progress.close()
        latest = progress.latest
        if latest is not None and not isinstance(outcome, Success) and self.ending is not Ending.LEASE_LOST:
            self.log.write("meta", f"last progress: {progress_line(latest)}\n".encode())

    def _grant_channel(self) -> Mapping[str, str]:
        """Give the processes of this attempt access to the worker. A new type of request is a new entry."""
        if self._channel is None:
            return _NO_VARIABLES
        self._has_channel = True
        handlers = {
            "progress": self._progress.handle,
            "results": self._answer_results,
            "chain": self._answer_chain,
        }
        claim = self.claim
        granted = self._channel.grant(RunLease(claim.run_id, claim.worker_id, claim.token), handlers)
        for secret in secrets_of({"env": granted}):
            self.log.add_secret(secret)
        return granted

    async def _answer_results(self, request: Mapping[str, object]) -> Mapping[str, object]:
        return await answer_results(self._work, self.claim, request)

    async def _answer_chain(self, request: Mapping[str, object]) -> Mapping[str, object]:
        return await answer_chain(self._work, self.claim, request)

    def _attempt(self) -> Attempt:
        claim, definition = self.claim, self.definition
        return Attempt(
            run_id=claim.run_id,
            job_id=claim.job_id,
            number=claim.attempt,
            payload=decode_payload(claim.payload),
            spec=definition.spec,
            environment=_NO_VARIABLES if claim.parent_id is None else child_variables(claim, definition),
            log=self.log,
            tick=claim.tick,
            execution=claim.parent_id,
            scheduled_for=claim.scheduled_for,
            written=definition.written,
            report=self._progress.report,
            channel=self._grant_channel,
            results=no_results if claim.parent_id is None else partial(read_results, self._work, claim),
            ask_chain=partial(ask_chain, self._work, claim),
        )


def describe_exception(error: BaseException) -> str:
    """Return the traceback as text. The beginning of a long one is cut: the error is at the end."""
    text = "".join(traceback.format_exception(error)).strip()
    return text[-8_000:]


def _no_runner(kind: str, runners: Mapping[str, Runner]) -> Failure:
    hint = suggest(kind, runners, otherwise=f"This worker runs: {', '.join(sorted(runners))}.")
    return Failure(f'no runner for jobs of kind "{kind}". {hint}', Reason.HANDLER_MISSING)
