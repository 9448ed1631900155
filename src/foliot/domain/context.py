"""What a running Python job can know about itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime

from foliot.domain.ids import RunId
from foliot.domain.instant import to_datetime
from foliot.domain.logs import Stream
from foliot.domain.run import Tick


@dataclass(frozen=True, slots=True)
class Context:
    """The run that is being executed. `run_id` and `attempt` let a handler be idempotent."""

    run_id: RunId
    job_id: str
    attempt: int
    tick: Tick | None
    _write: Callable[[Stream, bytes], None]

    @property
    def scheduled_for(self) -> datetime | None:
        """The planned moment, unchanged by jitter or delay; None for a run that no schedule made."""
        return None if self.tick is None else to_datetime(self.tick.scheduled_for)

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt: the tick's key, or the run's id."""
        return self.run_id if self.tick is None else self.tick.key

    def log(self, message: str) -> None:
        """Add a line to the log of this run."""
        self._write("stdout", message.encode() + b"\n")


_current: ContextVar[Context] = ContextVar("foliot_run")


def current_run() -> Context:
    """The run that the calling code executes. LookupError outside of one."""
    return _current.get()


@contextmanager
def context_of(context: Context) -> Iterator[None]:
    token = _current.set(context)
    try:
        yield
    finally:
        _current.reset(token)
