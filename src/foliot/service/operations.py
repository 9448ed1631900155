"""What the command line does and reads, as protocols.

`Services` fills them on an open storage, `foliot.client.operations` by the HTTP API of a server. A command that uses
nothing else works the same way with both.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from foliot.domain.input.timing import Span
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.logs import LogEnd
from foliot.domain.run.mark import Marked
from foliot.domain.run.run import Status
from foliot.domain.schedule.tick import TickOutcome
from foliot.domain.tree.run_kind import RunKind
from foliot.service.commands.audit import AuditView
from foliot.service.commands.cancels import CancelledRuns
from foliot.service.commands.dsns import DsnView
from foliot.service.commands.run_request import RunRequest
from foliot.service.commands.tokens import CreatedToken, TokenView
from foliot.service.commands.users import UserView
from foliot.service.path import ExplainedPath
from foliot.service.queries.chain_view import ChainDetailView, ChainView, ClassView
from foliot.service.queries.executions import ExecutionPage
from foliot.service.queries.fanout_view import FanoutItemsView, FanoutView, ItemView
from foliot.service.queries.jobs import JobListItem, JobPage
from foliot.service.queries.logs import Cursor, LogTail, LogView
from foliot.service.queries.overview import OverviewPage
from foliot.service.queries.pause_view import PauseView
from foliot.service.queries.run_view import RunView
from foliot.service.queries.runs import RunPage
from foliot.service.queries.schedule_view import ScheduleView, TickView
from foliot.service.queries.schedules import SchedulePage
from foliot.service.queries.status import StatusPage
from foliot.service.queries.step_logs import StepPiece
from foliot.service.queries.verified import Verified
from foliot.service.queries.workflows import ListedWorkflow, WorkflowPage
from foliot.service.workers.enrolments import Enrolled, EnrolmentView

# -- changes


class RunCommands(Protocol):
    async def cancel(self, run_id: str, /) -> CancelAnswer: ...

    async def cancel_all(
        self, job: str | None = None, /, *, status: str | None = None, confirm: bool = False
    ) -> CancelledRuns: ...

    async def retry(self, run_id: str, /) -> str: ...

    async def retry_failed(self, run_id: str, /) -> str: ...

    async def mark(self, run_id: str, /) -> Marked: ...

    async def wait(self, run_id: str, /, timeout: Span | None = None) -> RunView: ...  # noqa: ASYNC109 - as app.runs.wait


class JobCommands(Protocol):
    async def delete(self, job_id: str, /, *, force: bool = False) -> Sequence[str]: ...


class ScheduleCommands(Protocol):
    async def pause_named(self, name: str, paused: bool = True, /) -> Sequence[str]: ...

    async def pause_all(self, until: datetime | None = None, note: str = "", by: str = "", /) -> PauseView: ...

    async def resume_all(self) -> PauseView | None: ...

    async def delete(self, schedule_id: str, /, *, force: bool = False) -> None: ...


class WorkflowCommands(Protocol):
    async def trigger(self, name: str, request: RunRequest, /) -> str: ...

    async def start(
        self, workflow: str, params: Mapping[str, Any] | None = None, /, *, version: int | None, request: RunRequest
    ) -> str: ...

    async def rerun(self, execution_id: str, /, *steps: str, same_version: bool = False) -> str: ...

    async def mark_step(self, execution_id: str, step: str, /) -> str: ...

    async def approve(self, execution_id: str, step: str, /, *, by: str | None = None) -> None: ...

    async def reject(self, execution_id: str, step: str, /, *, by: str | None = None) -> None: ...

    async def pause_step(self, workflow_id: str, step: str, /, paused: bool = True) -> None: ...

    async def delete(self, workflow_id: str, /, *, force: bool = False) -> Sequence[str]: ...


class ChainCommands(Protocol):
    async def stop(self, name: str, /) -> CancelAnswer: ...

    async def stop_class(self, class_id: str, /) -> int: ...

    async def resume_class(self, class_id: str, /) -> None: ...

    async def reset(self, class_id: str, /, *, actor: str, reason: str) -> None: ...


class DsnCommands(Protocol):
    async def add(self, name: str, dsn: str, /) -> bool: ...

    async def all(self) -> list[DsnView]: ...

    async def remove(self, name: str, /) -> None: ...


class TokenCommands(Protocol):
    async def create(
        self,
        *,
        role: str | None = None,
        job: str | None = None,
        name: str | None = None,
        expires: datetime | None = None,
    ) -> CreatedToken: ...

    def all(self, *, revoked: bool = False) -> AsyncIterator[TokenView]: ...

    async def revoke(self, name: str, /) -> TokenView: ...


class UserCommands(Protocol):
    async def add(self, name: str, password: str, /, *, role: str) -> UserView: ...

    async def all(self) -> list[UserView]: ...

    async def set_password(self, name: str, password: str, /) -> None: ...

    async def remove(self, name: str, /) -> None: ...


class EnrolmentCommands(Protocol):
    async def register(self, name: str, /, *, labels: Sequence[str] = (), kinds: Sequence[str] = ()) -> Enrolled: ...

    async def invite(
        self, name: str, /, *, labels: Sequence[str] = (), kinds: Sequence[str] = (), valid: Span = 600.0
    ) -> Enrolled: ...

    async def all(self) -> list[EnrolmentView]: ...

    async def disable(self, name: str, /) -> EnrolmentView: ...

    async def enable(self, name: str, /) -> EnrolmentView: ...

    async def pause(self, name: str, /) -> int: ...

    async def resume(self, name: str, /) -> int: ...

    async def drain(self, name: str | None = None, /, *, version: str | None = None) -> int: ...

    async def remove(self, name: str, /) -> None: ...


# -- reads


class AuditReads(Protocol):
    async def page(
        self,
        *,
        actor: str | None = None,
        id: str | None = None,  # noqa: A002 - the name of the field
        since: datetime | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[AuditView]: ...


class LogReads(Protocol):
    def follow(self, run_id: str, after: Cursor | None = None, /) -> AsyncIterator[LogView | LogEnd]: ...

    def read(self, run_id: str, after: Cursor | None = None, /) -> AsyncIterator[LogView | LogEnd]: ...

    async def tail(self, run_id: str, pieces: int = 100, /) -> LogTail: ...

    async def raw_stdout(self, run_id: str, attempt: int | None = None, /) -> bytes: ...


class StepLogReads(Protocol):
    """Reads the logs of all steps and keeps its position."""

    @property
    def is_over(self) -> bool: ...

    def follow(self) -> AsyncIterator[StepPiece]: ...

    def new(self) -> AsyncIterator[StepPiece]: ...


class RunReads(Protocol):
    async def named(self, reference: str, /) -> RunView: ...

    async def page(self, reference: str, /) -> RunPage: ...

    async def unserved_queue(self, run_id: str, /) -> str | None: ...

    async def newest(
        self,
        *,
        job: str | None = None,
        schedule: str | None = None,
        status: Status | None = None,
        root: str | None = None,
        failed: bool = False,
        since: datetime | None = None,
        kind: RunKind | None = None,
        parent: str | None = None,
        children: bool = False,
        limit: int = 100,
    ) -> list[RunView]: ...


class FanoutReads(Protocol):
    async def progress(self, run_id: str, /) -> FanoutView | None: ...

    async def items(
        self,
        run_id: str,
        /,
        *,
        after: int | None = None,
        failed: bool = False,
        pattern: str | None = None,
        limit: int = 100,
    ) -> FanoutItemsView: ...

    async def item(self, run_id: str, item: str, /) -> ItemView: ...


class ChainReads(Protocol):
    async def classes(self) -> list[ClassView]: ...

    async def page(self, *, class_id: str | None = None, limit: int = 20) -> list[ChainView]: ...

    async def open(self, *, class_id: str | None = None, limit: int = 100) -> list[ChainView]: ...

    async def get(self, name: str, /) -> ChainDetailView: ...


class JobReads(Protocol):
    async def listed(self, *, limit: int = 100) -> list[JobListItem]: ...

    async def all(self) -> list[JobListItem]: ...


class ScheduleReads(Protocol):
    async def listed(self, *, limit: int = 100) -> list[ScheduleView]: ...

    async def all(self, job_id: str | None = None, /) -> list[ScheduleView]: ...


class WorkflowReads(Protocol):
    async def page(
        self, workflow_id: str, /, *, version: int | None = None, execution: str | None = None
    ) -> WorkflowPage: ...

    async def all(self) -> list[ListedWorkflow]: ...

    async def active(self, *, workflow_id: str | None = None, limit: int = 100) -> list[ExecutionPage]: ...

    async def find_execution(self, reference: str, /) -> str: ...

    async def step_names(self, run_id: str, /) -> list[str] | None: ...


class TickReads(Protocol):
    async def newest(
        self,
        name: str | None = None,
        /,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        outcomes: Collection[TickOutcome] = (),
        has_failed_run: bool = False,
        limit: int = 50,
    ) -> list[TickView]: ...


class OverviewReads(Protocol):
    async def page(self) -> OverviewPage: ...


class StatusReads(Protocol):
    async def page(self) -> StatusPage: ...


class ExplainReads(Protocol):
    async def run(self, reference: str, /) -> ExplainedPath: ...

    async def tick(self, schedule_id: str, at: datetime, /) -> ExplainedPath: ...


class LedgerReads(Protocol):
    async def verified(self, since: datetime, /, *, progress: Callable[[int, int], None]) -> Verified: ...


class Reads(Protocol):
    """All reads, grouped by subject."""

    @property
    def runs(self) -> RunReads: ...
    @property
    def fanouts(self) -> FanoutReads: ...
    @property
    def chains(self) -> ChainReads: ...
    @property
    def jobs(self) -> JobReads: ...
    @property
    def schedules(self) -> ScheduleReads: ...
    @property
    def workflows(self) -> WorkflowReads: ...
    @property
    def ticks(self) -> TickReads: ...
    @property
    def overview(self) -> OverviewReads: ...
    @property
    def status(self) -> StatusReads: ...
    @property
    def explained(self) -> ExplainReads: ...
    @property
    def ledgers(self) -> LedgerReads: ...

    async def named(self, name: str, /) -> JobPage | SchedulePage | RunPage: ...

    def step_logs(self, execution_id: str, /) -> StepLogReads: ...


class Operations(Protocol):
    """All changes and reads."""

    @property
    def runs(self) -> RunCommands: ...
    @property
    def jobs(self) -> JobCommands: ...
    @property
    def schedules(self) -> ScheduleCommands: ...
    @property
    def workflows(self) -> WorkflowCommands: ...
    @property
    def chains(self) -> ChainCommands: ...
    @property
    def dsns(self) -> DsnCommands: ...
    @property
    def tokens(self) -> TokenCommands: ...
    @property
    def users(self) -> UserCommands: ...
    @property
    def enrolments(self) -> EnrolmentCommands: ...
    @property
    def audit(self) -> AuditReads: ...
    @property
    def logs(self) -> LogReads: ...
    @property
    def queries(self) -> Reads: ...
