"""Answers of the HTTP API that are no views of stored objects: the API encodes them, `foliot.client` decodes them."""

from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.logs import LogState
from foliot.domain.run.mark import MarkAnswer
from foliot.domain.run.run import Status
from foliot.service.commands.tokens import TokenView
from foliot.service.queries.definition_view import DefinitionAction
from foliot.service.queries.fanout_view import ItemView
from foliot.service.queries.job_view import JobView
from foliot.service.queries.jobs import JobPage
from foliot.service.queries.pause_view import PauseView
from foliot.service.queries.runs import RunPage
from foliot.service.queries.schedule_view import ScheduleView
from foliot.service.queries.schedules import SchedulePage
from foliot.service.workers.enrolments import EnrolmentView

Item = TypeVar("Item")


class Page(msgspec.Struct, Generic[Item], frozen=True, kw_only=True):
    """Some items of a list."""

    items: list[Item]
    next: str | None
    """The cursor of the next page. None: this is the last one."""


# -- errors


class ProblemBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of several problems of a document."""

    message: str
    hint: str = ""
    field: str = ""
    line: int = 0
    """Of a text, from 1. 0: not known."""
    column: int = 0


class ErrorDetail(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    """Programs compare it; it never changes."""
    message: str
    hint: str
    """What to do."""
    field: str
    """The parameter or the path in the body that is wrong, or empty."""
    request_id: str
    """Also in the header X-Request-Id and in the log of the server."""
    problems: list[ProblemBody] | msgspec.UnsetType = msgspec.UNSET
    """All problems of a document with several."""
    position: int | msgspec.UnsetType = msgspec.UNSET
    """The offset of the error in a cron expression."""


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """The form of every error."""

    error: ErrorDetail


# -- jobs and schedules


class ListedJob(JobView, frozen=True, kw_only=True):
    """A job, and the schedules that start it."""

    schedules: list[ScheduleView]


class JobDetail(ListedJob, frozen=True, kw_only=True):
    """A job, its schedules, and the document that defines it."""

    document: dict[str, Any] | None
    """What a PUT of this job would contain, with *** for possible secrets: such a value keeps the stored one. None: no
    document can contain it, for example a function of an application."""
    warnings: list[str] = msgspec.field(default_factory=list)
    """Set after a change: what is valid but probably not meant."""


class Deleted(msgspec.Struct, frozen=True, kw_only=True):
    deleted: bool
    """False: it did not exist."""
    schedules: list[str] = []
    """The schedules that were deleted with it."""


class Paused(msgspec.Struct, frozen=True, kw_only=True):
    paused: bool
    schedules: list[str]
    """The schedules that were paused or resumed."""


class Upserted(msgspec.Struct, frozen=True, kw_only=True):
    schedule_id: str
    next_run_at: datetime | None
    """None: it has no fire times of its own."""


class Resumed(msgspec.Struct, frozen=True, kw_only=True):
    ended: PauseView | None
    """The pause that was ended. None: none was in force."""


# -- runs


class Cancelled(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    phase: str
    """`queued`: it had not started and never will. `local_signalled`, `awaiting_worker`: a worker of this server, or
    another one, was asked to end it. `already_pending`: that had been requested before."""
    status: Status


class MarkedRun(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    answer: MarkAnswer
    success_id: str
    """The run that is a success: the same, or a new one that replaces it."""


class LogPiece(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the output of a run."""

    id: str
    """Continue after this piece with `after`, or as Last-Event-ID."""
    at: datetime
    attempt: int
    stream: str
    text: str
    """Bytes that are not UTF-8 are escaped."""
    data: bytes | msgspec.UnsetType = msgspec.UNSET
    """The bytes in Base64, if they are not UTF-8."""
    is_closing: bool = False
    """Whether it is the line with which Foliot closes the log of an attempt."""


class StepLogPiece(LogPiece, frozen=True, kw_only=True):
    """A piece of the output of a step."""

    step: str
    """The name of the step; `step.inner` for a step of a step."""
    run_id: str


class LogPage(msgspec.Struct, frozen=True, kw_only=True):
    items: list[LogPiece]
    next: str | None
    """`after` for the next page. None: this is all output so far."""
    state: LogState | None
    """How the log ends: `open` if more may follow. None: there are more pages."""
    seen: int | None = None
    """Of a truncated log: how many bytes the job printed, if they were counted."""
    stored: int | None = None
    """Of a truncated log: how many of them are kept."""


class ItemPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some items of a fanout."""

    items: list[ItemView]
    next: str | None
    """The cursor of the next page. None: this is the last one."""
    next_after: int | None
    """The same as an index: continue with the items after it. A search may end a page early, even without items."""


class UnservedQueue(msgspec.Struct, frozen=True, kw_only=True):
    queue: str | None
    """The queue of the run, if no worker of that queue is alive. None: one is."""


class StepNames(msgspec.Struct, frozen=True, kw_only=True):
    steps: list[str] | None
    """None: the run is no execution and no chain."""


# -- workflows


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    execution_id: str
    """The execution that continues: the same, or a new one."""
    step: str
    answer: str


class PausedStep(msgspec.Struct, frozen=True, kw_only=True):
    workflow_id: str
    step: str
    paused: bool


class FoundExecution(msgspec.Struct, frozen=True, kw_only=True):
    execution_id: str


# -- imports


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    hint: str


class ImportedLine(msgspec.Struct, frozen=True, kw_only=True):
    """What a line of a crontab becomes."""

    line: int
    """From 1."""
    text: str
    outcome: str
    """job; skipped: it cannot be a job; setting: an assignment that has a warning"""
    job_id: str | None = None
    expression: str | None = None
    words: str | None = None
    """The expression in words. null: it has none, as @reboot."""
    timezone: str | None = None
    next: list[datetime] = []
    """The next fire times."""
    command: str | None = None
    action: DefinitionAction | None = None
    """What importing it does, or did. `kept`: a job with this id exists and has another definition."""
    reason: str = ""
    """Why it is skipped, refused or kept."""
    hint: str = ""
    warnings: list[Remark] = []


class ImportedCrontab(msgspec.Struct, frozen=True, kw_only=True):
    lines: list[ImportedLine]
    """Those with a job, an error or a warning."""
    toml: str
    """The jobs as TOML, without those that are not imported."""
    timezone: str
    """In which the jobs run, unless their line has another one."""
    saved: list[str]
    """The ids of the jobs that were stored."""
    is_dry_run: bool


# -- the server


class Version(msgspec.Struct, frozen=True, kw_only=True):
    version: str


class Done(msgspec.Struct, frozen=True, kw_only=True):
    done: bool = True


class Dsn(msgspec.Struct, frozen=True, kw_only=True):
    """A stored DSN. Its text cannot be read."""

    name: str
    engine: str
    updated_at: datetime


class StoredDsn(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    is_new: bool


class SampleAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a target answered to a test message."""

    target: str
    place: str
    """The beginning of the URL. The rest may be a secret."""
    is_accepted: bool
    answer: str


class NewToken(TokenView, frozen=True, kw_only=True):
    """A new token, with its text."""

    secret: str
    """The token itself. It cannot be read again."""


class NewEnrolment(EnrolmentView, frozen=True, kw_only=True):
    """A new enrolment, with its secret."""

    secret: str
    """It cannot be read again."""
    environment: str
    """The variables that the worker needs, one per line, ready to be saved. The secret is among them."""


class InvitedWorker(EnrolmentView, frozen=True, kw_only=True):
    """An enrolment of a worker that has not joined yet."""

    token: str
    """What `foliot worker join` asks for. It cannot be read again, and is used up by joining."""


class DirectedWorkers(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """Empty: all with a version of the code."""
    workers: int
    """How many workers have the order now."""


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """What has a name: one of the three is set."""

    job: JobPage | None = None
    schedule: SchedulePage | None = None
    run: RunPage | None = None


# -- chains


class StoppedChain(msgspec.Struct, frozen=True, kw_only=True):
    chain_id: str
    run_id: str
    phase: CancelAnswer
    """Whether its run is cancelled, or the worker of its step was asked to stop."""


class StoppedClass(msgspec.Struct, frozen=True, kw_only=True):
    class_id: str
    stopped: int
    """How many chains were active."""
