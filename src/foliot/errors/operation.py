"""Errors of operations that cannot be done, or not now: on runs, jobs, the application, outputs and other hosts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from foliot.errors.base import FoliotError, suggest

_LIST_HINTS: Final[Mapping[str, str]] = {
    "run": "List them with: foliot runs",
    "job": "List them with: foliot jobs",
    "schedule": "List them with: foliot schedules",
    "workflow": "List them with: foliot workflows",
    "chain": "List them with: foliot chains list; the newest chain of a class is CLASS@last",
    "DSN": "List them with: foliot dsn list",
    "token": "List them with: foliot token list",
    "user": "List them with: foliot user list",
    "worker": "List them with: foliot worker list",
    "execution": "List active executions with: foliot workflows active",
}


class NotFound(FoliotError):
    """A job, schedule, run, workflow, execution or step does not exist."""

    code = "not_found"

    def __init__(self, kind: str, name: str, *, known: Iterable[str] = (), hint: str = "", message: str = "") -> None:
        name = str(name)  # callers of the library may pass a value of another type
        hint = suggest(name, known, otherwise=hint or _LIST_HINTS.get(kind, ""))
        super().__init__(message or f"{kind} {name[:128]!a} does not exist", hint=hint)
        self.kind = kind
        self.name = name


class NotWritable(FoliotError):
    """A definition cannot be written as TOML, for example a function of an application."""

    code = "not_writable"


class WaitTimeout(FoliotError, TimeoutError):
    """A run did not end within the timeout of the wait. The run continues. It is also a TimeoutError."""

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
    """A job cannot be renamed while an open execution or a waiting gate names it.

    `run_id` is the run that must end first.
    """

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


class ChangedMeanwhile(FoliotError):
    """A definition has another revision than the one that an edit expected. Nothing was stored."""

    code = "changed_meanwhile"

    def __init__(self, kind: str, name: str, revision: int) -> None:
        super().__init__(
            f"{kind} {name[:128]!a} was changed: its revision is {revision}",
            hint="Read it again, and send the change with that revision.",
        )
        self.revision = revision


class OwnedElsewhere(FoliotError):
    """Only the owner of a definition, a file or an application, can change it. The message names all of them."""

    code = "owned_elsewhere"

    def __init__(self, message: str, *, hint: str = "", names: Sequence[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.names = tuple(names)
        """The ids of the definitions."""


class OutputUnavailable(FoliotError):
    """The output of an attempt is missing or incomplete."""

    code = "output_unavailable"


class OutputTruncated(OutputUnavailable):
    """The attempt printed more than its output limit."""

    code = "output_truncated"


class OutputLost(OutputUnavailable):
    """The worker of the attempt was lost before it saved all output."""

    code = "output_lost"


class OutputPruned(OutputUnavailable):
    """Retention has removed the output."""

    code = "output_pruned"


class OutputUnfinished(OutputUnavailable):
    """The attempt is still running, or has not started."""

    code = "output_unfinished"


class OutboundError(FoliotError):
    """A request to another host failed: for a job, a webhook or a list of items."""

    code = "outbound"


class OutboundBlocked(OutboundError):
    """The outbound policy refused the request, and nothing was sent.

    The message names the kind of address, never the address: a caller must not learn how a name resolves.
    """

    code = "ssrf_blocked"


class OutboundFailed(OutboundError):
    """The host could not be reached, or closed the connection. It may work next time.

    `status` is the status of the response, if one had begun to arrive.
    """

    code = "connection"

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class InputsError(FoliotError):
    """The items of a fanout could not be read or used."""

    code = "inputs"


class InputsUnavailable(InputsError):
    """The source of the items could not be read. It may work next time."""

    code = "inputs_unavailable"


class InputsRefused(InputsError):
    """The source of the items was read, but its content cannot be used, or exceeds a limit."""

    code = "inputs_refused"


class StaleClaim(FoliotError):
    """A claimed run was given to another process, or has ended. The write had no effect."""

    code = "stale_claim"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"the claim of run {run_id} is no longer current")


class SecretError(FoliotError):
    """A secret in the database could not be stored or read."""

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
    """The calling process is not part of a job, or cannot reach the worker of its job."""

    code = "channel_unavailable"


class ChainRefused(FoliotError):
    """A chain refused what a step asked for, because of a limit, its breaker, or its end.

    `refusal` is the reason as a word, such as `max_children` or `breaker_open`.
    """

    code = "chain_refused"

    def __init__(self, message: str, *, hint: str = "", refusal: str = "") -> None:
        super().__init__(message, hint=hint)
        self.refusal = refusal


class ChannelRefused(FoliotError):
    """The worker of the job refused the request, for example because the attempt has ended."""

    code = "channel_refused"
