"""How one attempt ended, as a worker reports it.

Success      it succeeded
Failure      it ran, or should have run, and failed; `reason` says in which way
TimedOut     it was ended because its time was up
Cancelled    it was ended because cancellation was requested
Interrupted  it was ended because its worker stops: the attempt is given back
Lost         its worker has vanished; how far it came is not known
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct


class Reason(StrEnum):
    """Why a run did not simply succeed. A closed list, the same words in rows, API and metrics."""

    EXCEPTION = "exception"
    EXIT_CODE = "exit_code"
    SIGNAL = "signal"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    LEASE_LOST = "lease_lost"
    RESTART = "restart"
    LAUNCH_FAILED = "launch_failed"
    LIMIT_MEMORY = "limit_memory"
    LIMIT_CPU = "limit_cpu"
    LIMIT_FILE_SIZE = "limit_file_size"
    HANDLER_MISSING = "handler_missing"
    PAYLOAD = "payload"
    OUTPUT = "output"
    HTTP_STATUS = "http_status"
    CONNECTION = "connection"
    SSRF_BLOCKED = "ssrf_blocked"
    DEP_MISSING = "dep_missing"
    DEP_FAILED = "dep_failed"
    COOLDOWN = "cooldown"
    STEP_FAILED = "step_failed"
    REJECTED = "rejected"
    MARKED = "marked"
    """The one reason of a success: somebody said that it is one."""


class Success(Struct, frozen=True, gc=False, tag="success", tag_field="outcome"):
    """`output` is what the job gave back, as JSON."""

    output: bytes | None = None
    exit_code: int | None = None


DONE: Final = Success()
"""A success of which there is nothing more to say: most are."""


_BY_SIGNAL: Final = (Reason.SIGNAL, Reason.EXIT_CODE)
_SIGNALS: Final = 128
"""Exit codes above it are 128 and the number of a signal."""


class Failure(Struct, frozen=True, gc=False, tag="failure", tag_field="outcome"):
    """`retryable` is False where another try cannot end differently."""

    error: str
    reason: Reason
    exit_code: int | None = None
    retryable: bool = True

    @property
    def is_by_signal(self) -> bool:
        """Whether a signal has ended the process, or the last command of its shell. It does not say who sent it."""
        return self.reason in _BY_SIGNAL and self.exit_code is not None and self.exit_code > _SIGNALS


class TimedOut(Struct, frozen=True, gc=False, tag="timed_out", tag_field="outcome"):
    error: str


class Cancelled(Struct, frozen=True, gc=False, tag="cancelled", tag_field="outcome"):
    pass


class Interrupted(Struct, frozen=True, gc=False, tag="interrupted", tag_field="outcome"):
    """We stopped the worker, the job did nothing wrong: the attempt is given back."""


class Lost(Struct, frozen=True, gc=False, tag="lost", tag_field="outcome"):
    pass


Outcome = Success | Failure | TimedOut | Cancelled | Interrupted | Lost
