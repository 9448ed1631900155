"""The runner port: how one attempt of one kind of job is carried out."""

from collections.abc import Collection, Mapping
from typing import Protocol

from msgspec import Struct

from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.logs import Stream
from foliot.domain.run.outcome import Failure, Success
from foliot.domain.run.run import Tick


class LogSink(Protocol):
    """Takes what an attempt prints, while it prints it. No method raises: what cannot be stored is dropped."""

    def write(self, stream: Stream, data: bytes) -> None:
        """Take these bytes without waiting. Whoever writes awaits `drain` at least once in 64 KiB."""
        ...

    async def drain(self) -> None:
        """Return when there is room again, at once where there is. Never waits for ever."""
        ...

    def truncated(self, seen: int, stored: int) -> None:
        """Of the attempt's whole output, so many bytes were seen and fewer were written here. Said once, at its end."""
        ...


class Attempt(Struct, frozen=True, gc=False):
    """One try of one run, with all that a runner needs to carry it out."""

    run_id: RunId
    job_id: str
    number: int
    """Counts from 1."""
    payload: object
    spec: Mapping[str, object]
    """The job's definition, in the words of its kind."""
    environment: Mapping[str, str]
    """Variables to add to those of the job."""
    log: LogSink
    tick: Tick | None = None
    """The planned moment it was made for, if a schedule made it."""
    execution: RunId | None = None
    """The execution of a workflow that it is a step of."""
    scheduled_for: Instant | None = None
    """The planned moment, where a launcher has named it and no tick of ours does."""
    written: Mapping[str, object] = {}
    """Fields of the definition that had variables in them, as they were written: what a log tells in their place."""

    @property
    def planned(self) -> Instant | None:
        """The moment that its run was planned for; None where nobody has planned it."""
        return self.scheduled_for if self.tick is None else self.tick.scheduled_for


class Sweep(Protocol):
    """Ends what vanished workers left running on this machine."""

    async def __call__(self, attempts: Collection[tuple[RunId, int]]) -> None:
        """End everything that these attempts, lost with their workers, have started here. Never raises."""
        ...


class Runner(Protocol):
    """Carries out attempts of one kind of job, any number at once."""

    @property
    def abandoned(self) -> int:
        """How many attempts could not be ended and still take a slot: 0 for whatever can be killed."""
        ...

    async def run(self, attempt: Attempt) -> Success | Failure:
        """Carry out one attempt and say how it ended.

        When the task is cancelled (a timeout, a cancel, a lost lease, a shutdown: the engine knows which), the runner
        first ends everything it started for this attempt and then lets the CancelledError go on, always.
        """
        ...
