"""The part of the storage that answers questions of people and programs: pages and lists.

Each verb reads everything that its answer needs in one snapshot, so an answer never shows two states of the database.
No verb changes anything, and none costs more because history grew.

A row that cannot be read is reported in its place: `Run.unreadable`, `Schedule.is_unreadable`, or a `RowUnreadable`
instead of the value. `job` and `workflow` raise `RowUnreadable` if the definition itself cannot be read.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from foliot.domain.events import Event
from foliot.domain.gate.decision import Decision
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid, Token
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job
from foliot.domain.run.lease import WorkerState
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.reference import RunReference
from foliot.domain.run.run import AttemptRecord, Run, Status
from foliot.domain.schedule.schedule import Pause, Revision, Schedule
from foliot.domain.schedule.tick import PlannedTick, TickRecord
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.output import StepOutput
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.start import StartInput
from foliot.errors import RowUnreadable
from foliot.ports.definitions import WorkflowVersion


class RunFilter(NamedTuple):
    """Which runs to list. None means: any. Newest first; `before` continues a listing after its last id."""

    job_id: JobId | None = None
    schedule_id: ScheduleId | None = None
    status: Status | None = None
    before: RunId | None = None
    limit: int = 100
    root_id: RunId | None = None
    """Runs of this tree, at any depth."""


class Depth(NamedTuple):
    """How many runs are not over, by state, each counted up to a limit."""

    running: int
    """Cancelling ones included."""
    queued: int
    scheduled: int


class LedgerRow(NamedTuple):
    """A row of the ledger as it is shown."""

    record: TickRecord
    key: str | None
    """The idempotency key of the tick; a range has none."""
    decided_at: Instant
    """When the row was written."""
    error: RowUnreadable | None = None
    """Why the row cannot be read; the other fields have what could be read."""


class ScheduleLedger(NamedTuple):
    """A schedule with all that `verify` needs to recompute its ticks."""

    schedule: Schedule
    deleted_at: Instant | None
    revisions: Sequence[Revision]
    pauses: Sequence[Pause]
    planned: Sequence[PlannedTick]


class LogSummary(NamedTuple):
    """How the log of a run begins and ends."""

    starts: Sequence[Token]
    """The starts of the run that printed anything, in order."""
    first: LogChunk | None
    """The first chunk of the start that was asked about."""
    last: LogChunk | None
    """The last chunk of all."""


class Matches(NamedTuple):
    """The runs that a reference names, where that is not exactly one. A few of them, if there are many."""

    run_ids: tuple[RunId, ...]


class FoundRun(NamedTuple):
    """A run, and what was given when it was started."""

    run: Run
    start_input: StartInput


class AwaitedLimit(NamedTuple):
    """A limit on which a run waits for a place."""

    key: str
    capacity: int | None
    """None for the overlap key of a schedule, which no run waits for by its capacity."""
    holders: Sequence[RunId]
    """Runs that have a place, newest first; a few of them, if there are many."""


class Blockers(NamedTuple):
    """What the runs on one page that have not begun may wait for."""

    workers: Sequence[WorkerState]
    jobs: Mapping[JobId, Job]
    """The jobs of these runs as they are defined now, those that can be read."""
    limits: Mapping[RunId, Sequence[AwaitedLimit]]
    """By queued run. A queued run that is not here has all its places."""


class ExecutionDetails(NamedTuple):
    """An execution with its steps."""

    execution: Execution
    run: Run
    start_input: StartInput
    steps: Sequence[StepRecord]
    version: WorkflowVersion | RowUnreadable | None
    """The version that it goes through. None: retention or a deletion has removed it."""
    waiting: Mapping[RunId, Run]
    """The runs of steps that have not begun."""


class RunDetails(NamedTuple):
    """One run, and why it is where it is."""

    run: Run
    start_input: StartInput
    attempts: Sequence[AttemptRecord]
    decision: Decision | None
    """What its gate decided."""
    execution: ExecutionDetails | None
    """What the run is, or what it is a step of."""
    blockers: Blockers
    logs_kept_from: Instant | None
    """Retention has removed chunks of ended runs from before this moment. None: never any, by their age."""


class JobDetails(NamedTuple):
    job: Job
    schedules: Sequence[Schedule]
    runs: Sequence[Run]
    """The newest ones, newest first."""
    latest: Mapping[JobId, Run]
    """The newest run of each job that its gate depends on."""


class JobSummary(NamedTuple):
    job: Job | RowUnreadable
    latest: Run | None
    schedules: Sequence[Schedule]


class ScheduleDetails(NamedTuple):
    schedule: Schedule
    error: RowUnreadable | None
    """Why its row, or a revision of it, cannot be read; then there are no revisions."""
    revisions: Sequence[Revision]
    ticks: Sequence[LedgerRow]
    """The newest rows of its ledger, newest first."""
    runs: Mapping[RunId, Run]
    """The runs of these ticks."""


class WorkflowDetails(NamedTuple):
    """A workflow, with an execution of it: the one that was asked for, or else the newest."""

    newest: WorkflowVersion
    version: WorkflowVersion | None
    """The version that was asked for, or that of the execution that was. None: there is no such version."""
    latest: Run | None
    """The newest run of the workflow, whether or not it has become an execution."""
    asked: Run | Matches | None
    """What the reference names, if one was given."""
    execution: ExecutionDetails | None
    paused: Collection[str]
    """Steps that executions skip."""
    schedules: Sequence[Schedule]
    blockers: Blockers


class WorkflowSummary(NamedTuple):
    version: WorkflowVersion | RowUnreadable
    """The newest one."""
    latest: Run | None
    schedules: Sequence[Schedule]


class ExecutionsPage(NamedTuple):
    executions: Sequence[ExecutionDetails]
    blockers: Blockers


class OverviewLimits(NamedTuple):
    """How much of each kind is read."""

    rows: int
    failures: int
    counted: int
    """Runs that are not over are counted up to this number."""


class OverviewDetails(NamedTuple):
    depth: Depth
    executions: Sequence[Execution]
    """Those that are not over, oldest first."""
    running: Sequence[Run]
    queued: Sequence[Run]
    failures: Sequence[Run]
    """Newest first, as the two before."""
    upcoming: Sequence[Schedule]
    """The schedules that ask for a decision next, in that order."""
    workers: Sequence[WorkerState]


class Queries(Protocol):
    async def named(self, name: str) -> JobDetails | ScheduleDetails | RunDetails | Matches:
        """The job of that name, else the schedule, else the run that `name` refers to."""
        ...

    async def run(self, reference: RunReference) -> RunDetails | Matches: ...

    async def find_run(self, reference: RunReference) -> FoundRun | Matches:
        """The run alone."""
        ...

    async def runs(self, only: RunFilter, *, root: RunReference | None = None) -> list[Run] | Matches:
        """Runs, newest first. `root` limits them to the parts of the run that it names."""
        ...

    async def job(self, job_id: JobId) -> JobDetails | None: ...

    async def jobs(self, *, after: JobId | None = None, limit: int = 100) -> list[JobSummary]:
        """Jobs by id, those after `after`."""
        ...

    async def schedule(self, schedule_id: ScheduleId, *, ticks: int = 10) -> ScheduleDetails | None:
        """A schedule with its newest ticks, so many of them."""
        ...

    async def schedules(
        self, *, job_id: JobId | None = None, after: ScheduleId | None = None, limit: int = 100
    ) -> list[Schedule]:
        """Schedules by id, those after `after`; with `job_id` those that start this job or workflow."""
        ...

    async def workflow(
        self, workflow_id: str, *, version: int | None = None, execution: RunReference | None = None
    ) -> WorkflowDetails | None: ...

    async def workflows(self, *, after: str | None = None, limit: int = 100) -> list[WorkflowSummary]:
        """Workflows by id, those after `after`."""
        ...

    async def execution(self, run_id: RunId) -> ExecutionsPage:
        """The execution of that id, or of which that run is a step; an empty page if there is none."""
        ...

    async def executions(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> ExecutionsPage:
        """Executions that are not over, oldest first."""
        ...

    async def overview(self, limits: OverviewLimits) -> OverviewDetails: ...

    # -- runs by id, and lists that commands and `verify` read in pages
    # A run that cannot be read is returned with its error (`Run.unreadable`) and does not affect the others.

    async def get_runs(self, run_ids: Collection[RunId]) -> dict[RunId, Run]: ...

    async def page_runs(self, only: RunFilter) -> list[Run]: ...

    async def overrides(self, run_id: RunId) -> bytes | None:
        """The options that were given for this run alone, as JSON. Raises `RowUnreadable` if they cannot be read."""
        ...

    async def attempts(self, run_id: RunId) -> list[AttemptRecord]:
        """Every finished attempt, in order, the last one included. The status of an unreadable one says so."""
        ...

    async def get_executions(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        """Those of the executions that exist. An unreadable one has its error, and the rest of its row."""
        ...

    async def active_executions(
        self, *, workflow_id: str | None = None, after: RunId | None = None, limit: int = 100
    ) -> list[Execution]:
        """Executions that are not over, oldest first, those after `after`; as from `get_executions`."""
        ...

    async def step_states(self, run_id: RunId, steps: Collection[str] | None = None) -> dict[str, StepState]:
        """The states of the named steps, or of all."""
        ...

    async def step_outputs(self, run_id: RunId, steps: Collection[str]) -> dict[str, StepOutput]:
        """The outputs of the runs of the named steps."""
        ...

    # -- the ledger

    async def ticks(self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int) -> list[TickRecord]:
        """Ledger rows that touch (after, until], in order: a range that began before `after` and goes on is the first.

        The row that begins at `after` is not among them: to read on, give the first moment of the last row.
        """
        ...

    async def tick_keys(
        self, uid: ScheduleUid, *, after: Instant, until: Instant, limit: int
    ) -> list[tuple[Instant, str]]:
        """The idempotency keys of single moments in (after, until], in order."""
        ...

    async def shared_runs(self, uid: ScheduleUid, *, after: Instant) -> list[RunId]:
        """The runs that more than one ledger row names, of those that begin after `after`."""
        ...

    async def ledgers(
        self, *, after: ScheduleUid | None = None, limit: int = 100, ids: Collection[ScheduleId] | None = None
    ) -> list[ScheduleLedger]:
        """Schedules by uid with revisions, pauses and planned ticks, deleted ones included."""
        ...

    # -- logs and events

    async def read_log(
        self, run_id: RunId, *, after: tuple[Token, int] | None = None, limit: int = 1_000
    ) -> list[LogChunk]:
        """Chunks of all attempts in order, those after (token, seq)."""
        ...

    async def tail_log(self, run_id: RunId, *, limit: int) -> list[LogChunk]:
        """The last chunks, in order."""
        ...

    async def log_summary(self, run_id: RunId, token: Token | None) -> LogSummary:
        """The ends of a run's log, and its starts, in one read. `token` is the start that is asked about."""
        ...

    async def logs_kept_from(self) -> Instant | None:
        """Retention has removed chunks of ended runs from before this moment. None: none has been removed by age."""
        ...

    async def events(self, *, after: int, limit: int) -> list[Event]:
        """Events in order of their numbers; one that commits late is never skipped."""
        ...
