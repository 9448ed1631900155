"""The part of the storage that answers questions of people and programs: pages and lists.

Each verb reads everything that its answer needs in one snapshot, so an answer never shows two states of the database.
No verb changes anything, and none costs more because history grew.

A row that cannot be read is reported in its place: `Run.unreadable`, `Schedule.is_unreadable`, or a `RowUnreadable`
instead of the value. `job` and `workflow` raise `RowUnreadable` if the definition itself cannot be read.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from foliot.domain.gate.decision import Decision
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job
from foliot.domain.run.lease import WorkerState
from foliot.domain.run.reference import RunReference
from foliot.domain.run.run import AttemptRecord, Run
from foliot.domain.schedule.schedule import Revision, Schedule
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.start import StartInput
from foliot.errors import RowUnreadable
from foliot.ports.executions import WorkflowVersion
from foliot.ports.runs import Depth, RunFilter
from foliot.ports.schedules import TickSight


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
    ticks: Sequence[TickSight]
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
