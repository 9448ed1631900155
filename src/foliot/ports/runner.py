"""The runner port: executes attempts of one kind of job."""

from collections.abc import Callable, Collection, Coroutine, Mapping
from typing import Any, Protocol

from msgspec import Struct

from foliot.domain.chain.message import ChainRequest
from foliot.domain.fanout.result import ChildResult, ResultQuery, no_results_error
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.logs import Stream
from foliot.domain.run.outcome import Failure, Launched, Success
from foliot.domain.run.progress import RunProgress
from foliot.domain.run.run import Tick
from foliot.errors import ChannelUnavailable

ReadResults = Callable[[ResultQuery], Coroutine[Any, Any, list[ChildResult]]]
AskChain = Callable[[ChainRequest], Coroutine[Any, Any, Mapping[str, Any]]]


class LogSink(Protocol):
    """Receives the output of an attempt while it runs. No method raises: output that cannot be stored is dropped."""

    def write(self, stream: Stream, data: bytes) -> None:
        """Add bytes without waiting. The writer must await `drain` at least every 64 KiB."""
        ...

    async def drain(self) -> None:
        """Wait until the buffer has room, for a limited time."""
        ...

    def truncated(self, seen: int, stored: int) -> None:
        """Record that only `stored` of `seen` bytes of the output were written. Called once, at the end."""
        ...


def _ignore_progress(progress: RunProgress) -> None:
    """Drop the report: the default, without a worker."""


def _no_variables() -> Mapping[str, str]:
    """Return no variables: the default, without a channel."""
    return {}


async def no_results(query: ResultQuery) -> list[ChildResult]:
    """Raise ResultsUnavailable: the run belongs to no fanout, or there is no worker."""
    raise no_results_error()


async def _no_chain(request: ChainRequest) -> Mapping[str, Any]:
    """Raise ChannelUnavailable: the default, without a worker."""
    raise ChannelUnavailable("this run has no worker to ask", hint="A worker asks the chain of the run.")


class Attempt(Struct, frozen=True, gc=False):
    """One attempt of a run, with everything that a runner needs to execute it."""

    run_id: RunId
    job_id: str
    number: int
    """Counts from 1."""
    payload: object
    spec: Mapping[str, object]
    """The fields of the job that belong to its kind."""
    environment: Mapping[str, str]
    """Environment variables in addition to those of the job."""
    log: LogSink
    tick: Tick | None = None
    """The tick that the run was created for, if a schedule created it."""
    execution: RunId | None = None
    """The execution that the run is a step of."""
    scheduled_for: Instant | None = None
    """The planned time, if a launcher gave it instead of a tick."""
    written: Mapping[str, object] = {}
    """Fields of the definition before their variables were replaced. Logs show these instead of the values."""
    report: Callable[[RunProgress], None] = _ignore_progress
    """Reports progress, from any thread, without waiting."""
    channel: Callable[[], Mapping[str, str]] = _no_variables
    """Returns environment variables that give the processes of the attempt access to the worker (`ports.channel`). A
    function, because access is granted only to attempts that have processes."""

    results: ReadResults = no_results
    """Reads a page of results of the fanout that the run belongs to. Raises ResultsUnavailable if there is none."""
    ask_chain: AskChain = _no_chain
    """Asks the chain that the run is a step of, or starts one."""

    @property
    def planned(self) -> Instant | None:
        """The planned time of the run; None for an unplanned run."""
        return self.scheduled_for if self.tick is None else self.tick.scheduled_for


class Sweep(Protocol):
    """Ends processes that vanished workers left on this machine."""

    async def __call__(self, attempts: Collection[tuple[RunId, int]]) -> None:
        """End all processes that these lost attempts have started here. Never raises."""
        ...


class Runner(Protocol):
    """Executes attempts of one kind of job, any number concurrently."""

    @property
    def abandoned(self) -> int:
        """The number of attempts that could not be ended and still occupy a slot. 0 if all can be killed."""
        ...

    async def run(self, attempt: Attempt) -> Success | Failure | Launched:
        """Execute one attempt and return how it ended.

        When the task is cancelled (by a timeout, a cancellation, a lost lease or a shutdown), the runner must first end
        everything that it started for this attempt, and then let the CancelledError propagate.
        """
        ...
