"""Errors of operations that cannot be done, or not now: on runs, jobs, the application, outputs and other hosts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from foliot.errors.base import FoliotError, suggest

_LIST_HINTS: Final[Mapping[str, str]] = {
    "run": "List them with: foliot runs",
    "job": "List them with: foliot jobs",
    "schedule": "List them with: foliot schedules",
    "workflow": "List them with: foliot workflows",
    "DSN": "List them with: foliot dsn list",
    "execution": "List active executions with: foliot workflows active",
}


class NotFound(FoliotError):
    code = "not_found"

    def __init__(self, kind: str, name: str, *, known: Iterable[str] = (), hint: str = "", message: str = "") -> None:
        name = str(name)  # callers of the library may pass a value of another type
        hint = suggest(name, known, otherwise=hint or _LIST_HINTS.get(kind, ""))
        super().__init__(message or f"{kind} {name[:128]!a} does not exist", hint=hint)
        self.kind = kind
        self.name = name


class WaitTimeout(FoliotError, TimeoutError):
    """Runs did not end within the timeout of a wait. The wait has ended; the runs continue."""

    code = "wait_timeout"

    def __init__(self, run_ids: Sequence[str], seconds: float) -> None:
        first, *others = run_ids
        more = f" and {len(others)} more" if others else ""
        super().__init__(
            f"run {first}{more} did not end within {seconds:g}s",
            hint=f"The run continues. Wait longer, or look at it with: foliot show {first}",
        )
        self.run_ids = tuple(run_ids)


class InUse(FoliotError):
    """The application cannot be closed, or opened on another event loop, while calls are in progress."""

    code = "in_use"


class JobInUse(FoliotError):
    """A job cannot be renamed while an execution or a run names it. `run_id` is the run that must end first."""

    code = "job_in_use"

    def __init__(self, job_id: str, use: str, run_id: str) -> None:
        super().__init__(
            f"job {job_id[:128]!a} could not be renamed: {use}",
            hint=f"Nothing was renamed. Wait for it to end or cancel it with: foliot cancel {run_id}. Then try again.",
        )
        self.job_id = job_id
        self.run_id = run_id


class WrongLoop(FoliotError):
    """The application is open on one event loop and was called from another."""

    code = "wrong_loop"


class OwnedElsewhere(FoliotError):
    """The message names every definition that has another owner and was to be changed."""

    code = "owned_elsewhere"


class OutputUnavailable(FoliotError):
    code = "output_unavailable"


class OutputTruncated(OutputUnavailable):
    code = "output_truncated"


class OutputLost(OutputUnavailable):
    code = "output_lost"


class OutputPruned(OutputUnavailable):
    code = "output_pruned"


class OutputUnfinished(OutputUnavailable):
    code = "output_unfinished"


class OutboundError(FoliotError):
    code = "outbound"


class OutboundBlocked(OutboundError):
    """The message names the kind of address, never the address: a caller must not learn how a name resolves."""

    code = "ssrf_blocked"


class OutboundFailed(OutboundError):
    """`status` is the status of the response, if one had begun to arrive."""

    code = "connection"

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class InputsError(FoliotError):
    code = "inputs"


class InputsUnavailable(InputsError):
    """The source could not be read: it may work next time."""

    code = "inputs_unavailable"


class InputsRefused(InputsError):
    """The source was read, and its content cannot be used as items."""

    code = "inputs_refused"


class StaleClaim(FoliotError):
    """A write about a claimed run that another process has claimed since, or that has ended."""

    code = "stale_claim"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"the claim of run {run_id} is no longer current")


class SecretError(FoliotError):
    code = "secret"


class SecretKeyUnusable(SecretError):
    """There is no key for secrets, or it is not safe to use."""

    code = "secret_key_unusable"


class SecretUnreadable(SecretError):
    """A secret was encrypted with another key, or has been changed."""

    code = "secret_unreadable"


class ResultsUnavailable(FoliotError):
    """The results of a fanout were read by a run that does not belong to one."""

    code = "results_unavailable"


class ChannelUnavailable(FoliotError):
    code = "channel_unavailable"


class ChannelRefused(FoliotError):
    code = "channel_refused"
