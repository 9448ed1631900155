"""Errors of requests of remote workers."""

from foliot.errors.base import FoliotError


class WorkerRefused(FoliotError):
    """A request of a remote worker was refused. The classes below it say why."""

    code = "worker_refused"


class BadSignature(WorkerRefused):
    """The signature does not belong to the request, or its worker is not enrolled."""

    code = "bad_signature"

    def __init__(self) -> None:
        super().__init__(
            "the signature of the request was refused",
            hint="Check FOLIOT_WORKER_ID and FOLIOT_WORKER_SECRET. The signature covers method, path, query, body, "
            "timestamp and nonce.",
        )


class StaleTimestamp(WorkerRefused):
    """The timestamp of a signed request is too far from the clock of the server."""

    code = "stale_timestamp"

    def __init__(self, problem: str) -> None:
        super().__init__(problem, hint="Set the clock of this machine, for example with NTP.")


class Replayed(WorkerRefused):
    """The nonce of a signed request was used before."""

    code = "replay"

    def __init__(self) -> None:
        super().__init__("the nonce was used before", hint="Make a new random nonce for each request.")


class WorkerDisabled(WorkerRefused):
    """The enrolment of the worker is disabled."""

    code = "worker_disabled"

    def __init__(self, name: str) -> None:
        super().__init__(
            f'worker "{name}" is disabled', hint=f"An administrator enables it with: foliot worker enable {name}"
        )


class LabelRefused(WorkerRefused):
    """The worker claims a label or a kind of jobs that its enrolment does not have."""

    code = "label_refused"


class JoinRefused(WorkerRefused):
    """A join token does not exist, has expired or was used before."""

    code = "join_refused"

    def __init__(self) -> None:
        super().__init__(
            "the join token was refused",
            hint="It is valid once, and for an hour at most. Make a new one with: foliot worker invite NAME",
        )


class WorkerExpired(WorkerRefused):
    """The worker is not registered with the server, or sent no heartbeat for longer than its lease."""

    code = "worker_expired"

    def __init__(self) -> None:
        super().__init__(
            "this worker is not registered, or sent no heartbeat for longer than its lease",
            hint="End its runs, and register again.",
        )


class StaleLease(WorkerRefused):
    """The worker does not hold this lease: the run has ended, or another worker has it. Nothing was changed."""

    code = "stale_lease"

    def __init__(self) -> None:
        super().__init__(
            "this worker does not hold the lease of the run", hint="End the run here. Nothing was changed."
        )


class RunCancelled(WorkerRefused):
    """Cancellation of the run was requested."""

    code = "cancelled"

    def __init__(self) -> None:
        super().__init__("cancellation of this run was requested", hint="End it, and finish it as cancelled.")


class LogRefused(WorkerRefused):
    """Output was sent twice or out of order. `next_seq` is the number that the server expects."""

    code = "log_out_of_order"

    def __init__(self, message: str, next_seq: int) -> None:
        super().__init__(message, hint=f"Continue with seq {next_seq}. Nothing was changed.")
        self.next_seq = next_seq


class LogRepeated(LogRefused):
    """All of this output was saved before."""

    code = "log_repeated"


class LogTooLarge(LogRefused):
    """The attempt has more output than a server accepts."""

    code = "log_too_large"

    def __init__(self, most: int, next_seq: int) -> None:
        super().__init__(f"the attempt has more than {most} bytes of output", next_seq)
        self.hint = "Drop the rest. A job with large output writes it to a file."


class ProtocolTooOld(WorkerRefused):
    """The worker and the server use different versions of the protocol."""

    code = "protocol_version"

    def __init__(self, given: str, own: int) -> None:
        super().__init__(
            f"the worker uses protocol {given[:16]}, the server uses protocol {own}",
            hint="Install the version of the worker that belongs to the server.",
        )
