"""How one attempt ended.

Success      it did what it should
Failure      it ran, or should have run, and went wrong; `reason` says in which way
TimedOut     it was ended because its time was up
Cancelled    it was ended because somebody asked for it
Interrupted  it was ended because its worker stops: the attempt is given back
Lost         its worker is gone, nobody knows how far it came
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


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


@dataclass(frozen=True, slots=True)
class Success:
    """`output` is what the job gave back, as JSON."""

    output: bytes | None = None
    exit_code: int | None = None


DONE: Final = Success()
"""A success of which there is nothing more to say: most are."""


_BY_SIGNAL: Final = (Reason.SIGNAL, Reason.EXIT_CODE)
_SIGNALS: Final = 128
"""Exit codes above it are 128 and the number of a signal."""


@dataclass(frozen=True, slots=True)
class Failure:
    """`retryable` is False where another try cannot end differently."""

    error: str
    reason: Reason
    exit_code: int | None = None
    retryable: bool = True

    @property
    def is_by_signal(self) -> bool:
        """Whether a signal has ended the process, or the last command of its shell. It does not say who sent it."""
        return self.reason in _BY_SIGNAL and self.exit_code is not None and self.exit_code > _SIGNALS


@dataclass(frozen=True, slots=True)
class TimedOut:
    error: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    pass


@dataclass(frozen=True, slots=True)
class Interrupted:
    """We stopped the worker, the job did nothing wrong: the attempt is given back."""


@dataclass(frozen=True, slots=True)
class Lost:
    pass


Outcome = Success | Failure | TimedOut | Cancelled | Interrupted | Lost
