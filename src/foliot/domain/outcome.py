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


class Reason(StrEnum):
    """Why an attempt did not succeed. A closed list, the same words in rows, API and metrics."""

    EXCEPTION = "exception"
    EXIT_CODE = "exit_code"
    SIGNAL = "signal"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    LEASE_LOST = "lease_lost"
    RESTART = "restart"
    LAUNCH_FAILED = "launch_failed"
    HANDLER_MISSING = "handler_missing"
    PAYLOAD = "payload"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Success:
    """`output` is what the job gave back, as JSON."""

    output: bytes | None = None
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """`retryable` is False where another try cannot end differently."""

    error: str
    reason: Reason
    exit_code: int | None = None
    retryable: bool = True


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
