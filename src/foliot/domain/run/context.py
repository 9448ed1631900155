"""The context of a run: what a Python job can read about the run that executes it."""

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from foliot.domain.chain.calls import AsyncChainCalls, ChainCalls
from foliot.domain.chain.message import ChainRequest
from foliot.domain.fanout.result import Results, no_results_error
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.run.logs import Stream
from foliot.domain.run.progress import RunProgress, read_progress
from foliot.domain.run.run import Tick
from foliot.errors import ChannelUnavailable


def no_results(failed: bool) -> Results:
    raise no_results_error()


def _no_chain(request: ChainRequest) -> Mapping[str, Any]:
    raise ChannelUnavailable("this run has no worker to ask", hint="Call this inside a job.")


async def _no_chain_async(request: ChainRequest) -> Mapping[str, Any]:
    return _no_chain(request)


class Context(Struct, frozen=True, gc=False):
    """The run that the calling code executes, as `current_run()` returns it."""

    run_id: RunId
    """The id of the run."""
    job_id: str
    """The id of its job."""
    attempt: int
    """The number of the attempt, from 1."""
    tick: Tick | None
    """The tick that started it, or None."""
    write: Callable[[Stream, bytes], object]
    """Adds bytes to the log of this run."""
    execution_id: RunId | None = None
    """The execution of a workflow that the run is a step of, or None."""
    planned: Instant | None = None
    """The time it was planned for, by a schedule or by the caller of the launcher."""
    report: Callable[[RunProgress], object] = lambda _: None
    """Reports checked progress to the worker."""
    read_results: Callable[[bool], Results] = no_results
    """Reads the results of the fanout that this run belongs to; True: only those of failed items."""

    _ask_chain: Callable[[ChainRequest], Mapping[str, Any]] = _no_chain
    _ask_chain_async: Callable[[ChainRequest], Awaitable[Mapping[str, Any]]] = _no_chain_async

    @property
    def chain(self) -> ChainCalls:
        """The chain that this run is a step of. In a coroutine function use `async_chain`."""
        return ChainCalls(self._ask_chain)

    @property
    def async_chain(self) -> AsyncChainCalls:
        """The same, with methods to await."""
        return AsyncChainCalls(self._ask_chain_async)

    def spawn(
        self, job: str, *, delay: float | str | timedelta | None = None, payload: Any = None, dedupe_key: str = ""
    ) -> Mapping[str, Any]:
        """Run a job once, later, as a follow-up of this run: at most a few, and only for a limited time.

        The same as `chain.spawn`. Raises ChainRefused if a limit forbids it.
        """
        return self.chain.spawn(job, delay=delay, payload=payload, dedupe_key=dedupe_key)

    @property
    def scheduled_for(self) -> datetime | None:
        """The planned time, without jitter, or None if the run was not planned."""
        return None if self.planned is None else to_datetime(self.planned)

    @property
    def idempotency_key(self) -> str:
        """The key of its tick, or the id of the run. It is the same for every attempt."""
        return self.run_id if self.tick is None else self.tick.key

    def log(self, message: str) -> None:
        """Add a line to the log of the run."""
        self.write("stdout", message.encode() + b"\n")

    def progress(self, fraction: float, text: str | None = None) -> None:
        """Report how far the run has come, from 0 to 1, with a short text. Raise InvalidInput for other values.

        Call it as often as you like: it does not wait, and the latest report counts.
        """
        self.report(read_progress(fraction, text))

    def results(self, *, failed: bool = False) -> Results:
        """Return the results of the fanout whose reducer this run is: use `for`, or `async for` in a coroutine.

        They are read in pages, in the order of the items. With `failed`, only those of failed items.
        """
        return self.read_results(failed)


_current: ContextVar[Context] = ContextVar("foliot_run")
_of_process: Context | None = None


def current_run() -> Context:
    """Return the run that the calling code executes. Raise LookupError outside of a run."""
    found = _current.get(None) if _of_process is None else _of_process
    if found is None:
        raise LookupError("current_run() was called outside of a run")
    return found


def dedicate(context: Context) -> None:
    """Make `context` current in all threads of this process, which exists for this run alone."""
    global _of_process
    _of_process = context


def enter(context: Context) -> None:
    """Make `context` current in the calling task, until the task ends."""
    _current.set(context)
