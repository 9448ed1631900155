"""How one attempt ended, as reported by a worker.

Success      the attempt succeeded
Failure      the attempt failed, or could not start; `reason` is the cause
TimedOut     the attempt was stopped because it exceeded its timeout
Cancelled    the attempt was stopped because cancellation was requested
Interrupted  the attempt was stopped because its worker stops: it is given back and does not count
Lost         the worker was lost, and the progress of the attempt is not known
Launched     the executor of the application has the work, and reports how it ends (`domain.run.report`)
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct


class Reason(StrEnum):
    """Why a run did not succeed. A closed list: the same words in rows, API and metrics."""

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
    INPUTS = "inputs"
    ITEMS_FAILED = "items_failed"
    REDUCER_FAILED = "reducer_failed"
    REJECTED = "rejected"
    EXECUTOR_FAILED = "executor_failed"
    CHAIN_ESCALATED = "chain_escalated"
    CHAIN_FAILED = "chain_failed"
    CHAIN_EXPIRED = "chain_expired"
    CHAIN_REFUSED = "chain_refused"
    """A scout found something, but the chain could not be armed."""
    BREAKER_OPEN = "breaker_open"
    MARKED = "marked"
    """The only reason of a success: the run was marked by hand."""


class Success(Struct, frozen=True, gc=False, tag="success", tag_field="outcome"):
    """`output` is the result of the job, as JSON."""

    output: bytes | None = None
    exit_code: int | None = None


DONE: Final = Success()
"""A success without output and exit code, as most are."""


_BY_SIGNAL: Final = (Reason.SIGNAL, Reason.EXIT_CODE)
_SIGNALS: Final = 128
"""Exit codes above it are 128 plus the number of a signal."""


class Failure(Struct, frozen=True, gc=False, tag="failure", tag_field="outcome"):
    """`retryable` is False if another attempt cannot end differently."""

    error: str
    reason: Reason
    exit_code: int | None = None
    retryable: bool = True
    output: bytes | None = None
    """What it reported although it failed, as JSON: a step of a chain says what it has spent."""

    @property
    def is_by_signal(self) -> bool:
        """Whether a signal ended the process, or the last command of its shell. The sender is not known."""
        return self.reason in _BY_SIGNAL and self.exit_code is not None and self.exit_code > _SIGNALS


class TimedOut(Struct, frozen=True, gc=False, tag="timed_out", tag_field="outcome"):
    error: str


class Cancelled(Struct, frozen=True, gc=False, tag="cancelled", tag_field="outcome"):
    pass


class Interrupted(Struct, frozen=True, gc=False, tag="interrupted", tag_field="outcome"):
    """The worker was stopped, and the job is not the cause: the attempt is given back and does not count."""


class Lost(Struct, frozen=True, gc=False, tag="lost", tag_field="outcome"):
    pass


class Launched(Struct, frozen=True, gc=False, tag="launched", tag_field="outcome"):
    """`executor_run_id` is the id that the executor gave to the work."""

    executor_run_id: str


Outcome = Success | Failure | TimedOut | Cancelled | Interrupted | Lost | Launched
