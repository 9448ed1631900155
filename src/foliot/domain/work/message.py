"""The messages between a remote worker and a server, as JSON.

    POST /api/workers/register     Register  -> Registered
                     /lease        Lease     -> Leased, or nothing (204)
                     /heartbeat    Heartbeat -> Beat
                     /log, /progress, /results, /spawn, /finish, /retire, /wait
                     /exchange     Exchange  -> ExchangeAnswer: many of them in one request

`worker` is the text that `register` returned. `run_id` and `token` name a lease; the text of a token belongs to one
run and one worker. Times are milliseconds since 1970, spans are seconds, and bytes are base64.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from foliot.domain.chain.message import ChainRequest
from foliot.domain.fanout.result import PAGE
from foliot.domain.ids import DefinitionId
from foliot.domain.job.definition import Definition
from foliot.domain.run.logs import Stream
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status, Tick

PROTOCOL: Final = 1
PROTOCOL_HEADER: Final = "X-Foliot-Protocol"
DEFAULT_LEASE: Final = 60.0
"""Seconds."""

Number = Annotated[int, Meta(ge=0, le=1 << 53)]
FinishStatus = Literal["success", "failed", "timeout", "cancelled", "interrupted", "lost", "launched"]


class Message(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a worker sends. A field that does not exist is refused."""


class Answer(Struct, frozen=True, kw_only=True):
    """What a server answers. A worker ignores fields that it does not know."""


class Register(Message, frozen=True, kw_only=True):
    name: str = ""
    """A label for people. Empty: the name of the enrolment or the token."""
    queues: tuple[str, ...] = ("default",)
    slots: int = 1
    """How many runs it executes at the same time."""
    labels: tuple[str, ...] | None = None
    """None: all labels that its enrolment allows."""
    kinds: tuple[str, ...] = ()
    """The kinds of jobs that it executes. Empty: all that its enrolment allows."""
    version: str = ""
    """The version of its code, for people."""
    environment: str = ""
    """Where it runs, for people: language, system and machine."""
    lease: float = DEFAULT_LEASE
    """Seconds until it is considered lost if it sends no heartbeat."""


class Registered(Answer, frozen=True, kw_only=True):
    worker: str
    """What names this worker in all further messages."""
    worker_id: str
    """Its id in lists, logs and the pages of runs."""
    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    lease: float
    heartbeat_every: float
    """Seconds between two heartbeats."""
    protocol: int = PROTOCOL


class Held(Message, frozen=True, kw_only=True):
    """A lease that a worker holds."""

    run_id: str
    token: str


class Heartbeat(Message, frozen=True, kw_only=True):
    """Renews the worker with all its leases.

    With `held`, its leases that are not listed are given back: their answer was lost. A worker that executes one run at
    a time sends `run_id` and `token` instead, and gets 410 if that run is to be cancelled and 409 if it lost its lease.
    """

    worker: str
    held: tuple[Held, ...] | None = None
    run_id: str | None = None
    token: str | None = None
    lease: float = DEFAULT_LEASE
    draining: bool = False
    """Whether it stops: it finishes what it runs and claims nothing more."""


class Beat(Answer, frozen=True, kw_only=True):
    cancelled: tuple[str, ...] = ()
    """Tokens of runs that are to be cancelled."""
    gone: tuple[str, ...] = ()
    """Tokens of leases that this worker no longer holds. It ends these runs."""
    paused: bool = False
    """Whether an administrator has paused it: it gets no runs until it is resumed."""
    drain: bool = False
    """Whether an administrator has drained it: it finishes its runs and stops."""


class Lease(Message, frozen=True, kw_only=True):
    worker: str
    limit: int = 1
    queues: tuple[str, ...] = ("default",)
    known: tuple[str, ...] = ()
    """Ids of definitions that the worker has. They are not sent again."""
    only: tuple[str, ...] | None = None
    """Only these runs."""
    wait: float = 0.0
    """Seconds that the server waits for a run, if none is ready."""


class LeasedRun(Answer, frozen=True, kw_only=True):
    run_id: str
    token: str
    job_id: str
    definition_id: str
    attempt: int
    lost: int
    queue: str
    priority: int
    due_at: int
    started_at: int
    payload: bytes | None = None
    """A JSON document."""
    overrides: bytes | None = None
    """Options of this run alone: a JSON document."""
    limit_keys: tuple[str, ...] = ()
    tick: Tick | None = None
    parent_id: str | None = None
    child_key: str | None = None
    scheduled_for: int | None = None


class Leased(Answer, frozen=True, kw_only=True):
    runs: tuple[LeasedRun, ...] = ()
    definitions: Mapping[DefinitionId, Definition] = {}


class LogPiece(Message, frozen=True, kw_only=True):
    """A piece of output. `seq` counts from 0 within a lease."""

    seq: Number
    stream: Stream = "stdout"
    data: bytes = b""
    text: str = ""
    """Instead of `data`."""
    at: int | None = None
    """When it was printed. None: now."""


class RunLog(Message, frozen=True, kw_only=True):
    run_id: str
    token: str
    pieces: tuple[LogPiece, ...]


class Log(Message, frozen=True, kw_only=True):
    worker: str
    run_id: str
    token: str
    pieces: tuple[LogPiece, ...]


class LogSaved(Answer, frozen=True, kw_only=True):
    next_seq: int


class LogRefusal(Answer, frozen=True, kw_only=True):
    """Output in an exchange that was not saved."""

    token: str
    code: str
    next_seq: int


class RunProgressReport(Message, frozen=True, kw_only=True):
    run_id: str
    token: str
    fraction: float
    text: str | None = None


class Progress(Message, frozen=True, kw_only=True):
    worker: str
    run_id: str
    token: str
    fraction: float
    text: str | None = None


class FinishedRun(Message, frozen=True, kw_only=True):
    run_id: str
    token: str
    status: FinishStatus
    exit_code: int | None = None
    error: str = ""
    reason: Reason | None = None
    """Why it failed. None: `exit_code`, or `exception` if there is no exit code."""
    retryable: bool = True
    output: bytes | None = None
    """The result of the job, as a JSON document."""
    executor_run_id: str = ""
    """Only with the status `launched`."""


class Finish(FinishedRun, frozen=True, kw_only=True):
    worker: str


class Results(Message, frozen=True, kw_only=True):
    worker: str
    run_id: str
    token: str
    after: int = -1
    limit: Annotated[int, Meta(ge=1, le=PAGE)] = PAGE
    failed: bool = False
    has_outputs: bool = True
    only: tuple[int, ...] | None = None


class ResultItem(Answer, frozen=True, kw_only=True):
    index: int
    run_id: str
    status: Status
    exit_code: int | None
    error: str | None
    item: bytes
    """A JSON document."""
    has_output: bool
    output: bytes | None = None


class ResultPage(Answer, frozen=True, kw_only=True):
    results: tuple[ResultItem, ...] | None
    """None: the run belongs to no fanout."""


class Spawning(Message, frozen=True, kw_only=True):
    """What a running step asks of its chain."""

    worker: str
    run_id: str
    token: str
    request: ChainRequest


class SpawnAnswer(Answer, frozen=True, kw_only=True):
    answer: Mapping[str, Any]


class Retire(Message, frozen=True, kw_only=True):
    worker: str


class Wait(Message, frozen=True, kw_only=True):
    worker: str
    wait: float = 30.0


class Woken(Answer, frozen=True, kw_only=True):
    runs: bool = False
    """Runs may be ready."""
    cancels: bool = False
    """Cancellation of a run may have been requested: send a heartbeat."""


class Renew(Message, frozen=True, kw_only=True):
    held: tuple[Held, ...] | None = None
    lease: float = DEFAULT_LEASE
    draining: bool = False


class Claiming(Message, frozen=True, kw_only=True):
    limit: int = 1
    queues: tuple[str, ...] = ("default",)
    known: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None


class Exchange(Message, frozen=True, kw_only=True):
    """Many messages in one request. They take effect in this order: logs, progress, renew, finishes, claim."""

    worker: str
    logs: tuple[RunLog, ...] = ()
    progress: tuple[RunProgressReport, ...] = ()
    renew: Renew | None = None
    finishes: tuple[FinishedRun, ...] = ()
    claim: Claiming | None = None
    wait: float = 0.0
    """Seconds that the server waits for a run, if it claims, and none is ready."""


class ExchangeAnswer(Answer, frozen=True, kw_only=True):
    stale: tuple[str, ...] = ()
    """Tokens of logs, progress and finishes that were not saved, because the lease was lost."""
    refused_logs: tuple[LogRefusal, ...] = ()
    is_expired: bool = False
    """Whether the renewal came too late: the worker registers again."""
    renewal: Beat | None = None
    runs: tuple[LeasedRun, ...] = ()
    definitions: Mapping[DefinitionId, Definition] = {}
