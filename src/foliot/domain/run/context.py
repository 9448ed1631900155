"""What a running Python job can know about itself."""

from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime

from msgspec import Struct

from foliot.domain.ids import RunId
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.run.logs import Stream
from foliot.domain.run.run import Tick


class Context(Struct, frozen=True, gc=False):
    """The run that is being executed. `run_id` and `attempt` let a handler be idempotent."""

    run_id: RunId
    job_id: str
    attempt: int
    tick: Tick | None
    write: Callable[[Stream, bytes], None]
    """Adds bytes to the log of this run."""
    execution_id: RunId | None = None
    """The execution of a workflow that this run is a step of; None for one that runs alone."""
    planned: Instant | None = None
    """When it was planned for, by a schedule or by whoever called the launcher."""

    @property
    def scheduled_for(self) -> datetime | None:
        """The planned moment, unchanged by jitter or delay; None for a run that nobody has planned."""
        return None if self.planned is None else to_datetime(self.planned)

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt: the tick's key, or the run's id."""
        return self.run_id if self.tick is None else self.tick.key

    def log(self, message: str) -> None:
        """Add a line to the log of this run."""
        self.write("stdout", message.encode() + b"\n")


_current: ContextVar[Context] = ContextVar("foliot_run")
_of_process: Context | None = None


def current_run() -> Context:
    """The run that the calling code executes. LookupError outside of one."""
    return _current.get() if _of_process is None else _of_process


def dedicate(context: Context) -> None:
    """Make `context` the current one of this whole process, in all its threads: it exists for that run alone."""
    global _of_process
    _of_process = context


def enter(context: Context) -> None:
    """Make `context` the current one of the calling task, for as long as the task lives."""
    _current.set(context)
