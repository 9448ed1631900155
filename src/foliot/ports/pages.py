"""What the queries port takes and returns: runs, jobs, schedules and workflows, with what is needed to explain them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from foliot.domain.gate.decision import Decision
from foliot.domain.ids import JobId, RunId, ScheduleId, Token
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job
from foliot.domain.run.lease import WorkerState
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.report import LaunchRecord
from foliot.domain.run.run import AttemptRecord, Run, Status
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.schedule import Revision, Schedule
from foliot.domain.tree.run_kind import RunKind
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.start import StartInput
from foliot.errors import RowUnreadable
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.fanouts import FanoutDetails
from foliot.ports.ticks import LedgerRow, TickDetails, TickPage


class RunFilter(NamedTuple):
    """Which runs to list, newest first. None means any. `before` continues a listing after its last id."""

    job_id: JobId | None = None
    schedule_id: ScheduleId | None = None
    status: Status | None = None
    before: RunId | None = None
    limit: int = 100
    root_id: RunId | None = None
    """Runs of this tree, at any depth."""
    parent_id: RunId | None = None
    """Children of this run."""
    roots: bool = False
    """Only runs that are not children of another one. Use it without a job, a root or a parent: only then an
    index leaves out the children, however many there are."""


class RunListFilter(NamedTuple):
    """Further conditions on the runs of a `RunFilter`. They are checked run by run, on a limited number of runs."""

    statuses: Sequence[Status] = ()
    """In place of the status of the filter."""
    since: Instant | None = None
    """Runs that were created then or later."""
    until: Instant | None = None
    """Runs that were created then or earlier."""
    kind: RunKind | None = None
    tag: str | None = None
    """Runs of jobs with this tag."""
    prefix: str = ""
    """The beginning of the id."""


EVERY_RUN: Final = RunListFilter()


class DoubtfulRuns(NamedTuple):
    run_ids: Sequence[RunId]
    before: RunId | None
    """The next call continues before this run. None: there is no other run."""


class LogSummary(NamedTuple):
    """How the log of a run begins and ends."""

    starts: Sequence[Token]
    """The tokens of the starts that have output, in order. An attempt that was given back starts more than once."""
    first: LogChunk | None
    """The first chunk of the given start."""
    last: LogChunk | None
    """The last chunk of the run."""


class Matches(NamedTuple):
    """The runs that match a reference, if that is not exactly one. Only some of them, if there are many."""

    run_ids: tuple[RunId, ...]


class FoundRun(NamedTuple):
    """A run, and the values that it was started with."""

    run: Run
    start_input: StartInput
    launch: LaunchRecord | None = None
    """What the application's executor has reported, if it has the run."""


class AwaitedLimit(NamedTuple):
    """A limit on which a run waits for a place."""

    key: str
    capacity: int | None
    """None for the overlap key of a schedule, which has no capacity."""
    holders: Sequence[RunId]
    """The runs that hold a place, newest first; only some of them, if there are many."""


class Blockers(NamedTuple):
    """What the waiting runs on one page may wait for."""

    workers: Sequence[WorkerState]
    jobs: Mapping[JobId, Job]
    """The current definitions of the jobs of these runs, without unreadable ones."""
    limits: Mapping[RunId, Sequence[AwaitedLimit]]
    """By queued run. A queued run without an entry has all its places."""


class ExecutionDetails(NamedTuple):
    """An execution with its steps."""

    execution: Execution
    run: Run
    start_input: StartInput
    steps: Sequence[StepRecord]
    version: WorkflowVersion | RowUnreadable | None
    """The version that it executes. None: retention or a deletion has removed it."""
    waiting: Mapping[RunId, Run]
    """The runs of steps that have not begun."""


class RunDetails(NamedTuple):
    """One run, with what is needed to explain its state."""

    run: Run
    start_input: StartInput
    attempts: Sequence[AttemptRecord]
    decision: Decision | None
    """The decision of its gate."""
    execution: ExecutionDetails | None
    """The execution that the run is, or is a step of."""
    blockers: Blockers
    logs_kept_from: Instant | None
    """Retention has removed the chunks of ended runs before this time. None: it has removed none by age."""
    launch: LaunchRecord | None = None
    """What the application's executor has reported, if it has the run."""
    fanout: FanoutDetails | None = None
    """The fanout that the run is, if it was opened."""


class Explained(NamedTuple):
    """A run, or a planned time and its run, if there is one."""

    run: RunDetails | None
    tick: TickDetails | None


class JobDetails(NamedTuple):
    job: Job
    schedules: Sequence[Schedule]
    runs: Sequence[Run]
    """The newest runs, newest first."""
    latest: Mapping[JobId, Run]
    """The newest run of each job that its gate depends on."""
    ticks: TickPage
    """The newest ticks of its schedules."""
    project_pause: ProjectPause | None
    """The project pause that was changed last, in force or not."""


class JobSummary(NamedTuple):
    job: Job | RowUnreadable
    latest: Run | None
    schedules: Sequence[Schedule]
    project_pause: ProjectPause | None
    """The project pause that was changed last, in force or not."""


class ScheduleDetails(NamedTuple):
    schedule: Schedule
    error: RowUnreadable | None
    """Why its row, or a revision of it, cannot be read; then there are no revisions."""
    revisions: Sequence[Revision]
    ticks: Sequence[LedgerRow]
    """The newest rows of its ledger, newest first."""
    runs: Mapping[RunId, Run]
    """The runs of these ticks."""
    project_pause: ProjectPause | None
    """The project pause that was changed last, in force or not."""


class WorkflowDetails(NamedTuple):
    """A workflow, with one of its executions: the requested one, else the newest."""

    newest: WorkflowVersion
    version: WorkflowVersion | None
    """The requested version, or that of the requested execution. None: it does not exist."""
    latest: Run | None
    """The newest run of the workflow, whether or not it has become an execution."""
    asked: Run | Matches | None
    """The run or runs that match the reference, if one was given."""
    execution: ExecutionDetails | None
    paused: Collection[str]
    """Steps that executions skip."""
    schedules: Sequence[Schedule]
    blockers: Blockers


class WorkflowSummary(NamedTuple):
    version: WorkflowVersion | RowUnreadable
    """The newest version."""
    latest: Run | None
    schedules: Sequence[Schedule]
    project_pause: ProjectPause | None
    """The project pause that was changed last, in force or not."""


class ScheduleList(NamedTuple):
    schedules: Sequence[Schedule]
    project_pause: ProjectPause | None
    """The project pause that was changed last, in force or not."""


class ExecutionsPage(NamedTuple):
    executions: Sequence[ExecutionDetails]
    blockers: Blockers


class RunTimes(NamedTuple):
    """The times of a run, without its documents."""

    scheduled_for: Instant | None
    """The planned time of its tick. None: it has no tick."""
    started_at: Instant | None
    """The start of the last attempt that has ended. None: none has."""
    finished_at: Instant | None
    reason: str | None
